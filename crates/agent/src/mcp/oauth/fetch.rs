//! The HTTP requests of a sign-in: short answers, in a short time, and no redirect.

use std::sync::Arc;
use std::time::Duration;

use callgate_http::{form_text, read_body};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::mcp::http_client::{http_client, is_plain};

/// The longest answer, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;
/// How long a request may take, with its answer.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The HTTP client of sign-ins. Clones share their connections.
#[derive(Clone)]
pub(super) struct SignInClient(Arc<ClientParts>);

struct ClientParts {
    proxy: Option<String>,
    /// The client without encryption, for this machine.
    plain: OnceCell<Client>,
    encrypted: OnceCell<Client>,
}

pub(super) struct SignInReply {
    pub(super) status: StatusCode,
    /// Its body, or null if it is not JSON.
    pub(super) body: Value,
}

impl SignInClient {
    pub(super) fn new(proxy: Option<String>) -> Self {
        let (plain, encrypted) = (OnceCell::new(), OnceCell::new());
        Self(Arc::new(ClientParts { proxy, plain, encrypted }))
    }

    /// Returns the client for an address. Making it reads root certificates.
    pub(super) async fn client(&self, url: &Url) -> Result<Client, String> {
        let is_plain = is_plain(url);
        let cell = if is_plain { &self.0.plain } else { &self.0.encrypted };
        let proxy = self.0.proxy.clone();
        let make = || async move {
            let make = move || http_client(proxy.as_deref(), is_plain);
            tokio::task::spawn_blocking(make).await.map_err(|error| error.to_string())?
        };
        cell.get_or_try_init(make).await.cloned()
    }

    pub(super) async fn get(&self, url: &Url) -> Result<SignInReply, String> {
        let request = self.client(url).await?.get(url.clone());
        send_request(url, request).await
    }

    pub(super) async fn post_json(&self, url: &Url, body: &Value) -> Result<SignInReply, String> {
        let request = self.client(url).await?.post(url.clone()).json(body);
        send_request(url, request).await
    }

    /// Posts a form, with the name and the secret of a client if it has to show them.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        basic: Option<(&str, &str)>,
    ) -> Result<SignInReply, String> {
        let mut request = self.client(url).await?.post(url.clone());
        if let Some((name, secret)) = basic {
            // The specification has both encoded as in a form. A field without a name is its value,
            // after a `=`.
            let [name, secret] = [name, secret].map(|text| form_text(&[("", text)]));
            let bare = |field: &str| field.trim_start_matches('=').to_owned();
            request = request.basic_auth(bare(&name), Some(bare(&secret)));
        }
        let request = request
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form_text(fields));
        send_request(url, request).await
    }
}

/// Sends a request. The error names the host and nothing that was sent.
async fn send_request(url: &Url, request: RequestBuilder) -> Result<SignInReply, String> {
    let host = url.host_str().unwrap_or_default();
    let answer = async {
        let request = request.header(ACCEPT, "application/json");
        let mut response = request.send().await.map_err(|_| format!("{host} cannot be reached"))?;
        let status = response.status();
        // Followed, it could take a code or a secret to somebody else.
        if status.is_redirection() {
            return Err(format!("{host} answers with a redirect, which is not followed"));
        }
        let mut body = Vec::new();
        let is_whole = read_body(&mut response, &mut body, LONGEST_ANSWER).await;
        if !is_whole.map_err(|_| format!("{host} has broken off its answer"))? {
            return Err(format!("the answer of {host} is longer than 64 KiB"));
        }
        Ok(SignInReply { status, body: serde_json::from_slice(&body).unwrap_or_default() })
    };
    let late = |_| Err(format!("{host} has not answered within 10 s"));
    timeout(ANSWER_WITHIN, answer).await.unwrap_or_else(late)
}
