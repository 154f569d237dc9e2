//! A text at an address, fetched again and again.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url};

use crate::fetch_error::explain_failure;
use crate::{FetchError, ProxyChoice, client_builder, is_private, read_body};

/// How long a fetch may take, from the connection to the last byte.
const FETCH_LIMIT: Duration = Duration::from_secs(20);

/// Where a text is.
#[derive(Debug, Clone)]
pub struct TextSource {
    url: Url,
    client: Client,
    limit: Duration,
}

impl TextSource {
    /// Creates the source at an address.
    pub fn new(url: &str, proxy: &ProxyChoice) -> Result<Self, FetchError> {
        let url = Url::parse(url).map_err(|_| FetchError::Address)?;
        if !is_private(&url) {
            return Err(FetchError::Address);
        }
        let client = proxy.apply_to(client_builder(), &url)?.build();
        let client = client.map_err(|error| explain_failure(&error))?;
        Ok(Self { url, client, limit: FETCH_LIMIT })
    }

    /// Fetches the text, of at most `most` bytes.
    pub async fn fetch(&self, most: usize) -> Result<String, FetchError> {
        let fetched = tokio::time::timeout(self.limit, self.fetch_bytes(most)).await;
        let bytes = fetched.map_err(|_| FetchError::TooSlow)??;
        String::from_utf8(bytes).map_err(|_| FetchError::NotText)
    }

    async fn fetch_bytes(&self, most: usize) -> Result<Vec<u8>, FetchError> {
        let response = self.client.get(self.url.clone()).send().await;
        let mut response = response.map_err(|error| explain_failure(&error))?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let mut body = Vec::new();
        match read_body(&mut response, &mut body, most).await {
            Ok(true) => Ok(body),
            Ok(false) => Err(FetchError::TooLarge(most)),
            Err(error) => Err(explain_failure(&error)),
        }
    }
}

#[cfg(test)]
mod tests;
