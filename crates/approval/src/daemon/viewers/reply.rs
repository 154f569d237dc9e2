//! The replies to a viewer's requests, on their way to its connection.

use callgate_wire::desk::DeskMessage;

/// What the reading half passes to the writing half.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum ViewerReply {
    /// A message to be written.
    Message(DeskMessage),
    /// A request for entries from this number on, or from now on.
    Watch { id: String, from: Option<u64> },
}

pub(super) fn error_message(id: Option<String>, text: impl Into<String>) -> DeskMessage {
    DeskMessage::Error { id, text: text.into() }
}
