//! The engine for the Messages API.
//!
//! One answer is one streamed request. The request is serialised from the [`EngineCall`] without a
//! tree of JSON in between (`request`), the bytes that arrive are split into events (`sse`), and
//! these become pieces (`stream`); all three are pure. `answer` and `client` do the waiting, and
//! `error_composer` describes what went wrong.
//!
//! The environment is not read here: neither the key nor the address nor the proxy comes from it.

mod address;
mod answer;
mod client;
mod error_composer;
mod event;
mod patience;
mod request;
mod sse;
mod stream;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::HeaderValue;

use crate::engine::{AnswerStream, Engine, EngineCall, EngineError};
use address::ApiAddress;
use answer::AnthropicAnswer;
use client::LazyClient;
use error_composer::ErrorComposer;
use request::WrittenTurns;

/// The default address of the Messages API.
pub const API_URL: &str = "https://api.anthropic.com";

/// The default of [`AnthropicSettings::idle`].
pub const IDLE: Duration = Duration::from_mins(2);

/// The longest key.
const LONGEST_KEY: usize = 4096;

/// The settings of the engine.
#[derive(Debug, Clone)]
pub struct AnthropicSettings {
    /// The address of the API, such as [`API_URL`]; it may end with a path, a slash or `/v1`.
    pub base_url: String,
    /// The key.
    pub key: ApiKey,
    /// The model, as the provider names it.
    pub model: String,
    /// The address of an HTTP proxy.
    pub proxy: Option<String>,
    /// How long an answer may stay silent; it may consist of nothing but pings for five times as
    /// long.
    pub idle: Duration,
}

impl AnthropicSettings {
    /// Creates settings with the defaults.
    #[must_use]
    pub fn new(key: ApiKey, model: impl Into<String>) -> Self {
        let (base_url, model) = (API_URL.to_owned(), model.into());
        Self { base_url, key, model, proxy: None, idle: IDLE }
    }
}

/// An API key. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// Checks a key as the provider issued it; surrounding white space is ignored.
    pub fn new(text: &str) -> Result<Self, BadApiKey> {
        let text = text.trim();
        if text.is_empty()
            || text.len() > LONGEST_KEY
            || !text.bytes().all(|b| b.is_ascii_graphic())
        {
            return Err(BadApiKey);
        }
        Ok(Self(text.into()))
    }

    fn text(&self) -> &str {
        &self.0
    }

    fn header(&self) -> HeaderValue {
        // Every valid key is a valid header value.
        let mut value =
            HeaderValue::from_str(&self.0).unwrap_or_else(|_| HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// The error for a text that is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the API key is invalid: a key is a single word of plain characters; copy it again from the \
     provider into ANTHROPIC_API_KEY"
)]
pub struct BadApiKey;

/// The error for settings with which no engine can be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAnthropicSettings(String);

/// The engine.
#[derive(Debug)]
pub struct Anthropic {
    link: Arc<ApiLink>,
}

/// The state that all answers share.
#[derive(Debug)]
struct ApiLink {
    settings: AnthropicSettings,
    address: ApiAddress,
    client: LazyClient,
    errors: Arc<ErrorComposer>,
    /// The serialised messages of the last request.
    written: Mutex<WrittenTurns>,
}

impl ApiLink {
    /// Serialises the body of a request.
    fn body(&self, call: &EngineCall) -> Result<Vec<u8>, EngineError> {
        // A request that panicked may have left incomplete turns.
        let mut written = match self.written.lock() {
            Ok(written) => written,
            Err(poisoned) => {
                let mut written = poisoned.into_inner();
                *written = WrittenTurns::default();
                written
            }
        };
        request::body(call, &self.settings.model, &mut written)
    }
}

impl Anthropic {
    /// Validates the settings. Connects and reads from the disk only at the first answer.
    pub fn new(settings: AnthropicSettings) -> Result<Self, BadAnthropicSettings> {
        if settings.model.trim().is_empty() {
            return Err(BadAnthropicSettings(
                "No model is set: set one in ANTHROPIC_MODEL".to_owned(),
            ));
        }
        let address = ApiAddress::read(&settings.base_url).map_err(BadAnthropicSettings)?;
        let client =
            LazyClient::new(&address, settings.proxy.as_deref()).map_err(BadAnthropicSettings)?;
        let errors = Arc::new(ErrorComposer::new(address.origin.clone(), settings.key.clone()));
        Ok(Self {
            link: Arc::new(ApiLink {
                settings,
                address,
                client,
                errors,
                written: Mutex::default(),
            }),
        })
    }
}

impl Engine for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn model(&self) -> &str {
        &self.link.settings.model
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        Box::new(AnthropicAnswer::new(Arc::clone(&self.link), call))
    }
}

#[cfg(test)]
mod tests;
