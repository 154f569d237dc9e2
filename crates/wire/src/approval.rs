//! The approval protocol: how an agent's hook asks the desk before the agent acts.
//!
//! One connection carries one [`Request`] line and one [`Response`] line; the normative text is
//! `docs/protocol/approval.md`. What the tool would be given and what the agent suggests to allow
//! for good are only relayed, so they stay the bytes they were. The buttons on a phone carry a
//! [`Callback`].

mod callback;
mod request_id;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::fields::{members_of, one_line, optional, optional_object, required};
use crate::raw::Members;

pub use crate::fields::Malformed;
pub use callback::{Action, Callback, MAX_CALLBACK, NotCallback};
pub use request_id::{NotUuid, RequestId};

/// Where the desk listens unless it is told otherwise.
pub const DEFAULT_SOCKET: &str = "/tmp/vibe-reachout.sock";

/// The longest line, without its newline, that either side may send.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// May this tool be run?
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// Names the question; the answer repeats it.
    pub request_id: RequestId,
    /// The tool the agent wants to run.
    pub tool_name: String,
    /// The object the tool would be given, as it came.
    pub tool_input: Box<RawValue>,
    /// The folder the agent works in.
    pub cwd: String,
    /// The agent's session, to tell several apart.
    pub session_id: String,
    /// What the agent offers to allow for good, each as it came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission_suggestions: Vec<Box<RawValue>>,
}

/// The desk's answer to a [`Request`].
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The question's id.
    pub request_id: RequestId,
    /// What was decided.
    pub decision: Decision,
    /// Why, in words for the agent; used with [`Decision::Deny`].
    pub message: Option<String>,
    /// The suggestion to apply from now on, as it came; used with [`Decision::Allow`].
    pub always_allow_suggestion: Option<Box<RawValue>>,
}

/// What was decided about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The tool may run.
    Allow,
    /// The tool may not run.
    Deny,
    /// Nobody decided: the agent asks in its own way.
    Timeout,
}

impl Request {
    /// Reads a request from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        let members = members_of(line)?;
        let suggestions = optional(&members, "permission_suggestions", "an array")?;
        Ok(Self {
            request_id: request_id(&members)?,
            tool_name: required(&members, "tool_name", "a string")?,
            tool_input: optional_object(&members, "tool_input")?
                .ok_or(Malformed::wrong("tool_input", "an object"))?,
            cwd: required(&members, "cwd", "a string")?,
            session_id: required(&members, "session_id", "a string")?,
            permission_suggestions: suggestions.unwrap_or_default(),
        })
    }

    /// The request as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl Response {
    /// Reads a response from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        let members = members_of(line)?;
        Ok(Self {
            request_id: request_id(&members)?,
            decision: decision(&members)?,
            message: optional(&members, "message", "a string")?,
            always_allow_suggestion: optional_object(&members, "always_allow_suggestion")?,
        })
    }

    /// The response as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

fn request_id(members: &Members) -> Result<RequestId, Malformed> {
    const EXPECTED: &str = "a UUID of version 4";
    let text: String = required(members, "request_id", EXPECTED)?;
    RequestId::parse(&text).map_err(|NotUuid| Malformed::wrong("request_id", EXPECTED))
}

fn decision(members: &Members) -> Result<Decision, Malformed> {
    const EXPECTED: &str = "allow, deny or timeout";
    match required::<String>(members, "decision", EXPECTED)?.as_str() {
        "allow" => Ok(Decision::Allow),
        "deny" => Ok(Decision::Deny),
        "timeout" => Ok(Decision::Timeout),
        _ => Err(Malformed::wrong("decision", EXPECTED)),
    }
}
