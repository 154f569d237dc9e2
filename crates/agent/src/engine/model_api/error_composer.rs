//! Error texts for people: what could not be done and what to do next. None of them contains the
//! key.

mod network;
mod status;

use std::fmt::{self, Display};
use std::time::Duration;

use callgate_mask::mask_text;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{ApiKey, ApiWords};
use crate::engine::{EngineError, EngineErrorKind};
pub(crate) use status::error_kind_of;

/// The limit of a server's own error text, in characters.
const LONGEST_QUOTE: usize = 300;
/// Words in an error which mean that the conversation is too long for the model.
const TOO_LONG: [&str; 7] = [
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "context_length_exceeded",
    "maximum context length",
    "exceeds the available context size",
    "exceeds the context window",
];
/// Words in an error which mean that the model or its server has no tools.
const NO_TOOLS: [&str; 5] = [
    "does not support tools",
    "does not support function",
    "tool use is not supported",
    "requires --enable-auto-tool-choice",
    "requires --jinja",
];

pub(crate) struct ErrorComposer {
    /// The server, such as `https://api.anthropic.com`.
    origin: String,
    key: Option<ApiKey>,
    words: &'static ApiWords,
}

/// A server's description of an error.
#[derive(Debug)]
pub(super) struct ApiErrorBody {
    /// The type of the error, or its code.
    pub(super) kind: String,
    pub(super) message: String,
}

impl ApiErrorBody {
    /// Reads the description from JSON in any of the forms in use: an object in `error`, that
    /// object itself, or a text in `error`, `message` or `detail`.
    pub(super) fn from_json(json: &[u8]) -> Option<Self> {
        let said: Value = serde_json::from_slice(json).ok()?;
        let error = said.get("error").unwrap_or(&said);
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = [text("type"), text("code")].into_iter().find(|kind| !kind.is_empty());
        let message = error.as_str().unwrap_or_else(|| text("message"));
        let message = if message.is_empty() { text("detail") } else { message };
        let (kind, mut message) = (kind.unwrap_or_default().to_owned(), message.to_owned());
        let param = text("param");
        // Some servers name only here what they refuse.
        if !param.is_empty() && !message.contains(param) {
            message = format!("{} ({param})", message.trim_end_matches('.'));
        }
        (!kind.is_empty() || !message.is_empty()).then_some(Self { kind, message })
    }
}

