//! Questions whether a tool may run, and their answers.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::command::some;
use super::{LONGEST_QUESTION, bounded};
use crate::fields::{Malformed, optional, optional_object, required};
use crate::raw::Members;

/// The user's answer to a question.
#[derive(Debug, Clone)]
pub struct PermissionAnswer {
    /// The question, as [`PermissionRequest::question`] names it.
    pub question: String,
    /// What the user decided.
    pub decision: Decision,
    /// Why not, in the user's words; it counts with [`Decision::Deny`].
    pub message: Option<String>,
    /// The tool's arguments as the user has changed them, a JSON object as it came. Only
    /// [`Decision::Allow`] has them: nobody is to believe that the change holds for later calls.
    pub input: Option<Box<RawValue>>,
}

/// What the user decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The tool may run.
    Allow,
    /// It may not.
    Deny,
    /// It may run, and need not be asked about again.
    AllowAlways,
}

/// Somebody is asked whether a tool may run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// Names the question.
    pub question: String,
    /// The call that waits for the answer.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// The call's arguments, secrets hidden.
    pub input: Box<RawValue>,
    /// What is about to happen, in one line.
    pub title: String,
    /// Why it has to be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether [`Decision::AllowAlways`] is on offer; where it is not, it counts as
    /// [`Decision::Allow`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_allow_always: Option<bool>,
    /// Until when an answer counts, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
    /// What would change in a file: a unified diff, secrets hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// A question is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionResolved {
    /// The question.
    pub question: String,
    /// `allow`, `deny` or `timeout`; a reader takes other words as they come.
    pub decision: String,
    /// What came of it, in words for a person.
    pub text: String,
}

impl PermissionAnswer {
    pub(super) fn read(members: &Members) -> Result<Self, Malformed> {
        const DECISION: &str = "allow, deny or allow_always";
        let answer = Self {
            question: bounded(members, "question", LONGEST_QUESTION)?,
            decision: required(members, "decision", DECISION)?,
            message: optional(members, "message", "a string")?,
            input: optional_object(members, "input")?,
        };
        if answer.input.is_some() && answer.decision != Decision::Allow {
            return Err(Malformed::wrong("input", "left out unless the decision is allow"));
        }
        Ok(answer)
    }

    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("question", &self.question)?;
        map.serialize_entry("decision", &self.decision)?;
        some(map, "message", self.message.as_ref())?;
        some(map, "input", self.input.as_ref())
    }
}
