//! Answers to requests that are refused.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use callgate_client::DeskError;
use serde_json::json;

/// Why a request is refused: the status and the words of the answer. The words contain nothing
/// from the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpRefusal {
    status: StatusCode,
    text: Cow<'static, str>,
    retry_after: Option<Duration>,
}

impl HttpRefusal {
    pub(crate) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self { status, text: text.into(), retry_after: None }
    }

    pub(crate) fn bad_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The refusal of a request that may be made again after this time.
    pub(crate) fn too_many(text: &'static str, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(StatusCode::TOO_MANY_REQUESTS, text) }
    }

    /// The refusal of a request that the desk does not answer.
    pub(crate) fn no_desk(why: &dyn std::fmt::Display) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, format!("the desk does not answer: {why}"))
    }
}

impl From<DeskError> for HttpRefusal {
    fn from(error: DeskError) -> Self {
        Self::no_desk(&error)
    }
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.text }).to_string();
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, [(header::CONTENT_TYPE, json)], body).into_response();
        if let Some(wait) = self.retry_after {
            // The header has whole seconds, and zero would mean at once.
            let seconds = wait.as_secs().max(1);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_whole_seconds() {
        let response = HttpRefusal::too_many("Wait.", Duration::from_millis(300)).into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }
}
