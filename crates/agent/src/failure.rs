//! Why a request failed, in the form that the front end reads.

use std::time::Duration;

use callgate_wire::session::{ErrorData, SessionEvent};

use crate::budget::OverBudget;
use crate::engine::{EngineError, EngineErrorKind};
use crate::history::HistoryError;

const TOO_LONG: &str = "Send less, replace the last message with a shorter one by `edit_last`, \
    remove the messages by `clear_history`, or begin a new conversation";
const STUCK: &str = "What was done for this message is kept, and the provider may refuse this \
    conversation as it is: leave out what it refuses by `leave_out`, replace the last message by \
    `edit_last`, have it answered again by `regenerate`, or begin a new conversation";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFailure {
    /// The kind of failure, in one word.
    pub kind: &'static str,
    /// The status of the provider's HTTP response, if there was one.
    pub status: Option<u16>,
    pub retryable: bool,
    /// What could not be done and what to do next.
    pub text: String,
}

impl RequestFailure {
    /// Creates a failure that the same request will meet again.
    pub fn permanent(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, status: None, retryable: false, text: text.into() }
    }

    pub fn temporary(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, status: None, retryable: true, text: text.into() }
    }

    /// Converts an error of the engine, with advice where the same conversation would meet it
    /// again. `is_begun` tells whether part of the turn is already stored.
    pub fn of_engine(error: EngineError, is_begun: bool) -> Self {
        let EngineError { kind, status, retry_after, mut text } = error;
        let advice = match (kind, status) {
            (EngineErrorKind::TooLong, _) => Some(TOO_LONG.to_owned()),
            // While nothing is stored, the message itself is at fault, and the next one may be
            // accepted.
            (EngineErrorKind::Refused, Some(400 | 422)) if is_begun => Some(STUCK.to_owned()),
            _ if kind.is_passing() => Some(retry_advice(kind, retry_after)),
            _ => None,
        };
        if let Some(advice) = advice {
            text = format!("{}. {advice}", text.trim_end_matches('.'));
        }
        Self { kind: kind.name(), status, retryable: kind.is_passing(), text }
    }
}

/// Returns when to send the message again after a failure that may pass. A turn that tries again by
/// itself does not say so.
fn retry_advice(kind: EngineErrorKind, wait: Option<Duration>) -> String {
    let when = match (kind, wait) {
        (_, Some(wait)) => format!(" in {} s", wait.as_secs_f32()),
        (EngineErrorKind::Network | EngineErrorKind::Cut | EngineErrorKind::Stalled, None) => {
            String::new()
        }
        _ => " in a while".to_owned(),
    };
    format!("Send the message again{when}")
}

impl From<RequestFailure> for SessionEvent {
    fn from(failure: RequestFailure) -> Self {
        let RequestFailure { kind, status, retryable, text } = failure;
        let data = ErrorData { kind: kind.to_owned(), status, retryable };
        Self::Error { error: text, data: Some(data) }
    }
}

impl From<HistoryError> for RequestFailure {
    fn from(error: HistoryError) -> Self {
        let kind = match error {
            HistoryError::Unknown(_) => "not_found",
            HistoryError::InUse(_) => "in_use",
            HistoryError::Exists(_) => "exists",
            HistoryError::BadId | HistoryError::BadTitle => "protocol",
            _ => "history",
        };
        Self::permanent(kind, error.to_string())
    }
}

impl From<OverBudget> for RequestFailure {
    fn from(over: OverBudget) -> Self {
        match over {
            OverBudget::Rate { .. } => Self::temporary("rate", over.to_string()),
            OverBudget::Reserved { .. } => Self::temporary("budget", over.to_string()),
            _ => Self::permanent("budget", over.to_string()),
        }
    }
}
