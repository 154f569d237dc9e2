//! What happens in a turn, in no front end's words.

use serde_json::value::RawValue;

use crate::engine::EngineError;
use crate::history::HistoryError;
use crate::tool::Channel;

/// Something that a front end may show.
#[derive(Debug, Clone)]
pub enum Event {
    /// Words of the model, to be appended.
    Token(String),
    /// A thought of the model, to be appended.
    Thinking(String),
    /// A tool is wanted.
    ToolUse {
        /// Names the call; no other call of the turn has this name.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        input: Box<RawValue>,
    },
    /// A running tool said something.
    ToolProgress {
        /// The call.
        id: String,
        /// Where.
        channel: Channel,
        /// What.
        text: String,
    },
    /// A tool has ended, or may not run.
    ToolResult {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// What it gave.
        result: Box<RawValue>,
        /// Whether it failed.
        is_error: bool,
    },
    /// Something to know that is not part of the answer.
    Notice {
        /// In one word: `retry`, `compacted`, `queued`.
        kind: &'static str,
        /// In words for a person.
        text: String,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With an answer, whole or stopped for a reason that is no failure.
    Done {
        /// Why it ended.
        stop: StopReason,
    },
    /// It could not be finished.
    Failed(Failure),
}

/// Why a turn ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model has said everything.
    EndTurn,
    /// The answer was as long as it may be.
    MaxTokens,
    /// The model wanted tools in more rounds than a turn may have.
    MaxTurnRequests,
    /// The model will not answer.
    Refusal,
    /// Somebody stopped it.
    Cancelled,
    /// A reason of the provider's own.
    Other(String),
}

impl StopReason {
    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::MaxTurnRequests => "max_turn_requests",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
            Self::Other(reason) => reason,
        }
    }
}

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In one word.
    pub kind: &'static str,
    /// The status of an HTTP answer, if there was one.
    pub status: Option<u16>,
    /// Whether the same request may work later.
    pub retryable: bool,
    /// What could not be done and what to do next.
    pub text: String,
}

impl Failure {
    /// A failure that the same request will meet again.
    #[must_use]
    pub fn lasting(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, status: None, retryable: false, text: text.into() }
    }

    /// A failure that may pass.
    #[must_use]
    pub fn passing(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, status: None, retryable: true, text: text.into() }
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        let kind = match error {
            HistoryError::Unknown(_) => "not_found",
            HistoryError::InUse(_) => "in_use",
            HistoryError::Exists(_) => "exists",
            HistoryError::BadId | HistoryError::BadTitle => "protocol",
            _ => "history",
        };
        Self::lasting(kind, error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let EngineError { kind, status, text, .. } = error;
        Self { kind: kind.name(), status, retryable: kind.is_passing(), text }
    }
}
