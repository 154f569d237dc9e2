//! The status of the runtime.

use serde::{Deserialize, Serialize};

use super::{AgentQuestion, ConversationMode, PermissionRequest};

/// The values of [`OpenRequest::state`]. A reader accepts other words.
pub mod request_state {
    /// It waits for an earlier request.
    pub const QUEUED: &str = "queued";
    pub const WORKING: &str = "working";
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeStatus {
    /// [`IDLE`](super::IDLE) or [`BUSY`](super::BUSY). A reader accepts other words.
    pub state: String,
    pub conversation_length: u64,
    /// Milliseconds since the runtime started.
    pub uptime: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Why this engine was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine_reason: Option<String>,
    /// The model, as its provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The mode of the current conversation. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ConversationMode>,
    /// The files of the project whose instructions the model reads in the current conversation. Not
    /// sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<InstructionFile>>,
    /// The open requests, in the order in which they arrived. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<OpenRequest>>,
    /// The questions that wait for an answer, in the order in which they were asked. Not sent
    /// before `hello`. They have no `diff` if the line would exceed its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<OpenQuestion>>,
    /// The questions of the model and of tool servers that wait for an answer, in the order in
    /// which they were asked. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_questions: Option<Vec<OpenAgentQuestion>>,
    /// The MCP servers. Not sent before `hello`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<McpServerStatus>>,
}

/// The values of [`McpServerStatus::state`]. A reader accepts other words.
pub mod mcp_server_state {
    /// It was not needed yet.
    pub const UNUSED: &str = "unused";
    /// It is being started or reached.
    pub const CONNECTING: &str = "connecting";
    /// It waits until a person has signed in to it.
    pub const NEEDS_SIGN_IN: &str = "needs_sign_in";
    /// Its tools can be used.
    pub const READY: &str = "ready";
    /// It could not be started or reached, or has ended.
    pub const FAILED: &str = "failed";
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    pub name: String,
    /// Its state, see [`mcp_server_state`].
    pub state: String,
    /// The state in words for a person, and the reason if it failed.
    pub text: String,
    pub tools: u64,
    /// Whether the project's `.mcp.json` names it, and not the user's settings.
    pub is_project: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionFile {
    /// Its absolute path.
    pub path: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// Whether the model reads only a part of it.
    #[serde(rename = "cut")]
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    pub id: String,
    pub kind: String,
    /// Its state, see [`request_state`].
    pub state: String,
    /// When it arrived, in milliseconds since the Unix epoch.
    pub since: u64,
    /// The lowest number that a response to it can have: `replay` from here returns all of them.
    pub from_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The user's message, shortened if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A question that waits for an answer, in the form of its `permission_request`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename = "permission_request")]
pub struct OpenQuestion {
    /// The request to which the question belongs.
    pub id: String,
    pub data: PermissionRequest,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub timestamp: u64,
}

/// A question of the model or of a tool server that waits for an answer, in the form of its
/// `question`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "question")]
pub struct OpenAgentQuestion {
    /// The request to which the question belongs.
    pub id: String,
    pub data: AgentQuestion,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub timestamp: u64,
}
