//! The session protocol: what a front end and the agent runtime say over stdin and stdout.
//!
//! One JSON object a line. The front end sends a [`Request`], the runtime sends [`Response`]s; the
//! normative text is `docs/protocol/session.md`. Tool inputs, tool results and metadata are only
//! relayed, so they stay the bytes they were. The time comes in as a number of milliseconds.

mod request;
mod response;
#[cfg(test)]
mod tests;

use crate::fields::required;
use crate::raw::Members;

pub use crate::unreadable::{Reason, Unreadable};
pub use request::{Attachment, Command, Request, UserMessage};
pub use response::{Event, Ready, Reply, Response, Status, ToolResult, ToolUse};

/// The protocol version that [`Ready`] announces.
pub const VERSION: &str = "1.0.0";

/// What this version of the protocol can do, as [`Ready`] announces it.
pub const CAPABILITIES: [&str; 3] = ["streaming", "tools", "attachments"];

/// The longest line, without its newline, that either side may send.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// The [`Status::state`] of a runtime with no request at work.
pub const IDLE: &str = "idle";

/// The [`Status::state`] of a runtime with a request at work.
pub const BUSY: &str = "busy";

fn text(members: &Members, field: &'static str) -> Option<String> {
    required(members, field, "a string").ok()
}
