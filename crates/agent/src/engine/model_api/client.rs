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
    client: OnceLock<Result<Client, EngineError>>,
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
            // If there is no thread, the client is created below, on this one.
            let create = move || link.client.get(&link.errors).is_ok();
            let _ = tokio::task::spawn_blocking(create).await;
        }
        link.client.get(&link.errors)
    }

    pub(crate) fn get(&self, errors: &ErrorComposer) -> Result<&Client, EngineError> {
        let client =
            self.client.get_or_init(|| self.build_client().map_err(|e| errors.no_client(e)));
        client.as_ref().map_err(Clone::clone)
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
