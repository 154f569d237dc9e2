//! The headers that every answer has, and the key in those of a request.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// What the page may load and do: its own files and requests, and nothing inline. A text of an
/// agent that became an element by mistake could run nothing and send nothing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; require-trusted-types-for 'script'; \
    trusted-types lit-html; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Adds the headers that keep other sites away from the page, and the page from everything else.
pub(crate) fn add_protection(headers: &mut HeaderMap) {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What the desk answers is kept nowhere; the files say for themselves how long they are good.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Returns the key or token that a request shows.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}
