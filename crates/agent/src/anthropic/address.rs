//! Where the Messages API is.

use reqwest::Url;

/// The address of the API.
#[derive(Debug, Clone)]
pub(super) struct ApiAddress {
    /// Where messages are sent to.
    pub(super) messages: Url,
    /// The server alone, for people.
    pub(super) origin: String,
}

impl ApiAddress {
    /// Reads a base URL, with or without a path, a slash at its end, or the `/v1` that belongs to
    /// the call.
    pub(super) fn read(base: &str) -> Result<Self, String> {
        let mut url = Url::parse(base.trim())
            .map_err(|error| wrong(&format!("is not an address ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("holds a user or a password, which would be sent with the key"));
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

/// Returns the address itself is not told: what is wrong with it may be a secret in it.
fn wrong(why: &str) -> String {
    format!("The base URL (ANTHROPIC_BASE_URL) {why}; it looks like {}", super::API_URL)
}
