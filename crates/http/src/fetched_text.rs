//! A text at an address, fetched again and again.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, StatusCode, Url};

use crate::fetch_error::explain_failure;
use crate::{FetchError, ProxyChoice, client_builder, is_private, read_body};

/// How long a fetch may take, from the connection to the last byte.
const FETCH_LIMIT: Duration = Duration::from_secs(20);

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
        self.read_text(self.client.get(self.url.clone()), most).await
    }

    /// Sends a form, with a name and a password if they are needed, and returns the text of the
    /// answer, of at most `most` bytes.
    pub async fn post_form(
        &self,
        fields: &[(&str, &str)],
        login: Option<(&str, &str)>,
        most: usize,
    ) -> Result<String, FetchError> {
        let mut request = self.client.post(self.url.clone());
        if let Some((name, password)) = login {
            request = request.basic_auth(name, Some(password));
        }
        let request = request
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form_text(fields));
        self.read_text(request, most).await
    }

    async fn read_text(&self, request: RequestBuilder, most: usize) -> Result<String, FetchError> {
        // The limit is for all of it, because a server could also send one byte after the other for
        // ever.
        let fetched = tokio::time::timeout(self.limit, fetch_bytes(request, most)).await;
        let bytes = fetched.map_err(|_| FetchError::TooSlow)??;
        String::from_utf8(bytes).map_err(|_| FetchError::NotText)
    }
}

pub fn form_text(fields: &[(&str, &str)]) -> String {
    // A query is encoded as a form is; nothing else of this address is used.
    let Ok(mut url) = Url::parse("http://localhost/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

async fn fetch_bytes(request: RequestBuilder, most: usize) -> Result<Vec<u8>, FetchError> {
    let response = request.send().await;
    let mut response = response.map_err(|error| explain_failure(&error))?;
    // A redirect is not followed, and so is an error here.
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

#[cfg(test)]
mod tests;
