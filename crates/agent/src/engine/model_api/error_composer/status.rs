//! Errors that a server reports by an HTTP status.

use std::time::Duration;

use reqwest::header::{self, HeaderMap};
use reqwest::{StatusCode, Url};

use super::{ApiErrorBody, ErrorComposer, error_kind, is_too_long, lacks_tools};
use crate::engine::model_api::{ApiWords, header_text};
use crate::engine::{EngineError, EngineErrorKind};

/// The longest `retry-after` that is respected.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

impl ErrorComposer {
    /// Returns the error for a response that is not a streamed answer.
    pub(in crate::engine::model_api) fn status(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> EngineError {
        let said = error_in_body(body);
        if status.is_redirection() {
            return self.redirect_error(status, headers);
        }
        // Before the kind of the status: some servers report it as an error of their own (500),
        // which would be tried again in vain.
        if !status.is_success() && lacks_tools(&said) {
            return self.without_tools(status, &said);
        }
        let Some(kind) = kind_of_status(status.as_u16(), &said) else {
            return self.no_stream(headers, &said);
        };
        let (origin, code) = (&self.origin, status.as_u16());
        let retry_after = retry_after(headers);
        let words = self.kind_and_message(&said.kind, &said.message);
        let (next, id) = (self.next_advice(kind, Some(code)), self.request_id_text(headers));
        let text = format!("{origin} answered {code}{words}{next}{id}");
        EngineError { kind, status: Some(code), retry_after, text }
    }

    fn without_tools(&self, status: StatusCode, said: &ApiErrorBody) -> EngineError {
        let (origin, code) = (&self.origin, status.as_u16());
        let words = self.kind_and_message(&said.kind, &said.message);
        let text = format!(
            "{origin} answered {code}{words}. It cannot use tools, and callgate needs them: choose \
             a model with tools, or start the server with them (llama.cpp with `--jinja`, vLLM \
             with `--enable-auto-tool-choice` and `--tool-call-parser`)"
        );
        EngineError { status: Some(code), ..EngineError::refused(text) }
    }

    fn redirect_error(&self, status: StatusCode, headers: &HeaderMap) -> EngineError {
        let place = header_text(headers, &header::LOCATION).and_then(|text| Url::parse(text).ok());
        let place = place.map(|url| self.quoted(&url.origin().ascii_serialization()));
        let to = place.map(|place| format!(" to {place}")).unwrap_or_default();
        let (origin, code) = (&self.origin, status.as_u16());
        let ApiWords { base_url, api, .. } = self.words;
        let text = format!(
            "{origin} answered {code}: it redirects{to}, and the key is not carried there. Set \
             {base_url} to the address where the {api} is"
        );
        EngineError { status: Some(code), ..EngineError::refused(text) }
    }

    /// Returns the error for a response with status 2xx that is not a stream of events.
    fn no_stream(&self, headers: &HeaderMap, said: &ApiErrorBody) -> EngineError {
        if error_kind(&said.kind).is_some() {
            return self.reported_error(said);
        }
        let kind = header_text(headers, &header::CONTENT_TYPE);
        let kind = self.quoted(kind.unwrap_or("nothing that it names"));
        self.invalid_data(format_args!("it sends {kind} where a stream of events is due"))
    }

    fn request_id_text(&self, headers: &HeaderMap) -> String {
        let id = headers.get("request-id").and_then(|value| value.to_str().ok());
        let id = id.filter(|id| id.len() <= 100).map(|id| self.quoted(id));
        id.map(|id| format!(" (request {id})")).unwrap_or_default()
    }
}

/// Returns the error in a body: in the API's own format, or as a short text that is not HTML.
fn error_in_body(body: &[u8]) -> ApiErrorBody {
    if let Some(said) = ApiErrorBody::from_json(body) {
        return said;
    }
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start();
    let message = if text.starts_with('<') { String::new() } else { text.to_owned() };
    ApiErrorBody { kind: String::new(), message }
}

/// Returns the kind of error that a status means, given what the server says about it.
pub(crate) fn error_kind_of(status: u16, message: &str) -> EngineErrorKind {
    let said = ApiErrorBody { kind: String::new(), message: message.to_owned() };
    kind_of_status(status, &said).unwrap_or(EngineErrorKind::Nonsense)
}

/// Returns the kind of error; `None` if the status reports success.
fn kind_of_status(status: u16, said: &ApiErrorBody) -> Option<EngineErrorKind> {
    Some(match status {
        200..=299 => return None,
        401 | 403 => EngineErrorKind::Auth,
        // No wait brings back a quota that is used up.
        429 if said.kind == "insufficient_quota" => EngineErrorKind::Refused,
        429 => EngineErrorKind::RateLimit,
        529 => EngineErrorKind::Overloaded,
        // The same request may work later, as after an internal error of the server.
        408 | 409 | 425 => EngineErrorKind::Server,
        413 => EngineErrorKind::TooLong,
        400 if is_too_long(said) => EngineErrorKind::TooLong,
        400..=499 => EngineErrorKind::Refused,
        _ if error_kind(&said.kind) == Some(EngineErrorKind::Overloaded) => {
            EngineErrorKind::Overloaded
        }
        _ => EngineErrorKind::Server,
    })
}

/// Returns how long the server asks us to wait. A date is not parsed; the caller then chooses the
/// wait itself.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or(number("retry-after"))?;
    // A negative or immense number counts as none.
    Duration::try_from_secs_f64(seconds).ok().map(|wait| wait.min(LONGEST_WAIT))
}
