//! Error texts for people: what could not be done and what to do next. None of them contains the
//! key.

mod network;
mod status;

use std::fmt::{self, Display};
use std::time::Duration;

use callgate_mask::mask_text;

use super::ApiKey;
use super::event::ApiErrorBody;
use crate::engine::{EngineError, EngineErrorKind};

/// The limit of a server's own error text, in characters.
const LONGEST_QUOTE: usize = 300;
/// Words in an error which mean that the conversation is too long for the model.
const TOO_LONG: [&str; 3] = ["prompt is too long", "input is too long", "exceed context limit"];

/// Creates the errors of one server.
pub(super) struct ErrorComposer {
    /// The server, such as `https://api.anthropic.com`.
    origin: String,
    key: ApiKey,
}

impl fmt::Debug for ErrorComposer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorComposer").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl ErrorComposer {
    pub(super) fn new(origin: String, key: ApiKey) -> Self {
        Self { origin, key }
    }

    /// Returns the error for data that makes no sense.
    pub(super) fn nonsense(&self, reason: impl Display) -> EngineError {
        let (origin, reason) = (&self.origin, self.quoted(&reason.to_string()));
        fault(
            EngineErrorKind::Nonsense,
            format!(
                "The answer of {origin} makes no sense: {reason}. Check that ANTHROPIC_BASE_URL is \
                 the address of a Messages API"
            ),
        )
    }

    /// Returns the error for an answer that broke off.
    pub(super) fn cut(&self, reason: Option<reqwest::Error>) -> EngineError {
        let reason = reason.map(|error| format!(" ({})", self.quoted(&network::reason(error).1)));
        let (origin, reason) = (&self.origin, reason.unwrap_or_default());
        fault(
            EngineErrorKind::Cut,
            format!("The answer of {origin} broke off before its end{reason}. Try again"),
        )
    }

    /// Returns the error for an answer that was silent for too long.
    pub(super) fn stalled(&self, idle: Duration) -> EngineError {
        let (origin, idle) = (&self.origin, idle.as_secs_f32());
        fault(
            EngineErrorKind::Stalled,
            format!("Nothing arrived from {origin} for {idle} s. Check the network and try again"),
        )
    }

    /// Returns the error that a server reported in the middle of an answer.
    pub(super) fn said(&self, said: &ApiErrorBody) -> EngineError {
        let kind = match error_kind(&said.kind).unwrap_or(EngineErrorKind::Server) {
            EngineErrorKind::Refused if is_too_long(said) => EngineErrorKind::TooLong,
            kind => kind,
        };
        let (origin, words) = (&self.origin, self.words(&said.kind, &said.message));
        let next = next(kind, None, None);
        fault(kind, format!("{origin} broke off the answer{words}. {next}"))
    }

    /// Returns the error for a request that could not be sent for a reason of our own.
    pub(super) fn unable(reason: &str) -> EngineError {
        fault(EngineErrorKind::Refused, reason.to_owned())
    }

    /// Returns the kind of an error and its message, to be used in a sentence.
    fn words(&self, kind: &str, message: &str) -> String {
        let kind = Some(self.quoted(kind)).filter(|kind| !kind.is_empty());
        let message = self.quoted(message);
        let message = message.trim_end_matches('.');
        let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
        if message.is_empty() { kind } else { format!("{kind}: {message}") }
    }

    /// Returns a server's text on one line, shortened and without secrets.
    fn quoted(&self, words: &str) -> String {
        let words = words.replace(self.key.text(), "…");
        let masked = mask_text(&words).into_shown();
        let plain = masked.replace(char::is_control, " ");
        let mut line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((at, _)) = line.char_indices().nth(LONGEST_QUOTE) {
            line.truncate(at);
            line.push('…');
        }
        line
    }
}

fn fault(kind: EngineErrorKind, text: String) -> EngineError {
    EngineError { kind, status: None, retry_after: None, text }
}

/// Returns the kind of error for an error type of the API.
fn error_kind(kind: &str) -> Option<EngineErrorKind> {
    Some(match kind {
        "authentication_error" | "permission_error" => EngineErrorKind::Auth,
        "invalid_request_error" | "not_found_error" | "request_too_large" | "billing_error" => {
            EngineErrorKind::Refused
        }
        "rate_limit_error" => EngineErrorKind::RateLimit,
        "overloaded_error" => EngineErrorKind::Overloaded,
        "api_error" | "timeout_error" => EngineErrorKind::Server,
        _ => return None,
    })
}

/// Returns true if the API refused a request because of its length.
fn is_too_long(said: &ApiErrorBody) -> bool {
    let words = said.message.to_ascii_lowercase();
    said.kind == "request_too_large" || TOO_LONG.iter().any(|part| words.contains(part))
}

/// Returns what to do next.
fn next(kind: EngineErrorKind, status: Option<u16>, wait: Option<Duration>) -> String {
    let text = match (kind, status) {
        (EngineErrorKind::Auth, Some(403)) => {
            "The key may not do this: check its rights, or set another one in ANTHROPIC_API_KEY"
        }
        (EngineErrorKind::Auth, _) => "Set a valid key in ANTHROPIC_API_KEY",
        (EngineErrorKind::Refused, Some(402)) => {
            "Check the billing of the account that the key belongs to"
        }
        (EngineErrorKind::Refused, Some(404)) => {
            "Check the name of the model (ANTHROPIC_MODEL) and the address (ANTHROPIC_BASE_URL)"
        }
        // What helps depends on the conversation: the turn knows.
        (EngineErrorKind::TooLong, Some(413)) => {
            "The conversation and its attachments are larger than a request may be"
        }
        (EngineErrorKind::TooLong, _) => "The conversation is longer than the model can read",
        (EngineErrorKind::Refused, _) => {
            "Change what it names; a new conversation begins without it"
        }
        (EngineErrorKind::RateLimit, _) => {
            let wait = wait.map(|wait| format!(" {} s", wait.as_secs_f32())).unwrap_or_default();
            return format!("Wait{wait} and try again");
        }
        (EngineErrorKind::Overloaded, _) => "It is overloaded: try again in a while",
        _ => "The cause is on its side: try again in a while",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests;
