//! The HTTP client, created when it is first needed.

use std::sync::{Arc, OnceLock};

use callgate_http::client_builder;
use reqwest::{Client, Proxy, Url};

use super::ApiLink;
use super::error_composer::ErrorComposer;
use crate::engine::EngineError;

/// A client that is created at its first use, because reading the root certificates takes a while.
#[derive(Debug)]
pub(crate) struct LazyClient {
    proxy: Option<Proxy>,
    /// Whether neither the address nor the proxy uses TLS.
    is_plain: bool,
    client: OnceLock<Client>,
}

impl LazyClient {
    /// Returns an error if the proxy URL is invalid. The error does not contain the URL, which may
    /// contain a password.
    pub(super) fn new(address: &Url, proxy: Option<&str>) -> Result<Self, String> {
        let is_plain = |url: &Url| url.scheme() == "http";
        let mut way = is_plain(address);
        let read = |text: &str| {
            // A proxy with TLS needs the root certificates even if the server does not.
            way &= Url::parse(text).is_ok_and(|url| is_plain(&url));
            Proxy::all(text).map_err(|_| {
                "The proxy is not a valid address; it should look like http://localhost:3128"
                    .to_owned()
            })
        };
        let proxy = proxy.map(read).transpose()?;
        Ok(Self { proxy, is_plain: way, client: OnceLock::new() })
    }

    /// Returns true if creating the client would take a while.
    pub(crate) fn is_slow(&self) -> bool {
        !self.is_plain && self.client.get().is_none()
    }

    /// Returns the client of a connection. One that takes a while is created on another thread.
    pub(super) async fn ready(link: &Arc<ApiLink>) -> Result<&Client, EngineError> {
        if link.client.is_slow() {
            let link = Arc::clone(link);
            let create = move || link.client.get(&link.errors).map(drop);
            // If there is no thread, the client is created below, on this one.
            if let Ok(Err(error)) = tokio::task::spawn_blocking(create).await {
                return Err(error);
            }
        }
        link.client.get(&link.errors)
    }

    pub(crate) fn get(&self, errors: &ErrorComposer) -> Result<&Client, EngineError> {
        self.get_or_build(|| self.build_client().map_err(|error| errors.no_client(error)))
    }

    /// Returns the client. A failure is not kept: what is missing may be there at the next request.
    fn get_or_build(
        &self,
        build: impl FnOnce() -> Result<Client, EngineError>,
    ) -> Result<&Client, EngineError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = build()?;
        Ok(self.client.get_or_init(|| client))
    }

    fn build_client(&self) -> reqwest::Result<Client> {
        let mut client = client_builder();
        if self.is_plain {
            // Nothing will be verified, so no root certificate is read.
            client = client.tls_certs_only([]);
        }
        if let Some(proxy) = &self.proxy {
            client = client.proxy(proxy.clone());
        }
        client.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_could_not_be_created_is_created_at_the_next_request() {
        let address = Url::parse("http://127.0.0.1").unwrap();
        let client = LazyClient::new(&address, None).unwrap();
        let failed =
            client.get_or_build(|| Err(EngineError::refused("no certificates".to_owned())));
        assert!(failed.is_err());
        assert!(client.get_or_build(|| Ok(client.build_client().unwrap())).is_ok());
        let failed =
            client.get_or_build(|| Err(EngineError::refused("no certificates".to_owned())));
        assert!(failed.is_ok(), "it is created once");
    }
}
