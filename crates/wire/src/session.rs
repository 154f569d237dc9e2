//! The session protocol, which a front end and the agent runtime speak over stdin and stdout.
//!
//! Each line is one JSON object. The front end sends [`SessionRequest`]s and the runtime sends
//! [`SessionResponse`]s; the normative text is `docs/protocol/session.md`. Tool inputs, tool
//! results and metadata are only relayed, so their bytes stay unchanged. Times are passed in as
//! milliseconds.
//!
//! Without `hello` there are three kinds of requests and seven kinds of responses. The others are
//! extensions, which a runtime announces in [`RuntimeReady`].

mod attachment;
pub mod capability;
mod command;
mod conversation;
mod engine;
mod event;
mod file;
mod front_tool;
mod message;
mod mode;
mod permission;
mod question;
mod request;
mod response;
mod status;
#[cfg(test)]
mod tests;
mod tool;
mod turn;
mod turn_changes;

use crate::fields::{Malformed, bounded_text};
use crate::raw::Members;
pub use crate::unreadable::{Unreadable, UnreadableReason};
pub use attachment::Attachment;
pub use command::{LoadAs, SessionCommand};
pub use conversation::{
    ConversationCompacted, ConversationCreated, ConversationEvents, ConversationList,
    ConversationMessages, ConversationSummary, ConversationTrimmed, MessageLeftOut, PastMessage,
};
pub use engine::{ConversationEngine, EngineListing, ModelList, ModelListing};
pub use event::{Notice, SessionEvent};
pub use file::{FileMatch, FileMatches, FileText, LONGEST_PATH, LONGEST_QUERY, WantedFile};
pub use front_tool::{FrontTool, FrontToolAnswer, FrontToolCall, MOST_FRONT_TOOLS};
pub use message::{PastAttachment, PastUserMessage, UserMessage};
pub use mode::{ConversationMode, ModeSet};
pub use permission::{PermissionAnswer, PermissionRequest, PermissionResolved};
pub use question::{
    AgentQuestion, AnswerOutcome, FieldKind, FieldOption, NumberBounds, QuestionAnswer,
    QuestionField, QuestionResolved,
};
pub use request::SessionRequest;
pub use response::{RuntimeReady, SessionReply, SessionResponse};
pub use status::{
    InstructionFile, McpServerStatus, OpenAgentQuestion, OpenQuestion, OpenRequest, RuntimeStatus,
    mcp_server_state, request_state,
};
pub use tool::{ToolInput, ToolLocation, ToolProgress, ToolResult, ToolStream, ToolUse, tool_kind};
pub use turn::{ErrorData, ReplayedRange, TokenUsage, TurnEnd, UsageReport};
pub use turn_changes::{TurnChanges, TurnDiff, TurnUndone, UntouchedFile};

/// The protocol version that [`RuntimeReady`] announces.
pub const VERSION: &str = "1.0.0";

/// The longest line, without its newline, that either side may send.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// The longest id of a request, in bytes. It also limits the target of [`SessionCommand::Cancel`].
pub const LONGEST_ID: usize = 256;

/// The longest id, in bytes, that an `error` repeats. A request whose id is longer than
/// [`LONGEST_ID`] is refused, and the front end can tell which request it was.
pub const LONGEST_REFUSED_ID: usize = 4096;

/// The longest id of a question, in bytes.
pub const LONGEST_QUESTION: usize = 256;

/// The longest id of a conversation, in bytes.
pub const LONGEST_CONVERSATION_ID: usize = 128;

/// The longest name of an engine, in bytes.
pub const LONGEST_ENGINE: usize = 64;

/// The longest name of a model, in bytes.
pub const LONGEST_MODEL: usize = 256;

/// The longest title of a conversation, in characters.
pub const LONGEST_TITLE: usize = 256;

/// The longest name of an inline attachment, in characters.
pub const LONGEST_FILE_NAME: usize = 256;

/// The [`RuntimeStatus::state`] of a runtime without running requests.
pub const IDLE: &str = "idle";

/// The [`RuntimeStatus::state`] of a runtime with a running request.
pub const BUSY: &str = "busy";

const STRING_256: &str = "a string of at most 256 bytes";
const WHOLE_NUMBER: &str = "a whole number";

fn bounded_id(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_ID, STRING_256)
}
