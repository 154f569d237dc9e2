//! Changes of links. Whoever may answer questions may make them; for everybody else a change
//! becomes a question to those who may.

use callgate_wire::approval::{ApprovalRequest, Decision, RequestContext, RequestId, RequestKind};
use callgate_wire::ledger::{ClosedHow, CodeMade, LedgerEvent};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::digest::CallDigest;
use super::links::LinkKey;
use super::question::Ruling;
use super::{AskerId, Desk, DeskOutput, DeskStep, record};
use crate::channel::{Person, PersonPlace, ReplyTo};

#[derive(Debug)]
pub(super) struct WantedChange {
    change: LinkChange,
    reply_to: ReplyTo,
}

#[derive(Debug)]
pub(super) struct WantedCode {
    pub(super) code: String,
    pub(super) is_for_page: bool,
    /// The member of the team whom it links; `None` for the owner of the desk.
    pub(super) member: Option<String>,
}

#[derive(Debug)]
enum LinkChange {
    /// Accept this code for a new link.
    NewCode(WantedCode),
    Unlink(LinkKey),
}

const BECAUSE: &str = "Whoever is linked answers your agents' questions. If you did not run \
    `callgate pair` or `callgate open`, deny this: an agent may be trying to open its own gate.";

impl Desk {
    #[allow(clippy::too_many_arguments, reason = "all of it comes with the input")]
    pub(super) fn new_code(
        &mut self,
        step: &mut DeskStep,
        code: WantedCode,
        id: &RequestId,
        who: &Person,
        is_first: bool,
        reply_to: ReplyTo,
    ) {
        // Whoever may answer according to the settings can be asked.
        let is_fresh = is_first && self.given.chats.is_empty();
        if is_fresh || self.authority.allows(who) {
            return self.make_code(step, &code, &reply_to);
        }
        let text = format!(
            "A program on this machine{} asks for a code by which one more phone, person or \
             viewer can be linked. Allow it?",
            process_of(who)
        );
        self.ask_for(step, id, &text, WantedChange { change: LinkChange::NewCode(code), reply_to });
    }

    pub(super) fn unpair(
        &mut self,
        step: &mut DeskStep,
        link: &str,
        id: &RequestId,
        who: &Person,
        reply_to: ReplyTo,
    ) {
        let known = |link: &LinkKey| self.links.contains_key(&link.to_string());
        let Some(link) = LinkKey::parse(link).filter(known) else {
            return step.reply(&reply_to, false, "There is no such link.");
        };
        // First, because a member who may answer would be allowed below, whosever link it is.
        if who.member.is_some()
            && self.roster.person_of_link(&link.to_string()) != who.member.as_deref()
        {
            let text = "Only the owner of this desk can remove the links of others.";
            return step.reply(&reply_to, false, text);
        }
        if self.authority.allows(who) {
            return self.unlink(step, &link, &record::shown_name(&who.name), &reply_to);
        }
        let text = format!(
            "A program on this machine{} asks to unlink {}. Allow it?",
            process_of(who),
            self.link_description(&link)
        );
        self.ask_for(step, id, &text, WantedChange { change: LinkChange::Unlink(link), reply_to });
    }

    /// Asks those who may answer to allow a change.
    fn ask_for(&mut self, step: &mut DeskStep, id: &RequestId, text: &str, wanted: WantedChange) {
        let reply_to = wanted.reply_to.clone();
        // Before the question is asked: if nobody can be reached it is decided at once, and that
        // looks for the change.
        self.changes.insert(id.clone(), wanted);
        self.ask_own(step, id, text, BECAUSE, true);
        // It may be over already: if nobody can be reached, nobody is waited for.
        if let (true, ReplyTo::Viewer { viewer, id }) = (self.changes.contains_key(id), reply_to) {
            let text = "Somebody who is linked has to allow this: on their phone, in a viewer, or \
                        in the terminal of `callgate up`.";
            let (text, within) = (text.to_owned(), self.settings.timeout);
            step.outputs.push(DeskOutput::Waiting { viewer, id, text, within });
        }
    }

    /// Asks a question of callgate's own.
    pub(super) fn ask_own(
        &mut self,
        step: &mut DeskStep,
        id: &RequestId,
        text: &str,
        because: &str,
        is_guarded: bool,
    ) {
        let request = own_question(id, text);
        let digest = CallDigest::of_request(&self.settings.key, &request);
        let ruling = Ruling::Ask { because: Some(because.to_owned()), is_guarded };
        self.own_questions += 1;
        // It has no connection. The numbers of connections begin at the other end.
        let asker = AskerId(u64::MAX - self.own_questions);
        self.register(step, asker, request, digest, ruling, None);
    }

