//! The address of the Messages API.

use reqwest::Url;

/// The address of the API.
#[derive(Debug, Clone)]
pub(super) struct ApiAddress {
    /// The URL to which messages are sent.
    pub(super) messages: Url,
    /// The server without a path, for error messages.
    pub(super) origin: String,
}

impl ApiAddress {
    /// Parses a base URL, with or without a path, a trailing slash, or the `/v1` that belongs to
    /// the call.
    pub(super) fn read(base: &str) -> Result<Self, String> {
        let mut url = Url::parse(base.trim())
            .map_err(|error| wrong(&format!("is not an address ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("contains a user or a password, which would be sent with the key"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("has a `?` or a `#`"));
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1/messages").or(path.strip_suffix("/v1")).unwrap_or(path);
        let path = format!("{path}/v1/messages");
        url.set_path(&path);
        Ok(Self { origin: url.origin().ascii_serialization(), messages: url })
    }
}

/// Returns the error for an invalid address. It does not contain the address, which may contain a
/// secret.
fn wrong(reason: &str) -> String {
    format!("The base URL (ANTHROPIC_BASE_URL) {reason}; it should look like {}", super::API_URL)
}
