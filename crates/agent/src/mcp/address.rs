//! Which addresses may get what is secret. Pure.

use std::net::IpAddr;

use reqwest::Url;

/// Returns true if an address leads to this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns true if nobody can read along on the way to an address.
pub(super) fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

/// Returns true if an address holds a name or a password, which would hide its host.
pub(super) fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns an address in the form in which sign-ins name it, however it is written.
pub fn normal_address(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.to_string())
}
