//! The approval protocol: how an agent's hook asks the desk before the agent acts.
//!
//! One connection carries one [`ApprovalRequest`] line, perhaps [`LateWords`], and one
//! [`ApprovalResponse`] line; the normative text is `docs/protocol/approval.md`. Tool inputs and
//! the permissions that the agent suggests are only relayed, so their bytes stay unchanged. The
//! buttons on a phone carry a [`Callback`].

mod context;
mod demands;
mod first_allow;
mod late_words;
mod machine;
mod press;
mod relayed_answer;
mod request_id;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::fields::{members_of, one_line, optional_field, optional_object, required_json_object};
use crate::raw::Members;

pub use crate::fields::Malformed;
pub use context::{AnswerExtra, Prompter, RequestContext, RequestKind};
pub use demands::{AllowDemand, AllowDemands};
pub use first_allow::FirstAllow;
pub use late_words::{LateWords, MAX_WORDS_LINE};
pub use machine::AskerMachine;
pub use press::{Action, Callback, MAX_CALLBACK, Press};
pub use relayed_answer::RelayedAnswer;
pub use request_id::RequestId;

/// The socket of the first contract. The desk serves it beside its own where it is free.
pub const LEGACY_SOCKET: &str = "/tmp/vibe-reachout.sock";

/// The longest line, without its newline, that either side may send.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// The longest name or id in a request, such as those of its tool and its session, in bytes.
pub const LONGEST_NAME: usize = 1024;

/// The longest path of a folder in a request, in bytes.
pub const LONGEST_PATH: usize = 4096;

/// The longest text for people in a request, in bytes. The rest of a longer one is left out.
pub const LONGEST_TEXT: usize = 64 * 1024;

/// The most bytes that the suggestions of a request may have together. Of more none is offered.
pub const MOST_SUGGESTED: usize = 256 * 1024;

message_structs! {
    /// A question whether a tool may run, or a report that gets no answer (see [`RequestKind`]).
    pub struct ApprovalRequest {
        /// The id of the question; the answer repeats it.
        request_id: RequestId = RequestId::from_member,
        tool_name: String = "a string",
        /// The arguments of the tool, a JSON object, unchanged.
        tool_input: Box<RawValue> = required_json_object,
        cwd: String = "a string",
        session_id: String = "a string",
        /// The permissions that the agent suggests for "always", each unchanged.
        permission_suggestions optional: Vec<Box<RawValue>> = "an array",
        kind optional: RequestKind = "ask, settle, notify or check",
        /// Which agent asks, such as `claude-code` or `codex`.
        agent optional: Option<String> = "a string",
        context optional: Option<RequestContext> = RequestContext::from_member,
        /// The machine on which the agent runs, if it is another one. Only a desk sets it: whatever
        /// an asker sends is ignored.
        machine optional: Option<AskerMachine> = "an object with name",
    }

    pub struct ApprovalResponse {
        request_id: RequestId = RequestId::from_member,
        decision: Decision = "allow, deny, timeout, ask or none",
        /// Why, in words for the agent; used with [`Decision::Deny`] and [`Decision::Ask`].
        message: Option<String> = nullable_text,
        /// The suggestion to apply from now on, unchanged; used with [`Decision::Allow`].
        always_allow_suggestion: Option<Box<RawValue>> = optional_object,
        /// All suggestions of the chosen "always", each unchanged; used with [`Decision::Allow`].
        updated_permissions optional: Vec<Box<RawValue>> = "an array",
        /// The input to run the tool with instead; used with [`Decision::Allow`].
        updated_input optional: Option<Box<RawValue>> = required_json_object,
        /// Whether the agent's turn ends; used with [`Decision::Deny`].
        interrupt optional: bool = "true or false",
        /// Who or what decided, in words; used with [`Decision::Allow`] and [`Decision::Deny`].
        by optional: Option<String> = "a string",
        /// Whether there was nobody who could be shown the question; used with
        /// [`Decision::Timeout`].
        unreachable optional: bool = "true or false",
        /// The answer as the person gave it, for the desk of the machine that asks; only if the
        /// request has a machine. It is boxed, because few responses have it.
        relayed optional: Option<Box<RelayedAnswer>> = "an object with decision and by",
    }
}

