//! What the ledger records: the kinds of entries, one writer and one reader for their bodies.
//!
//! The reader takes whatever was ever written. It keeps kinds and members that this version does
//! not know, so that writing an entry again loses nothing.

#[macro_use]
mod declare;
mod event;
mod team;
mod team_member;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::approval::Decision;
use crate::hex::hex_digits;
use crate::raw::Json;

pub use declare::LedgerMember;
pub use event::{
    AgentCall, AgentSaid, AnswerChannel, ClosedHow, CodeMade, DeskStarted, EntriesPruned,
    HostGated, LedgerEvent, LedgerKind, LedgerRuling, LinkRemoved, MemberInvited, MemberJoined,
    MemberMirrored, MemberRevoked, NoMembers, PersonPress, PressOutcome, QuestionAsked,
    QuestionClosed, QuestionDecided, QuestionRefused, QuestionUnsent, RulesSaved, RuntimeCall,
    ViewerPaired,
};
pub use team::TeamRoster;
pub use team_member::{MemberKind, OpenInvitation, SharedMember, TeamMember};

impl LedgerRuling {
    /// Returns true if a person decides, since no rule does.
    pub fn is_for_people(self) -> bool {
        !matches!(self, Self::Allow | Self::Deny)
    }
}

/// The request in a question's entry. Members that it does not have are empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RecordedRequest {
    pub tool_name: String,
    pub tool_input: Option<Box<RawValue>>,
    pub cwd: String,
    pub session_id: String,
    pub agent: Option<String>,
    pub context: Option<Box<RawValue>>,
}

impl RecordedRequest {
    /// Returns what the agent said last, if it came with the question.
    pub fn last_words(&self) -> Option<String> {
        let context = Json::from(&**self.context.as_ref()?);
        context.members().string("last_words").map(Into::into)
    }
}

impl LedgerEvent {
    /// Returns what was decided, and the name of whoever decided or did it; no name if the entry
    /// has none.
    pub fn decision_and_author(&self) -> (Option<Decision>, &str) {
        match self {
            Self::Decided(decided) => (decided.decision, &decided.by),
            Self::Checked(call) => (call.decision, call.by.as_deref().unwrap_or_default()),
            Self::Pressed(press) | Self::ChatPaired(press) => (None, &press.by),
            Self::ViewerPaired(paired) => (None, &paired.by),
            Self::Unpaired(removed) => (None, &removed.by),
            Self::Invited(invited) => (None, &invited.by),
            Self::Revoked(revoked) => (None, &revoked.by),
            Self::Mirrored(mirrored) => (None, &mirrored.by),
            _ => (None, ""),
        }
    }
}

impl QuestionAsked {
    /// Returns the request; an empty one if it was damaged.
    pub fn recorded_request(&self) -> RecordedRequest {
        let request = self.request.as_ref().map(|request| serde_json::from_str(request.get()));
        request.and_then(Result::ok).unwrap_or_default()
    }
}

impl LedgerEvent {
    /// Returns what the entry says about a call, if it is about one.
    pub fn into_call(self) -> Option<AgentCall> {
        let rest = AgentCall::default();
        Some(match self {
            Self::Checked(call) | Self::Ran(call) => call,
            Self::Asked(asked) => {
                let input = asked.recorded_request().tool_input;
                let QuestionAsked { tool, summary, cwd, session, agent, mode, .. } = asked;
                AgentCall { tool, summary, session, cwd, agent, mode, input, ..rest }
            }
            Self::Running(call) | Self::RuntimeRan(call) | Self::RuntimeRefused(call) => {
                let RuntimeCall { tool, summary, cwd, session, agent, ok, because, .. } = call;
                AgentCall { tool, summary, session, cwd, agent, by: Some(because), ok, ..rest }
            }
            Self::Saved(RulesSaved { tool, summary, by, .. }) => {
                AgentCall { tool, summary, by: Some(by), ..rest }
            }
            _ => return None,
        })
    }
}

/// The links recorded in the chain: by entries of the kinds `paired`, `unpaired`, `revoked` and
/// `mirrored`, and by the anchor of entries that were pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainedLinks {
    /// The valid links (`chat/ID`, `user/ID`, `viewer/HASH` or `remote/HOST`), each with the name
    /// under which it was made.
    pub standing: BTreeMap<String, String>,
    /// Whether there has ever been a link. Only the very first one is made without a question, so
    /// it is not made so again after all links were removed.
    pub had_any: bool,
    /// The members of the team whose desk this is.
    #[serde(default, skip_serializing_if = "TeamRoster::is_empty")]
    pub team: TeamRoster,
}

/// The beginning of a link that names a machine whose questions are answered here.
pub const REMOTE_LINK: &str = "remote/";
/// The beginning of a link that names a viewer; [`viewer_identity`] is the rest.
pub const VIEWER_LINK: &str = "viewer/";

