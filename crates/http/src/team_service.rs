//! The desk of a team as a service: one request to join, and a connection that stays.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, UPGRADE};
use reqwest::{Certificate, Client, Response, StatusCode, Upgraded, Url};

use crate::fetch_error::explain_failure;
use crate::{FetchError, ProxyChoice, client_builder, read_body};

/// How long a request may take, and how long a connection until it is open.
const REQUEST_LIMIT: Duration = Duration::from_secs(20);
/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub struct TeamService {
    url: Url,
    client: Client,
}

/// An answer other than a connection.
#[derive(Debug, Clone)]
pub struct ServiceAnswer {
    pub status: StatusCode,
    pub text: String,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Failed(#[from] FetchError),
    /// The service has answered something else.
    #[error("the server answered {}", .0.status)]
    Refused(ServiceAnswer),
}

impl TeamService {
    /// Creates the service at an address, which has to begin with `https://`. If an `authority` is
    /// given, as DER, only certificates that it has signed count.
    pub fn new(
        address: &str,
        authority: Option<&[u8]>,
        proxy: &ProxyChoice,
    ) -> Result<Self, FetchError> {
        let url = Url::parse(address).map_err(|_| FetchError::Address)?;
        // On this machine, too, because the desk of a team speaks TLS only.
        if url.scheme() != "https" {
            return Err(FetchError::Address);
        }
        // The line is an upgraded connection, which is a part of HTTP/1.1.
        let mut client = proxy.apply_to(client_builder(), &url)?.http1_only();
        if let Some(authority) = authority {
            let authority = Certificate::from_der(authority);
            client = client.tls_certs_only([authority.map_err(|_| FetchError::Certificate)?]);
        }
        let client = client.build().map_err(|error| explain_failure(&error))?;
        Ok(Self { url, client })
    }

    /// Sends a JSON text to a path.
    pub async fn post_json(&self, path: &str, json: String) -> Result<ServiceAnswer, FetchError> {
        let request = self.client.post(self.address_of(path)?);
        let request = request.header(CONTENT_TYPE, "application/json").body(json);
        let answered = async { read_answer(send_request(request).await?).await };
        let answered = tokio::time::timeout(REQUEST_LIMIT, answered).await;
        answered.map_err(|_| FetchError::TooSlow)?
    }

    /// Opens a lasting connection of this protocol at a path, with a token and the header that has
    /// the number of the line.
    pub async fn open_line(
        &self,
        path: &str,
        protocol: &'static str,
        token: &str,
        number: (&'static str, &str),
    ) -> Result<Upgraded, ServiceError> {
        let request = self.client.get(self.address_of(path)?);
        let request = request
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, protocol)
            .header(number.0, number.1);
        let opened = async {
            let response = send_request(request).await?;
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                return Ok(response.upgrade().await.map_err(|error| explain_failure(&error))?);
            }
            Err(ServiceError::Refused(read_answer(response).await?))
        };
        let opened = tokio::time::timeout(REQUEST_LIMIT, opened).await;
        opened.map_err(|_| FetchError::TooSlow)?
    }

    fn address_of(&self, path: &str) -> Result<Url, FetchError> {
        self.url.join(path).map_err(|_| FetchError::Address)
    }
}

async fn send_request(request: reqwest::RequestBuilder) -> Result<Response, FetchError> {
    request.send().await.map_err(|error| explain_failure(&error))
}

async fn read_answer(mut response: Response) -> Result<ServiceAnswer, FetchError> {
    let status = response.status();
    let mut body = Vec::new();
    match read_body(&mut response, &mut body, LONGEST_ANSWER).await {
        Ok(true) => {
            let text = String::from_utf8(body).map_err(|_| FetchError::NotText)?;
            Ok(ServiceAnswer { status, text })
        }
        Ok(false) => Err(FetchError::TooLarge(LONGEST_ANSWER)),
        Err(error) => Err(explain_failure(&error)),
    }
}