impl fmt::Debug for ErrorComposer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorComposer").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl ErrorComposer {
    pub(crate) fn new(origin: String, key: Option<ApiKey>, words: &'static ApiWords) -> Self {
        Self { origin, key, words }
    }

    pub(crate) fn invalid_data(&self, reason: impl Display) -> EngineError {
        let (origin, reason) = (&self.origin, self.quoted(&reason.to_string()));
        let ApiWords { base_url, api, .. } = self.words;
        EngineError::new(
            EngineErrorKind::Nonsense,
            format!(
                "The answer of {origin} makes no sense: {reason}. Check that {base_url} is the \
                 address of a {api}"
            ),
        )
    }

    pub(crate) fn broken_off(&self, reason: Option<reqwest::Error>) -> EngineError {
        let reason =
            reason.map(|error| format!(" ({})", self.quoted(&network::network_reason(error).1)));
        let (origin, reason) = (&self.origin, reason.unwrap_or_default());
        EngineError::new(
            EngineErrorKind::Cut,
            format!("The answer of {origin} broke off before its end{reason}"),
        )
    }

    /// Returns the error for an answer that was silent for too long.
    pub(crate) fn stalled(&self, idle: Duration) -> EngineError {
        let (origin, idle) = (&self.origin, idle.as_secs_f32());
        EngineError::new(
            EngineErrorKind::Stalled,
            format!("Nothing arrived from {origin} for {idle} s. Check the network"),
        )
    }

    /// Returns the error that a server reported in the middle of an answer, as JSON.
    pub(crate) fn said_in_stream(&self, error: &RawValue) -> EngineError {
        match ApiErrorBody::from_json(error.get().as_bytes()) {
            Some(said) => self.reported_error(&said),
            None => self.invalid_data("an error that says nothing"),
        }
    }

    fn reported_error(&self, said: &ApiErrorBody) -> EngineError {
        // The request was accepted, so an unknown error is the server's, and the turn tries again.
        let kind = match error_kind(&said.kind).unwrap_or(EngineErrorKind::Server) {
            EngineErrorKind::Refused if is_too_long(said) => EngineErrorKind::TooLong,
            kind => kind,
        };
        let (origin, words) = (&self.origin, self.kind_and_message(&said.kind, &said.message));
        let next = self.next_advice(kind, None);
        EngineError::new(kind, format!("{origin} broke off the answer{words}{next}"))
    }

    /// Returns the kind of an error and its message, to be used in a sentence.
    fn kind_and_message(&self, kind: &str, message: &str) -> String {
        let kind = Some(self.quoted(kind)).filter(|kind| !kind.is_empty());
        let message = self.quoted(message);
        let message = message.trim_end_matches('.');
        let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
        if message.is_empty() { kind } else { format!("{kind}: {message}") }
    }

    /// Returns a server's text on one line, shortened and without secrets.
    fn quoted(&self, words: &str) -> String {
        // The key first: once the text is shortened, a part of it would not be recognised.
        let words = match &self.key {
            Some(key) => words.replace(key.text(), "…"),
            None => words.to_owned(),
        };
        // A server may repeat a part of the conversation, which may hold other secrets than the
        // key.
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

fn error_kind(kind: &str) -> Option<EngineErrorKind> {
    Some(match kind {
        "authentication_error" | "permission_error" => EngineErrorKind::Auth,
        "invalid_request_error"
        | "not_found_error"
        | "request_too_large"
        | "billing_error"
        | "insufficient_quota" => EngineErrorKind::Refused,
        "rate_limit_error" | "rate_limit_exceeded" => EngineErrorKind::RateLimit,
        "overloaded_error" => EngineErrorKind::Overloaded,
        "api_error" | "timeout_error" | "server_error" | "internal_server_error" => {
            EngineErrorKind::Server
        }
        _ => return None,
    })
}

/// Returns true if the API refused a request because of its length.
fn is_too_long(said: &ApiErrorBody) -> bool {
    let words = said.message.to_ascii_lowercase();
    said.kind == "request_too_large"
        || said.kind == "context_length_exceeded"
        || TOO_LONG.iter().any(|part| words.contains(part))
}

fn lacks_tools(said: &ApiErrorBody) -> bool {
    let words = said.message.to_ascii_lowercase();
    NO_TOOLS.iter().any(|part| words.contains(part))
}

impl ErrorComposer {
    /// Returns what to do next, or what else is known of the cause, as a further sentence. What may
    /// pass is tried again, and whoever gives up says so.
    fn next_advice(&self, kind: EngineErrorKind, status: Option<u16>) -> String {
        let ApiWords { key, base_url, model, .. } = self.words;
        let next = match (kind, status) {
            (EngineErrorKind::Auth, Some(403)) => {
                format!("The key may not do this: check its rights, or set another one in {key}")
            }
            (EngineErrorKind::Auth, _) => format!("Set a valid key in {key}"),
            (EngineErrorKind::Refused, Some(402)) => {
                "Check the billing of the account that the key belongs to".to_owned()
            }
            (EngineErrorKind::Refused, Some(404)) => {
                format!("Check the name of the model ({model}) and the address ({base_url})")
            }
            // What helps depends on the conversation: the turn knows.
            (EngineErrorKind::TooLong, Some(413)) => {
                "The conversation and its attachments are larger than a request may be".to_owned()
            }
            (EngineErrorKind::TooLong, _) => {
                "The conversation is longer than the model can read".to_owned()
            }
            (EngineErrorKind::Refused, _) => {
                "Change what it names; a new conversation begins without it".to_owned()
            }
            (EngineErrorKind::RateLimit, _) => return String::new(),
            (EngineErrorKind::Overloaded, _) => "It is overloaded".to_owned(),
            _ => "The cause is on its side".to_owned(),
        };
        format!(". {next}")
    }
}

#[cfg(test)]
mod tests;
