//! The proxy of this machine, and what is reached without it.

use reqwest::{ClientBuilder, NoProxy, Proxy, Url};

use crate::{FetchError, is_loopback};

/// The proxy through which services are reached, if there is one.
#[derive(Debug, Clone, Default)]
pub struct ProxyChoice {
    /// The proxy's address.
    pub proxy: Option<String>,
    /// The names and networks that are reached without it, as `NO_PROXY` lists them.
    pub exempt: Option<String>,
}

impl ProxyChoice {
    /// Configures a client to reach a service in this way. What is on this machine is reached
    /// directly.
    pub(crate) fn apply_to(
        &self,
        client: ClientBuilder,
        url: &Url,
    ) -> Result<ClientBuilder, FetchError> {
        // A proxy elsewhere would look for the service on its own machine.
        let Some(proxy) = self.proxy.as_ref().filter(|_| !is_loopback(url)) else {
            return Ok(client);
        };
        let proxy = Proxy::all(proxy).map_err(|_| FetchError::Proxy)?;
        let exempt = self.exempt.as_deref().and_then(NoProxy::from_string);
        Ok(client.proxy(proxy.no_proxy(exempt)))
    }
}
