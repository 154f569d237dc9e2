//! Which addresses lead to this machine, and on the way to which nobody can read along.

use std::net::IpAddr;

use reqwest::Url;

/// Returns true if an address leads to this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    // Compared as a whole: a name that only begins like this belongs to another machine.
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns true if nobody can read along on the way to an address.
pub fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}
