//! What engines behind HTTP APIs share: one answer is one streamed request.
//!
//! The bytes that arrive are split into events (`crate::sse`), which an `EventDecoder` turns into
//! pieces; both are pure. `answer` and `client` do the waiting, and `error_composer` describes what
//! went wrong. The environment is not read here: neither keys nor addresses nor proxies come from
//! it.

mod answer;
mod api_key;
mod client;
mod error_composer;
mod model_list;
mod patience;
mod provider_tools;
pub(crate) mod tool_input;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName};

pub(crate) use answer::{ApiRequest, EventDecoder, StreamedAnswer};
pub use api_key::{ApiKey, BadApiKey};
pub(crate) use error_composer::{ErrorComposer, error_kind_of};
pub(crate) use model_list::{ListedModel, list_models};
pub(crate) use provider_tools::{AskedProvider, ProviderTools};
pub(crate) use tool_input::tool_input;

/// How long an answer may stay silent, unless the settings say otherwise.
pub const IDLE: Duration = Duration::from_mins(2);
/// The same for a server on this machine, which may read a long conversation for minutes.
pub const LOCAL_IDLE: Duration = Duration::from_mins(10);

/// The longest event, without its blank line. The APIs' own events are far shorter; this leaves
/// room for a whole block in one event.
pub(crate) const LONGEST_EVENT: usize = 4 * 1024 * 1024;

/// Puts a member before the others of a request's body, which is a JSON object with members.
pub(crate) fn with_member(body: &[u8], member: &str) -> Vec<u8> {
    [b"{", member.as_bytes(), b",", body.strip_prefix(b"{").unwrap_or(body)].concat()
}

/// The words of an API's settings, for error messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ApiWords {
    /// The API, such as `Messages API`.
    pub(crate) api: &'static str,
    /// The variable with the key.
    pub(crate) key: &'static str,
    /// The variable with the address.
    pub(crate) base_url: &'static str,
    /// The variable with the model.
    pub(crate) model: &'static str,
    /// What an address looks like.
    pub(crate) example: &'static str,
}

#[derive(Debug)]
pub(crate) struct ApiLink {
    pub(crate) client: client::LazyClient,
    pub(crate) errors: Arc<ErrorComposer>,
    pub(crate) idle: Duration,
}

impl ApiLink {
    /// Prepares the connection. Connects and reads from the disk only at the first request. Returns
    /// an error if the proxy URL is invalid.
    pub(crate) fn new(
        address: &Url,
        proxy: Option<&str>,
        key: Option<ApiKey>,
        words: &'static ApiWords,
        idle: Duration,
    ) -> Result<Self, String> {
        let client = client::LazyClient::new(address, proxy)?;
        let errors =
            Arc::new(ErrorComposer::new(address.origin().ascii_serialization(), key, words));
        Ok(Self { client, errors, idle })
    }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Parses a base URL, with or without a path or a trailing slash.
pub(crate) fn base_address(base: &str, words: &ApiWords) -> Result<Url, String> {
    let wrong = |reason: &str| {
        // The address is not repeated, because it may contain a secret.
        let ApiWords { base_url, example, .. } = words;
        format!("The base URL ({base_url}) {reason}; it should look like {example}")
    };
    let url =
        Url::parse(base.trim()).map_err(|error| wrong(&format!("is not an address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("contains a user or a password, which would be sent with the key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has a `?` or a `#`"));
    }
    Ok(url)
}
