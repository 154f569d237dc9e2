//! Which addresses may get what is secret. Pure.

pub(super) use callgate_http::{is_loopback, is_private};
use reqwest::Url;

/// Returns true if an address holds a name or a password, which would hide its host.
pub(super) fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns an address in the form in which sign-ins name it, however it is written.
pub fn normal_address(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.to_string())
}
