//! The HTTP client for servers on the network and for sign-ins to them, and their addresses.

use callgate_http::client_builder;
use reqwest::{Client, Url};

/// Creates an HTTP client, without encryption for this machine. It may block.
pub(super) fn http_client(proxy: Option<&str>, is_plain: bool) -> Result<Client, String> {
    let mut builder = client_builder();
    if is_plain {
        // Nothing will be verified, so no root certificate is read.
        builder = builder.tls_certs_only([]);
    } else if let Some(proxy) = proxy {
        let proxy = reqwest::Proxy::all(proxy).map_err(|_| "the proxy is not a valid address")?;
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|error| error.to_string())
}

/// Returns true if nothing that goes to an address is encrypted.
pub(super) fn is_plain(url: &Url) -> bool {
    url.scheme() == "http"
}

/// Returns true if an address holds a name or a password, which would hide its host.
pub(super) fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns an address in the form in which sign-ins name it, however it is written.
pub fn normal_address(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_in_capitals_is_plain_too() {
        let is_plain = |url: &str| is_plain(&Url::parse(url).unwrap());
        assert!(is_plain("http://127.0.0.1/mcp") && is_plain("HTTP://127.0.0.1/mcp"));
        assert!(!is_plain("https://127.0.0.1/mcp") && !is_plain("HTTPS://127.0.0.1/mcp"));
    }
}
