//! Changes of who is linked. Whoever may answer questions may make them; for everybody else they are
//! questions, which somebody who is linked or sits at the desk's own terminal allows or does not.

use callgate_wire::approval::{Context, Decision, Kind, Request, RequestId};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::answer::tell;
use super::digest::Digest;
use super::links::Link;
use super::question::Ruling;
use super::{AskerId, CODE_LIFETIME, Desk, Output, Step, record};
use crate::channel::{Doing, Place, Who};

/// What somebody wants changed, and by what to tell them what came of it.
#[derive(Debug)]
pub(super) struct Wanted {
    change: Change,
    doing: Doing,
}

/// A change of who is linked.
#[derive(Debug)]
enum Change {
    /// This code can be used to link somebody.
    NewCode(String),
    /// Somebody is linked no longer.
    Unlink(Link),
}

const BECAUSE: &str = "Whoever is linked answers your agents' questions. If you did not run \
    `callgate pair`, deny this: an agent may be trying to open its own gate.";

impl Desk {
    #[allow(clippy::too_many_arguments, reason = "all of it comes with the input")]
    pub(super) fn new_code(
        &mut self,
        step: &mut Step,
        code: String,
        id: &RequestId,
        who: &Who,
        is_first: bool,
        doing: Doing,
    ) {
        // Who may answer by the settings is somebody to ask.
        let is_fresh = is_first && self.given.chats.is_empty();
        if is_fresh || self.authority.allows(who) {
            return self.make_code(step, &code, &doing);
        }
        let text = format!(
            "A program on this machine{} asks for a code by which one more phone, person or \
             viewer can be linked. Allow it?",
            process_of(who)
        );
        self.ask_for(step, id, &text, Wanted { change: Change::NewCode(code), doing });
    }

    pub(super) fn unpair(
        &mut self,
        step: &mut Step,
        link: &str,
        id: &RequestId,
        who: &Who,
        doing: Doing,
    ) {
        let known = |link: &Link| self.links.contains_key(&link.to_string());
        let Some(link) = Link::parse(link).filter(known) else {
            return tell(step, Some(&doing), false, "There is no such link.");
        };
        if self.authority.allows(who) {
            return self.unlink(step, &link, &record::shown(&who.name), &doing);
        }
        let text = format!(
            "A program on this machine{} asks to unlink {}. Allow it?",
            process_of(who),
            self.described(&link)
        );
        self.ask_for(step, id, &text, Wanted { change: Change::Unlink(link), doing });
    }

    /// Puts a change to whoever may allow it.
    fn ask_for(&mut self, step: &mut Step, id: &RequestId, text: &str, wanted: Wanted) {
        let Some(request) = question(id, text) else {
            return tell(step, Some(&wanted.doing), false, "This cannot be asked.");
        };
        let doing = wanted.doing.clone();
        self.changes.insert(id.clone(), wanted);
        let digest = Digest::of(&self.settings.key, &request);
        let ruling = Ruling::Ask { because: Some(BECAUSE.to_owned()), is_guarded: true };
        // Numbers of askers begin at the other end.
        self.change_count += 1;
        let asker = AskerId(u64::MAX - self.change_count);
        self.register(step, asker, request, digest, ruling, None);
        if let (true, Doing::Viewer { viewer, id }) = (self.changes.contains_key(id), doing) {
            let text = "Somebody who is linked has to allow this: on their phone, in a viewer, or \
                        in the terminal of `callgate up`.";
            let (text, within) = (text.to_owned(), self.settings.timeout);
            step.outputs.push(Output::Waiting { viewer, id, text, within });
        }
    }

    /// Whether this question asks for a change of who is linked.
    pub(super) fn is_about_links(&self, id: &RequestId) -> bool {
        self.changes.contains_key(id)
    }

    /// Does what was asked for, or tells why not. The question is over then.
    pub(super) fn settle_change(&mut self, step: &mut Step, id: &RequestId) {
        let Some(decided) = self.open.get(id).and_then(|open| open.decided.clone()) else { return };
        let Some(Wanted { change, doing }) = self.changes.remove(id) else { return };
        match (decided.decision, change) {
            (Decision::Allow, Change::NewCode(code)) => self.make_code(step, &code, &doing),
            (Decision::Allow, Change::Unlink(link)) => {
                self.unlink(step, &link, &decided.by, &doing);
            }
            (Decision::Deny, _) => {
                tell(step, Some(&doing), false, &format!("{} did not allow it.", decided.by));
            }
            _ => {
                let text = "Nobody who may allow this has answered. Start `callgate up` in a \
                            terminal, or have a linked phone at hand, and try again.";
                tell(step, Some(&doing), false, text);
            }
        }
        self.close(step, id, "answered");
    }

    /// The question is over without a decision.
    pub(super) fn drop_change(&mut self, step: &mut Step, id: &RequestId) {
        if let Some(Wanted { doing, .. }) = self.changes.remove(id) {
            tell(step, Some(&doing), false, "The question was closed before anybody answered it.");
        }
    }

    /// Nothing can be recorded, so nothing is changed.
    pub(super) fn drop_all_changes(&mut self, step: &mut Step) {
        for (_, Wanted { doing, .. }) in std::mem::take(&mut self.changes) {
            let text = "The ledger cannot be written, so this was not decided.";
            tell(step, Some(&doing), false, text);
        }
    }

    /// Whether somebody is asked to take back their own link: their no would keep whoever holds a
    /// lost phone linked.
    pub(super) fn is_own_removal(&self, id: &RequestId, who: &Who) -> bool {
        let Some(Wanted { change: Change::Unlink(link), .. }) = self.changes.get(id) else {
            return false;
        };
        match (link, who.place) {
            (Link::Chat(id), Place::Telegram { chat, .. }) => *id == chat,
            (Link::User(id), Place::Telegram { user, .. }) => *id == user,
            _ => false,
        }
    }

    /// A viewer has gone: nobody waits for the changes that it wanted, and no host stands behind
    /// the values that it registered.
    pub(super) fn viewer_left(&mut self, step: &mut Step, viewer: u64) {
        self.gates.forget(viewer);
        let is_of = |wanted: &Wanted| matches!(wanted.doing, Doing::Viewer { viewer: other, .. } if other == viewer);
        let mut left: Vec<RequestId> = self
            .changes
            .iter()
            .filter(|(_, wanted)| is_of(wanted))
            .map(|(id, _)| id.clone())
            .collect();
        left.sort_unstable();
        for id in left {
            self.changes.remove(&id);
            self.close(step, &id, "gone");
        }
    }

    /// Takes a code. The code itself is written nowhere.
    fn make_code(&mut self, step: &mut Step, code: &str, doing: &Doing) {
        self.codes.add(step.now, code);
        step.note("code", None, &json!({ "seconds": CODE_LIFETIME.as_secs() }));
        tell(step, Some(doing), true, "The code can be used.");
    }
}

fn process_of(who: &Who) -> String {
    match who.place {
        Place::Viewer { process: Some(process), .. } => format!(" (process {process})"),
        _ => String::new(),
    }
}

/// A question of callgate's own.
fn question(id: &RequestId, text: &str) -> Option<Request> {
    Some(Request {
        request_id: id.clone(),
        tool_name: "Ask".to_owned(),
        tool_input: to_raw_value(&json!({ "question": text })).ok()?,
        cwd: "this machine".to_owned(),
        session_id: String::new(),
        permission_suggestions: Vec::new(),
        kind: Kind::Ask,
        agent: Some("callgate".to_owned()),
        context: Some(Context { takes: Some(Vec::new()), ..Context::default() }),
    })
}
