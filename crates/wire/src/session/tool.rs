//! Tool calls, as a front end sees them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::desk::CallCard;

/// The values of [`ToolUse::kind`]. A reader accepts other words.
pub mod tool_kind {
    /// It reads files or other data.
    pub const READ: &str = "read";
    /// It changes files.
    pub const EDIT: &str = "edit";
    /// It deletes files or other data.
    pub const DELETE: &str = "delete";
    /// It moves or renames files.
    pub const MOVE: &str = "move";
    pub const SEARCH: &str = "search";
    /// It runs a program.
    pub const EXECUTE: &str = "execute";
    /// It fetches something from the network.
    pub const FETCH: &str = "fetch";
    /// Anything else.
    pub const OTHER: &str = "other";
}

/// A tool call that was announced.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// The id of the call, which its [`ToolResult`] repeats.
    pub tool_id: String,
    pub tool_name: String,
    /// The arguments of the call, unchanged.
    pub input: Box<RawValue>,
    /// What the tool does, see [`tool_kind`]. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The files and folders that the call is about. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolLocation>>,
    /// The call as faces draw it. Not sent before `hello`. A card that this version cannot read
    /// counts as none. With it a front end needs to know neither tools nor their arguments.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known_card")]
    pub card: Option<Box<CallCard>>,
}

impl ToolUse {
    /// Creates an announcement of what the model has sent, without anything that is for display.
    pub fn new(tool_id: String, tool_name: String, input: Box<RawValue>) -> Self {
        Self { tool_id, tool_name, input, kind: None, locations: None, card: None }
    }
}

/// Reads a card, or none if this version does not know its form.
pub(super) fn known_card<'de, D, T>(from: D) -> Result<Option<Box<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    // By way of its text, because an error in the card would refuse the whole message.
    let raw = Box::<RawValue>::deserialize(from)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// A piece of a tool's input while the model writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInput {
    /// The id of the call, which its [`ToolUse`] repeats.
    pub tool_id: String,
    pub tool_name: String,
    /// What the call does, as its card will say it. Only in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deed: Option<String>,
    /// The JSON of the input, to be appended.
    pub text: String,
}

/// A file or folder that a call is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolLocation {
    /// Its absolute path.
    pub path: String,
    /// The first line that the call is about, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call that [`ToolUse`] announced.
    pub tool_id: String,
    pub tool_name: String,
    /// The result of the tool, unchanged: any JSON.
    pub result: Box<RawValue>,
    /// Whether the tool failed or did not run. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    pub tool_id: String,
    pub stream: ToolStream,
    /// The output, to be appended.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStream {
    Stdout,
    Stderr,
}
