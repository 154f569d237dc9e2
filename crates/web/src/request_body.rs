//! The bodies of requests, read within limits of size and time, and those of answers.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::refusal::HttpRefusal;

/// Reads a body of at most `limit` bytes, which must arrive within this time.
pub(crate) async fn read_within_limits(
    body: Body,
    limit: usize,
    within: Duration,
) -> Result<Bytes, HttpRefusal> {
    let too_large = || HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
    // A body that is announced as too large is not read at all.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let late = || HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the request took too long");
    let read = timeout(within, to_bytes(body, limit)).await.map_err(|_| late())?;
    // The other reason is a browser that has gone, which reads no answer.
    read.map_err(|_| too_large())
}

/// Reads a JSON body. If it is none, or has not the right members, `expected` is the refusal.
pub(crate) async fn read_json<T: DeserializeOwned>(
    body: Body,
    limit: usize,
    within: Duration,
    expected: &'static str,
) -> Result<T, HttpRefusal> {
    let body = read_within_limits(body, limit, within).await?;
    serde_json::from_slice(&body).map_err(|_| HttpRefusal::bad_request(expected))
}

pub(crate) fn json_response(body: &impl Serialize) -> Response {
    // All bodies are made of texts, which can always be written.
    let body = serde_json::to_string(body).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
