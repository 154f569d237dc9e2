//! Why a command of the page is refused.

use callgate_client::{ChatError, DeskError};
use serde::Serialize;

/// A refused command: a status as HTTP has it, which the page reads, and words for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CommandRefusal {
    /// The status, as in `docs/protocol/page.md`; 0 if the other side was not reached.
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl CommandRefusal {
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// The refusal of what the page must never do.
    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(403, text)
    }

    /// The refusal of a request that cannot be read.
    pub(crate) fn unreadable(text: impl Into<String>) -> Self {
        Self::new(400, text)
    }

    /// The refusal of a request that needs a runtime.
    pub(crate) fn no_runtime() -> Self {
        Self::new(409, "no runtime is running: choose a folder")
    }
}

impl From<ChatError> for CommandRefusal {
    fn from(error: ChatError) -> Self {
        let status = match error {
            ChatError::NoFolder | ChatError::Unreadable(_) => 400,
            ChatError::OfTheHost => 403,
            ChatError::Busy => 409,
            _ => 503,
        };
        Self::new(status, error.to_string())
    }
}

impl From<DeskError> for CommandRefusal {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::NoDesk(_) => Self::new(0, "no desk is running: start `callgate up`"),
            error => Self::new(503, format!("the desk does not answer: {error}")),
        }
    }
}
