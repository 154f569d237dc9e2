//! What a hook says, in no agent's form, and the pieces of which the agents' forms are made.

use serde_json::value::RawValue;

use super::AgentHookEvent;
use crate::approval::ApprovalRequest;
use crate::raw::{flatten_json, json_string};

#[derive(Debug, Clone)]
pub enum HookAnswer<'a> {
    /// It may run.
    Allow {
        asked: &'a ApprovalRequest,
        /// The input to run it with instead.
        input: Option<&'a RawValue>,
        /// The permissions to grant from now on.
        permissions: Vec<&'a RawValue>,
    },
    /// It may not run.
    Deny {
        /// Why, in words for the model.
        reason: &'a str,
        /// Whether the turn ends.
        interrupt: bool,
    },
    /// The agent asks its user.
    Ask {
        /// Why, in words for the user.
        reason: &'a str,
    },
    /// Nobody decides: the agent goes on as without a hook.
    NoDecision,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookReply {
    /// The decision, as one line of JSON.
    Line(Vec<u8>),
    /// Nothing: the agent continues as without a hook.
    Nothing,
    /// Nobody decided, or the agent could not accept the decision: it has to ask in its own way.
    Undecided,
    /// A refusal by the exit code, with the reason on standard error.
    Refusal(String),
}

pub(super) fn print_nothing(_: &HookAnswer<'_>) -> HookReply {
    HookReply::Nothing
}

/// Returns an object. Members without a value are left out; a value is JSON text.
pub(super) fn json_object<'a>(
    members: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> String {
    let member =
        |(key, value): (&str, Option<String>)| Some(format!("{}:{}", json_string(key), value?));
    let members: Vec<String> = members.into_iter().filter_map(member).collect();
    format!("{{{}}}", members.join(","))
}

pub(super) fn reply_line<'a>(
    members: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> HookReply {
    let mut line = json_object(members).into_bytes();
    // An input is passed on as the agent has written it, perhaps on several lines, and the answer
    // is one.
    flatten_json(&mut line);
    line.push(b'\n');
    HookReply::Line(line)
}

/// Returns an answer in the form of Claude Code as the line that a hook prints.
pub(super) fn claude_reply_line<const N: usize>(
    event: AgentHookEvent,
    members: [(&str, Option<String>); N],
) -> HookReply {
    let name = [("hookEventName", Some(json_string(event.name())))];
    reply_line([("hookSpecificOutput", Some(json_object(name.into_iter().chain(members))))])
}

pub(super) fn json_text(value: &RawValue) -> String {
    value.get().to_owned()
}

#[allow(clippy::unnecessary_wraps, reason = "the value of a member may be missing")]
pub(super) fn json_word(text: &str) -> Option<String> {
    Some(json_string(text))
}
