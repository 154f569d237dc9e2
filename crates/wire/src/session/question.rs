//! Questions to the person that are no permission: of the model, or of a tool server.
//!
//! A question has typed fields. [`AgentQuestion::check_values`] compares an answer with them; it is
//! the same for every front end.

mod check;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::{LONGEST_QUESTION, STRING_256};
use crate::fields::{Malformed, bounded_text, optional_field, required_field};
use crate::raw::Members;

/// A question to the person. Its answer lets no tool run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentQuestion {
    pub question: String,
    pub tool_id: String,
    /// The tool server that asks; `None` if the model asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub text: String,
    /// An address that the person is asked to visit. Nobody opens it unasked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What an answer consists of. There are none if consent is all that is asked for.
    pub fields: Vec<QuestionField>,
    /// The time until which an answer is accepted, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
}

/// One part of the answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionField {
    /// Its name in the values of an answer.
    pub name: String,
    /// Its title, for a person.
    pub title: String,
    /// More about it, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub required: bool,
    #[serde(flatten)]
    pub kind: FieldKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FieldKind {
    Text {
        /// Its least length, in characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<u64>,
        /// Its greatest length, in characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_length: Option<u64>,
        /// Its format: `email`, `uri`, `date` or `date-time`.
        #[serde(skip_serializing_if = "Option::is_none")]
        format: Option<String>,
        /// The initial content of the field.
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    Number(NumberBounds),
    Integer(NumberBounds),
    Boolean {
        /// What is chosen at first.
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<bool>,
    },
    /// One of several strings.
    OneOf {
        options: Vec<FieldOption>,
        /// Whether words of the person's own are an answer, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        free_text: bool,
        /// What is chosen at first.
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    /// An array of some of several strings.
    SeveralOf {
        options: Vec<FieldOption>,
        /// Whether words of the person's own are an answer, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        free_text: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        min_items: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_items: Option<u64>,
        /// What is chosen at first.
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<Vec<String>>,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NumberBounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// The initial content of the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Number>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldOption {
    /// The value, in an answer.
    pub value: String,
    /// The value, for a person.
    pub title: String,
    /// More about it, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionAnswer {
    /// The question, as [`AgentQuestion::question`] names it.
    pub question: String,
    pub outcome: AnswerOutcome,
    /// The values by the names of their fields, if the person has answered.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
}

words! {
    /// What a person does with a question.
    pub enum AnswerOutcome {
        Answered "answered",
        /// Does not want to answer it.
        Declined "declined",
        /// Leaves it without a choice.
        Cancelled "cancelled",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionResolved {
    pub question: String,
    /// `answered`, `declined`, `cancelled` or `unanswered`. A reader accepts other words.
    pub outcome: String,
    /// The outcome, for a person.
    pub text: String,
}

impl QuestionAnswer {
    pub(super) fn from_members(members: &Members) -> Result<Self, Malformed> {
        const OUTCOME: &str = "answered, declined or cancelled";
        const VALUES: &str = "an object, and left out unless the outcome is answered";
        let outcome = required_field(members, "outcome", OUTCOME)?;
        let values: Map<String, Value> =
            optional_field(members, "values", VALUES)?.unwrap_or_default();
        if outcome != AnswerOutcome::Answered && !values.is_empty() {
            return Err(Malformed::wrong_field("values", VALUES));
        }
        Ok(Self {
            question: bounded_text(members, "question", LONGEST_QUESTION, STRING_256)?,
            outcome,
            values,
        })
    }
}

impl QuestionResolved {
    /// The outcome of a question that nobody answered, or that was withdrawn.
    pub const UNANSWERED: &str = "unanswered";
}
