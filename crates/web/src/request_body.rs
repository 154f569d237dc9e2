//! Reads the body of a request, within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::StatusCode;
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
