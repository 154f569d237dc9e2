//! The key of an API.

use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderValue;

const LONGEST_KEY: usize = 4096;

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

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn header(&self) -> HeaderValue {
        sensitive_value(&self.0)
    }

    pub(crate) fn bearer(&self) -> HeaderValue {
        sensitive_value(&format!("Bearer {}", self.0))
    }
}

fn sensitive_value(text: &str) -> HeaderValue {
    // Every valid key is a valid header value.
    let mut value = HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the API key is invalid: a key is a single word of plain characters; copy it again from the \
     provider"
)]
pub struct BadApiKey;