/// Returns how the desk knows a viewer: by the SHA-256 hash of its token and, if a page holds the
/// token, by the page's origin. The same token from another origin is unknown.
pub fn viewer_identity(token_hash: &[u8], origin: Option<&str>) -> String {
    let hash = hex_digits(token_hash);
    match origin {
        Some(origin) => format!("{hash}@{origin}"),
        None => hash,
    }
}

impl ChainedLinks {
    /// Returns the machines whose questions are answered here, by the names that ssh knows.
    pub fn remotes(&self) -> impl Iterator<Item = &str> {
        self.standing.keys().filter_map(|link| link.strip_prefix(REMOTE_LINK))
    }

    /// Returns true if the questions of a machine of this name are answered here: it was added as a
    /// remote, or belongs to the team.
    pub fn has_machine(&self, name: &str) -> bool {
        self.team.members.contains_key(name) || self.remotes().any(|remote| remote == name)
    }

    /// Applies an entry that makes or removes links or members.
    pub fn apply_event(&mut self, event: &LedgerEvent) {
        let (made, name, person) = match event {
            LedgerEvent::ChatPaired(paired) => (paired.made_links(), &paired.by, &paired.person),
            LedgerEvent::ViewerPaired(paired) => (paired.links.clone(), &paired.by, &paired.person),
            LedgerEvent::Unpaired(removed) => {
                self.standing.remove(&removed.link);
                self.team.forget_link(&removed.link);
                return;
            }
            LedgerEvent::Mirrored(mirrored) => {
                return self.set_shared_member(&mirrored.name, mirrored.member.as_ref());
            }
            other => {
                for link in self.team.apply_event(other) {
                    self.standing.remove(&link);
                }
                return;
            }
        };
        // Whoever was revoked while a page of theirs was being linked has no page.
        let is_person = |name: &String| {
            self.team.members.get(name).is_some_and(|member| member.kind == MemberKind::Person)
        };
        if !person.as_ref().is_none_or(is_person) {
            return;
        }
        let made: Vec<String> = made.into_iter().flatten().collect();
        // A remote machine asks and does not answer, so its link is not the first one. An entry
        // without readable links counts as one: otherwise the next link would be made without a
        // question.
        self.had_any |= made.is_empty() || made.iter().any(|link| !link.starts_with(REMOTE_LINK));
        for link in made {
            self.team.note_link(&link, person.as_deref());
            self.standing.insert(link, name.clone());
        }
    }

    /// Returns a member with the links that all desks of the team know.
    pub fn shared_member(&self, name: &str) -> Option<SharedMember> {
        let member = self.team.members.get(name)?.clone();
        let of_member = self.team.people.iter().filter(|(_, person)| *person == name);
        let shared = of_member.map(|(link, _)| link).filter(|link| is_shared_link(link));
        let named = shared.filter_map(|link| self.standing.get_key_value(link));
        let links = named.map(|(link, page)| (link.clone(), page.clone())).collect();
        Some(SharedMember { member, links })
    }

    /// Makes a member what the team's database has, or removes it. The links that a person has at
    /// this desk alone end only with the member.
    pub fn set_shared_member(&mut self, name: &str, shared: Option<&SharedMember>) {
        let kept = |link: &str| {
            shared.is_some_and(|it| !is_shared_link(link) || it.links.contains_key(link))
        };
        let is_gone = |link: &String, person: &mut String| person == name && !kept(link);
        for (link, _) in self.team.people.extract_if(.., is_gone) {
            self.standing.remove(&link);
        }
        let Some(SharedMember { member, links }) = shared else {
            self.team.members.remove(name);
            return;
        };
        self.team.members.insert(name.to_owned(), member.clone());
        self.had_any |= !links.is_empty();
        for (link, page) in links {
            self.team.note_link(link, Some(name));
            self.standing.insert(link.clone(), page.clone());
        }
    }
}

/// Returns true for the link of a page at the address of the team, which all its desks serve.
/// Phones and pages on loopback are linked to one desk.
pub fn is_shared_link(link: &str) -> bool {
    let origin = link.split_once('@').map(|(_, origin)| origin);
    origin.is_some_and(|origin| origin.starts_with("https://"))
}

impl PersonPress {
    /// Returns the links that were made. Early entries do not name them; they follow from the chat
    /// and the user.
    fn made_links(&self) -> Option<Vec<String>> {
        self.links.clone().or_else(|| match (self.chat?, self.user?) {
            (chat, user) if chat == user => Some(vec![format!("chat/{chat}")]),
            (chat, user) => Some(vec![format!("chat/{chat}"), format!("user/{user}")]),
        })
    }
}

#[cfg(test)]
mod tests;