    /// Makes a change that was allowed, or says why not, and closes its question.
    pub(super) fn settle_change(&mut self, step: &mut DeskStep, id: &RequestId) {
        let Some(decided) = self.open.get(id).and_then(|open| open.decided.clone()) else { return };
        let Some(WantedChange { change, reply_to }) = self.changes.remove(id) else { return };
        match (decided.decision, change) {
            (Decision::Allow, LinkChange::NewCode(code)) => self.make_code(step, &code, &reply_to),
            (Decision::Allow, LinkChange::Unlink(link)) => {
                self.unlink(step, &link, &decided.by, &reply_to);
            }
            (Decision::Deny, _) => {
                step.reply(&reply_to, false, &format!("{} did not allow it.", decided.by));
            }
            _ => {
                let text = "Nobody who may allow this has answered. Start `callgate up` in a \
                            terminal, or have a linked phone at hand, and try again.";
                step.reply(&reply_to, false, text);
            }
        }
        self.close_question(step, id, ClosedHow::Answered);
    }

    /// Drops a change whose question was closed without a decision.
    pub(super) fn drop_change(&mut self, step: &mut DeskStep, id: &RequestId) {
        if let Some(WantedChange { reply_to, .. }) = self.changes.remove(id) {
            step.reply(&reply_to, false, "The question was closed before anybody answered it.");
        }
    }

    /// Drops all changes: nothing can be recorded.
    pub(super) fn drop_all_changes(&mut self, step: &mut DeskStep) {
        for (_, WantedChange { reply_to, .. }) in std::mem::take(&mut self.changes) {
            let text = "The ledger cannot be written, so this was not decided.";
            step.reply(&reply_to, false, text);
        }
    }

    /// Returns true if a person is asked about the removal of their own link. Their no does not
    /// count: whoever found a lost phone would stay linked.
    pub(super) fn is_own_removal(&self, id: &RequestId, who: &Person) -> bool {
        let Some(WantedChange { change: LinkChange::Unlink(link), .. }) = self.changes.get(id)
        else {
            return false;
        };
        match (link, who.place) {
            (LinkKey::Chat(id), PersonPlace::Telegram { chat, .. }) => *id == chat,
            (LinkKey::User(id), PersonPlace::Telegram { user, .. }) => *id == user,
            // A page may keep its own link. Whoever has no other place could otherwise not deny at
            // once that a program takes the page away.
            _ => false,
        }
    }

    /// Drops the changes and registered values of a viewer that has disconnected.
    pub(super) fn viewer_left(&mut self, step: &mut DeskStep, viewer: u64) {
        self.gates.forget_viewer(viewer);
        let is_of = |wanted: &WantedChange| matches!(wanted.reply_to, ReplyTo::Viewer { viewer: other, .. } if other == viewer);
        let mut left: Vec<RequestId> = self
            .changes
            .iter()
            .filter(|(_, wanted)| is_of(wanted))
            .map(|(id, _)| id.clone())
            .collect();
        // A map has no order of its own, and the ledger gets these one after the other.
        left.sort_unstable();
        for id in left {
            // Before the question is closed, which would otherwise reply to a viewer that has gone.
            self.changes.remove(&id);
            self.close_question(step, &id, ClosedHow::Gone);
        }
    }

    /// Accepts a code. The code itself is not recorded, because every process of the user can read
    /// the ledger.
    fn make_code(&mut self, step: &mut DeskStep, wanted: &WantedCode, reply_to: &ReplyTo) {
        let WantedCode { code, is_for_page, member } = wanted;
        let lifetime = self.codes.add(step.now, code, *is_for_page, member.clone());
        step.record_event(None, &LedgerEvent::Code(CodeMade { seconds: lifetime.as_secs() }));
        step.reply(reply_to, true, "The code can be used.");
    }
}

fn process_of(who: &Person) -> String {
    match who.place {
        PersonPlace::Viewer { process: Some(process), .. } => format!(" (process {process})"),
        _ => String::new(),
    }
}

fn own_question(id: &RequestId, text: &str) -> ApprovalRequest {
    ApprovalRequest {
        request_id: id.clone(),
        tool_name: "Ask".to_owned(),
        tool_input: to_raw_value(&json!({ "question": text })).unwrap_or_default(),
        cwd: "this machine".to_owned(),
        session_id: String::new(),
        permission_suggestions: Vec::new(),
        kind: RequestKind::Ask,
        agent: Some("callgate".to_owned()),
        context: Some(RequestContext { takes: Some(Vec::new()), ..RequestContext::default() }),
        machine: None,
    }
}