words! {
    pub enum Decision {
        Allow "allow",
        Deny "deny",
        /// Nobody decided: the agent asks in its own way.
        Timeout "timeout",
        /// A person has to decide, and the agent asks them; answers [`RequestKind::Check`] only.
        Ask "ask",
        /// No rule decides: the agent continues as if nobody had been asked; answers
        /// [`RequestKind::Check`] only.
        None "none",
    }
}

impl ApprovalRequest {
    /// Returns the agent's name of the event that led to this request, if it is known.
    pub fn event(&self) -> Option<&str> {
        self.context.as_ref()?.event.as_deref()
    }

    pub fn mode(&self) -> Option<&str> {
        self.context.as_ref()?.mode.as_deref()
    }

    /// Returns true if the agent's last words may follow the request.
    pub fn words_follow(&self) -> bool {
        self.context.as_ref().is_some_and(|context| context.words_follow == Some(true))
    }

    /// Returns true if an answer to this request may carry `extra`.
    pub fn takes(&self, extra: AnswerExtra) -> bool {
        let takes = self.context.as_ref().and_then(|context| context.takes.as_ref());
        // An asker of the first contract does not say what it takes: a suggestion and nothing else.
        takes.map_or(extra == AnswerExtra::Always, |takes| takes.contains(&extra))
    }

    /// Reads a request from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        let mut members = members_of(line)?;
        // An asker that could name a machine would count as judged by the rules there.
        members.0.retain(|(name, _)| name != "machine");
        let mut request = Self::from_members(&members)?;
        request.check_lengths()?;
        Ok(request)
    }

    /// Like [`decode`](Self::decode), for a request that a desk has recorded: it may name a
    /// machine, and masking may have made its texts longer.
    pub fn decode_recorded(line: &[u8]) -> Result<Self, Malformed> {
        Self::from_members(&members_of(line)?)
    }

    /// Refuses names and paths that are too long, and leaves out what is too much for people: all
    /// of it is recorded, and an entry has a limit.
    fn check_lengths(&mut self) -> Result<(), Malformed> {
        let Self { tool_name, cwd, session_id, permission_suggestions, agent, context, .. } = self;
        check_length("tool_name", Some(tool_name), LONGEST_NAME)?;
        check_length("cwd", Some(cwd), LONGEST_PATH)?;
        check_length("session_id", Some(session_id), LONGEST_NAME)?;
        check_length("agent", agent.as_ref(), LONGEST_NAME)?;
        if permission_suggestions.iter().map(|it| it.get().len()).sum::<usize>() > MOST_SUGGESTED {
            // None is kept, because a part of what the agent suggests would grant something else.
            permission_suggestions.clear();
        }
        context.as_mut().map_or(Ok(()), RequestContext::check_lengths)
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl ApprovalResponse {
    /// Creates a response with a decision and nothing else.
    pub fn new(request_id: RequestId, decision: Decision) -> Self {
        Self {
            request_id,
            decision,
            message: None,
            always_allow_suggestion: None,
            updated_permissions: Vec::new(),
            updated_input: None,
            interrupt: false,
            by: None,
            unreachable: false,
            relayed: None,
        }
    }

    /// Reads a response from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        Self::from_members(&members_of(line)?)
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

/// Reads a text that may be left out, and is `null` where it has no value.
fn nullable_text(members: &Members, name: &'static str) -> Result<Option<String>, Malformed> {
    optional_field(members, name, "a string")
}

fn check_length(field: &'static str, text: Option<&String>, limit: usize) -> Result<(), Malformed> {
    let expected = match limit {
        LONGEST_PATH => "a string of at most 4096 bytes",
        _ => "a string of at most 1024 bytes",
    };
    let is_short = text.is_none_or(|text| text.len() <= limit);
    if is_short { Ok(()) } else { Err(Malformed::wrong_field(field, expected)) }
}
