//! Conversations, as they are listed and loaded.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{LONGEST_CONVERSATION_ID, LONGEST_TITLE};
use crate::fields::{Malformed, required_field, required_json_object};
use crate::raw::{Json, Members};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    pub conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many messages it has.
    pub length: u64,
    /// When it began, in milliseconds since the Unix epoch.
    pub created_at: u64,
    /// When it was last changed, in milliseconds since the Unix epoch.
    pub updated_at: u64,
    /// The folder in which it began, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// The data of the `done` of `new_conversation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCreated {
    /// The id of the new conversation, which is now the current one.
    pub conversation_id: String,
}

/// The data of the `done` of `fork_conversation` and `rewind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTrimmed {
    /// The conversation: the new one after `fork_conversation`, which is now the current one.
    pub conversation_id: String,
    /// How many messages it has.
    pub length: u64,
}

/// The data of the `done` of `compact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCompacted {
    pub conversation_id: String,
    /// How many messages the summary replaces. People still see them.
    pub replaced: u64,
}

/// The data of the `done` of `leave_out`. Its provider refuses that message, and with it would
/// refuse every later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageLeftOut {
    pub conversation_id: String,
    /// The number of the message, counted from 0. People still see it.
    pub message: u64,
}

/// The data of the `done` of `list_conversations`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationList {
    /// The conversations, the most recently changed first.
    pub conversations: Vec<ConversationSummary>,
    pub current: Option<String>,
}

/// The data of the `done` of `load_conversation`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessages {
    /// The id of the conversation, which is now the current one.
    pub conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub messages: Vec<PastMessage>,
    /// The number of the first of them. The first message of a conversation has the number 0.
    pub first: u64,
    pub length: u64,
    /// Whether the last turn has no whole answer and nobody works on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unfinished: bool,
}

/// The data of the `done` of `load_conversation` when it was loaded as events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationEvents {
    /// The id of the conversation, which is now the current one.
    pub conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The number of the first message whose events were sent. The first message of a conversation
    /// has the number 0.
    pub first: u64,
    pub length: u64,
    /// Whether the last turn has no whole answer and nobody works on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unfinished: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PastMessage {
    /// Its role: `user` or `assistant`.
    pub role: String,
    /// Its content: an array of blocks of the Messages API.
    pub content: Box<RawValue>,
}

const CONVERSATION_ID: &str = "a string of 1 to 128 bytes without control characters";
const TITLE: &str = "a string of at most 256 characters";

pub(super) fn decode_conversation_id(
    members: &Members,
    name: &'static str,
) -> Result<String, Malformed> {
    check_conversation_id(name, required_field(members, name, CONVERSATION_ID)?)
}

/// Reads a title, or words that are searched for.
pub(super) fn decode_title(members: &Members, name: &'static str) -> Result<String, Malformed> {
    let text: String = required_field(members, name, TITLE)?;
    // Without counting all characters of a text that is far too long.
    let is_short = text.chars().nth(LONGEST_TITLE).is_none();
    if is_short { Ok(text) } else { Err(Malformed::wrong_field(name, TITLE)) }
}

/// Reads the metadata, and checks the id of the conversation in it.
pub(super) fn decode_metadata(
    members: &Members,
    name: &'static str,
) -> Result<Box<RawValue>, Malformed> {
    let metadata = required_json_object(members, name)?;
    of_metadata(Some(&metadata))?;
    Ok(metadata)
}

pub(super) fn of_metadata(metadata: Option<&RawValue>) -> Result<Option<String>, Malformed> {
    const FIELD: &str = "metadata.conversationId";
    let members = metadata.map(|metadata| Json::from(metadata).members()).unwrap_or_default();
    let Some(id) = members.get_non_null("conversationId") else { return Ok(None) };
    let id = id.string().ok_or(Malformed::wrong_field(FIELD, CONVERSATION_ID))?;
    check_conversation_id(FIELD, id.into_owned()).map(Some)
}

fn check_conversation_id(field: &'static str, id: String) -> Result<String, Malformed> {
    let is_good =
        (1..=LONGEST_CONVERSATION_ID).contains(&id.len()) && !id.contains(char::is_control);
    if is_good { Ok(id) } else { Err(Malformed::wrong_field(field, CONVERSATION_ID)) }
}
