//! Tool calls, as the front end sees them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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
    pub stream: Stream,
    /// What it says, to be appended.
    pub text: String,
}

/// The streams of a running tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// What it was made to say.
    Stdout,
    /// What else it has to say.
    Stderr,
}
