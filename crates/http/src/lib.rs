//! The HTTP client of callgate: the one place that decides how services are reached.
//!
//! It is a crate of its own so that only those who talk to a service depend on HTTP and TLS.

mod address;
mod fetch_error;
mod fetched_text;
mod proxy_choice;
mod team_service;

use std::time::Duration;

use reqwest::{Client, ClientBuilder, Response, redirect};

pub use address::{is_loopback, is_private};
pub use fetch_error::FetchError;
pub use fetched_text::{TextSource, form_text};
pub use proxy_choice::ProxyChoice;
pub use team_service::{ServiceAnswer, ServiceError, TeamService};

/// How long a connection may take to be made.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How often an idle connection is checked.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Returns a builder for a client that follows no redirect, retries nothing, and uses no proxy
/// unless it is given one.
pub fn client_builder() -> ClientBuilder {
    // An error means that there is a provider already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_LIMIT)
        .tcp_keepalive(KEEPALIVE)
        // A redirect would carry a key or a token somewhere else.
        .redirect(redirect::Policy::none())
        // Only whoever calls knows whether a request may be made twice.
        .retry(reqwest::retry::never())
        // A variable that somebody has set for another purpose must not lead a conversation
        // elsewhere, and its key with it.
        .no_proxy()
}

/// Reads up to `most` bytes of a body into `body`. Returns false if there are more. What has
/// arrived before an error, or before the future is dropped, is in `body`.
pub async fn read_body(
    response: &mut Response,
    body: &mut Vec<u8>,
    most: usize,
) -> reqwest::Result<bool> {
    while let Some(chunk) = response.chunk().await? {
        let taken = chunk.len().min(most - body.len());
        body.extend_from_slice(&chunk[..taken]);
        if taken < chunk.len() {
            return Ok(false);
        }
    }
    Ok(true)
}
