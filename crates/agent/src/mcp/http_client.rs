//! The HTTP client for servers on the network and for sign-ins to them.

use callgate_http::client_builder;
use reqwest::Client;

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
