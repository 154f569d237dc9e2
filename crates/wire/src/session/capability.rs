//! The names of what a runtime can do and a front end can accept.

/// The answer is sent in pieces.
pub const STREAMING: &str = "streaming";

/// The model has tools.
pub const TOOLS: &str = "tools";

/// Messages may have attachments.
pub const ATTACHMENTS: &str = "attachments";

/// Attachments may be inline.
pub const INLINE_ATTACHMENTS: &str = "inline_attachments";

/// `status` names the engine.
pub const ENGINE: &str = "engine";

/// `hello` is understood, which enables the extensions.
pub const HELLO: &str = "hello";

/// `cancel` is understood.
pub const CANCEL: &str = "cancel";

/// `permission_answer` is understood. In `hello`: the front end accepts `permission_request` and
/// `permission_resolved`.
pub const PERMISSION: &str = "permission";

/// `question_answer` is understood. In `hello`: the front end accepts `question` and
/// `question_resolved`.
pub const QUESTION: &str = "question";

/// Conversations can be created, listed, loaded, renamed and deleted.
pub const CONVERSATIONS: &str = "conversations";

/// `load_conversation` can send the conversation as events.
pub const LOAD_EVENTS: &str = "load_events";

/// `regenerate` and `edit_last` are understood.
pub const EDIT: &str = "edit";

/// In `hello`: the front end accepts `thinking`.
pub const THINKING: &str = "thinking";

/// In `hello`: the front end accepts `tool_progress`.
pub const TOOL_PROGRESS: &str = "tool_progress";

/// In `hello`: the front end accepts `notice`.
pub const NOTICE: &str = "notice";

/// `replay` is understood.
pub const REPLAY: &str = "replay";

/// `set_engine` is understood.
pub const SET_ENGINE: &str = "set_engine";

/// `list_models` is understood.
pub const LIST_MODELS: &str = "list_models";

/// `set_mode` is understood.
pub const MODES: &str = "modes";

/// A message may steer a running turn.
pub const STEER: &str = "steer";

/// `fork_conversation` is understood.
pub const FORK: &str = "fork";

/// `rewind` is understood.
pub const REWIND: &str = "rewind";

/// `compact` is understood.
pub const COMPACT: &str = "compact";

/// `leave_out` is understood.
pub const LEAVE_OUT: &str = "leave_out";

/// In `hello`: the front end accepts `usage`.
pub const USAGE: &str = "usage";

/// In `hello`: the front end accepts `tool_input`.
pub const TOOL_INPUT: &str = "tool_input";

/// `turn_diff` and `undo_turn` are understood. In `hello`: the front end accepts `turn_changes`.
pub const TURN_DIFF: &str = "turn_diff";

/// `find_files` and `read_file` are understood.
pub const FILES: &str = "files";

/// `tools` in `hello` and `tool_answer` are understood.
pub const FRONT_TOOLS: &str = "front_tools";

/// `outputSchema` in `user_message` is understood.
pub const OUTPUT_SCHEMA: &str = "output_schema";
