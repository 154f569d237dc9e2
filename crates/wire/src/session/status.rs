//! How the runtime is, and what is open.

use serde::{Deserialize, Serialize};

use super::PermissionRequest;

/// How far an open request has come, as [`OpenRequest::state`] says it; a reader takes other words
/// as they come.
pub mod request_state {
    /// It waits for one before it.
    pub const QUEUED: &str = "queued";
    /// It is worked on.
    pub const WORKING: &str = "working";
}

/// How the runtime is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeStatus {
    /// [`IDLE`](super::IDLE) or [`BUSY`](super::BUSY); a reader takes other words as they come.
    pub state: String,
    /// How many messages the current conversation holds.
    pub conversation_length: u64,
    /// Milliseconds since the runtime started.
    pub uptime: u64,
    /// What answers messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Why it is that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_reason: Option<String>,
    /// The model, as its provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The current conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The requests that have no end yet, in the order in which they came; not said before
    /// `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<OpenRequest>>,
    /// The questions that wait for an answer, in the order in which they were asked; not said
    /// before `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<OpenQuestion>>,
}

/// A request that has no end yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// How far it has come, see [`request_state`].
    pub state: String,
    /// When it came, in milliseconds since the Unix epoch.
    pub since: u64,
    /// No response to it has a lower number: `replay` from here on gives what was said of it.
    pub from_seq: u64,
    /// The conversation in which it is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// What the user said, its beginning if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A question that waits for an answer, as the `permission_request` that asked it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename = "permission_request")]
pub struct OpenQuestion {
    /// The request that the question belongs to.
    pub id: String,
    /// The question.
    pub data: PermissionRequest,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub timestamp: u64,
}
