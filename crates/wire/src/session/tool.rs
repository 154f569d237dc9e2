//! Tool calls, as the front end sees them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What tools do, as [`ToolUse::kind`] says it; a reader takes other words as they come.
pub mod tool_kind {
    /// It reads files or other data.
    pub const READ: &str = "read";
    /// It changes what is in a file.
    pub const EDIT: &str = "edit";
    /// It deletes files or other data.
    pub const DELETE: &str = "delete";
    /// It moves or renames files.
    pub const MOVE: &str = "move";
    /// It searches.
    pub const SEARCH: &str = "search";
    /// It runs a program.
    pub const EXECUTE: &str = "execute";
    /// It fetches something from elsewhere.
    pub const FETCH: &str = "fetch";
    /// Anything else.
    pub const OTHER: &str = "other";
}

/// A tool call that begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// Names this call; its [`ToolResult`] repeats it.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// The call's arguments as they came.
    pub input: Box<RawValue>,
    /// What the tool does, see [`tool_kind`]; not said before `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The files and folders that the call is about; not said before `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolLocation>>,
}

/// A file or folder that a call is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolLocation {
    /// Its absolute path.
    pub path: String,
    /// The line in it, counted from 1, where the call begins with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A tool call that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call that [`ToolUse`] announced.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// What the tool gave, as it came: any JSON.
    pub result: Box<RawValue>,
    /// Whether the tool failed or did not run; not said before `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

/// What a tool that is running says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    /// The call.
    pub tool_id: String,
    /// Where it says it.
    pub stream: ToolStream,
    /// What it says, to be appended.
    pub text: String,
}

/// The streams of a running tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStream {
    /// What it was made to say.
    Stdout,
    /// What else it has to say.
    Stderr,
}
