//! The address of an API.

use reqwest::Url;

use super::ApiWords;

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

/// Returns the server without a path, for error messages.
pub(crate) fn origin_of(address: &Url) -> String {
    address.origin().ascii_serialization()
}
