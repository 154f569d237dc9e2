//! Questions about whether a tool may run, and their answers.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::tool::known_card;
use super::{LONGEST_QUESTION, STRING_256};
use crate::approval::{Action, Press};
use crate::desk::QuestionCard;
use crate::fields::{
    Malformed, bounded_text, optional_field, optional_object, required_field, write_optional,
};
use crate::raw::Members;

#[derive(Debug, Clone)]
pub struct PermissionAnswer {
    /// The question, as [`PermissionRequest::question`] names it.
    pub question: String,
    /// What the user decided. This protocol has words for allow, deny, the first "always", a deny
    /// with a message and changed input; any other button is written as a deny.
    pub press: Press,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    pub question: String,
    pub tool_id: String,
    pub tool_name: String,
    /// The arguments of the call, with secrets masked.
    pub input: Box<RawValue>,
    /// What is about to happen, in one line.
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether "always" is on offer. Where it is not, an "always" counts as an allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_allow_always: Option<bool>,
    /// The time until which an answer is accepted, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
    /// What would change in a file: a unified diff with secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The question as every face draws it. A card that this version cannot read counts as none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known_card")]
    pub card: Option<Box<QuestionCard>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionResolved {
    pub question: String,
    /// `allow`, `deny` or `timeout`. A reader accepts other words.
    pub decision: String,
    /// The outcome, for a person.
    pub text: String,
}

impl PermissionAnswer {
    pub(super) fn from_members(members: &Members) -> Result<Self, Malformed> {
        const DECISION: &str = "allow, deny or allow_always";
        let question = bounded_text(members, "question", LONGEST_QUESTION, STRING_256)?;
        let decision: String = required_field(members, "decision", DECISION)?;
        let message: Option<String> = optional_field(members, "message", "a string")?;
        // A text field that was left empty is no message.
        let message = message.filter(|message| !message.trim().is_empty());
        let input = optional_object(members, "input")?;
        let press = match (decision.as_str(), message, input) {
            ("allow", _, Some(input)) => Press::Input(input),
            // Changed input must not seem to apply to later calls.
            ("deny" | "allow_always", _, Some(_)) => {
                return Err(Malformed::wrong_field(
                    "input",
                    "left out unless the decision is allow",
                ));
            }
            ("allow", _, None) => Press::Button(Action::Allow),
            ("allow_always", _, None) => Press::Button(Action::Always(0)),
            ("deny", Some(message), None) => Press::Words(message),
            ("deny", None, None) => Press::Button(Action::Deny),
            _ => return Err(Malformed::wrong_field("decision", DECISION)),
        };
        Ok(Self { question, press })
    }
}

impl Serialize for PermissionAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (decision, message, input) = match &self.press {
            Press::Button(Action::Allow) => ("allow", None, None),
            Press::Button(Action::Always(_)) => ("allow_always", None, None),
            Press::Button(_) => ("deny", None, None),
            Press::Words(message) => ("deny", Some(message), None),
            Press::Input(input) => ("allow", None, Some(input)),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("question", &self.question)?;
        map.serialize_entry("decision", decision)?;
        write_optional(&mut map, "message", message)?;
        write_optional(&mut map, "input", input)?;
        map.end()
    }
}
