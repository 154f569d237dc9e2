//! Which texts are addresses, as settings have them.

use std::net::SocketAddr;

/// Returns true for an address on which a socket can listen.
pub(crate) fn is_listen(text: &str) -> bool {
    text.parse::<SocketAddr>().is_ok()
}

/// Returns true for the address of an issuer, which may be plain on this machine.
pub(crate) fn is_issuer(text: &str) -> bool {
    let is_local = text.starts_with("http://127.0.0.1") || text.starts_with("http://localhost");
    (text.starts_with("https://") || is_local) && is_plain_text(text)
}

/// Returns true for a text without spaces and hidden characters.
pub(crate) fn is_plain_text(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns true for a host and a port.
pub(crate) fn is_host(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| {
        !host.is_empty() && host.bytes().all(is_plain) && port.parse::<u16>().is_ok()
    })
}
