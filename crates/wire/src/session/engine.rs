//! Engines and their models, as they are listed and chosen.

use serde::{Deserialize, Serialize};

use super::{LONGEST_ENGINE, LONGEST_MODEL};
use crate::fields::{Malformed, required_field};
use crate::raw::Members;

/// The data of the `done` of `list_models`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelList {
    pub engines: Vec<EngineListing>,
    /// The engine that answers in the current conversation.
    pub engine: String,
    /// The model that answers in the current conversation, if it is known.
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineListing {
    /// Its name, such as `anthropic`.
    pub name: String,
    pub is_available: bool,
    /// Where it was found, or why it cannot answer and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its models, as far as they are known.
    #[serde(default)]
    pub models: Vec<ModelListing>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelListing {
    /// Its name, as the provider has it.
    pub id: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its context window, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// The data of the `done` of `set_engine`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationEngine {
    pub conversation_id: String,
    /// The engine that answers in it from now on.
    pub engine: String,
    /// The model that answers in it from now on.
    pub model: String,
}

const ENGINE: &str = "a string of 1 to 64 bytes without control characters";
const MODEL: &str = "a string of 1 to 256 bytes without control characters";

pub(super) fn engine_name(members: &Members, field: &'static str) -> Result<String, Malformed> {
    decode_name(members, field, LONGEST_ENGINE, ENGINE)
}

pub(super) fn model_name(members: &Members, field: &'static str) -> Result<String, Malformed> {
    decode_name(members, field, LONGEST_MODEL, MODEL)
}

/// Returns the name of an engine or a model, which is not empty.
fn decode_name(
    members: &Members,
    field: &'static str,
    limit: usize,
    expected: &'static str,
) -> Result<String, Malformed> {
    let name: String = required_field(members, field, expected)?;
    let is_good = (1..=limit).contains(&name.len()) && !name.contains(char::is_control);
    if is_good { Ok(name) } else { Err(Malformed::wrong_field(field, expected)) }
}
