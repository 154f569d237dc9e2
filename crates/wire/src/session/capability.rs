//! What a runtime can do and a front end can take, by name.

/// The answer comes piece by piece.
pub const STREAMING: &str = "streaming";

/// The model has tools.
pub const TOOLS: &str = "tools";

/// Messages may have files.
pub const ATTACHMENTS: &str = "attachments";

/// Files may come with a message.
pub const INLINE_ATTACHMENTS: &str = "inline_attachments";

/// `status` says which engine answers.
pub const ENGINE: &str = "engine";

/// `hello` is understood, and opens what follows.
pub const HELLO: &str = "hello";

/// `cancel` is understood.
pub const CANCEL: &str = "cancel";

/// `permission_answer` is understood. In `hello`: the front end takes `permission_request` and
/// `permission_resolved`.
pub const PERMISSION: &str = "permission";

/// There are several conversations, which can be made, listed, loaded, renamed and deleted.
pub const CONVERSATIONS: &str = "conversations";

/// `load_conversation` can answer with the events of a live answer.
pub const LOAD_EVENTS: &str = "load_events";

/// `regenerate` and `edit_last` are understood.
pub const EDIT: &str = "edit";

/// In `hello`: the front end takes `thinking`.
pub const THINKING: &str = "thinking";

/// In `hello`: the front end takes `tool_progress`.
pub const TOOL_PROGRESS: &str = "tool_progress";

/// In `hello`: the front end takes `notice`.
pub const NOTICE: &str = "notice";

/// `replay` is understood.
pub const REPLAY: &str = "replay";
