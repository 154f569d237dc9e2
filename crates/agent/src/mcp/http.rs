//! A server on the network, by streamable HTTP.
//!
//! rmcp's own client reads a body of any length into memory. This one has a limit for each answer,
//! whatever form it comes in; a request whose answer is longer fails, and the connection stays.

use std::collections::HashMap;
use std::sync::Arc;

use callgate_http::read_body;
use futures_util::{StreamExt, stream};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::http_client::{http_client, is_plain};
use super::oauth::ServerAccess;
use super::{LONGEST_MESSAGE, McpSurroundings, ServerContext, TOO_LONG, Warning};
use crate::sse::{SseDecoder, SseEvent};

/// The name of the header that names the session, as names are compared.
const SESSION_HEADER: &str = "mcp-session-id";
/// The name of the header that names the last event that has arrived.
const LAST_EVENT_HEADER: &str = "last-event-id";
/// The headers of the protocol, which settings may not replace.
const RESERVED: [&str; 3] = ["accept", LAST_EVENT_HEADER, SESSION_HEADER];

type HttpResult<T> = Result<T, StreamableHttpError<reqwest::Error>>;
type CustomHeaders = HashMap<HeaderName, HeaderValue>;

/// Creates the transport to a server. It may block, because root certificates are read.
pub(super) fn http_transport(
    context: &ServerContext,
    url: &str,
    headers: &[(String, String)],
    access: Option<Arc<ServerAccess>>,
) -> Result<StreamableHttpClientTransport<BoundedHttpClient>, String> {
    let McpSurroundings { proxy, warn, .. } = &context.around;
    // By the parsed address: a scheme may be written in capitals, too.
    let client = http_client(proxy.as_deref(), Url::parse(url).is_ok_and(|url| is_plain(&url)))?;
    let client = BoundedHttpClient { client, warn: Arc::clone(warn), access };
    let mut custom = CustomHeaders::new();
    for (name, value) in headers {
        let wrong = || format!("the header {name:?} is not one that can be sent");
        let header = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        if RESERVED.contains(&header.as_str()) {
            return Err(format!("the header {name:?} is reserved for the protocol: remove it"));
        }
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        // It is mostly a key, which nothing may print.
        value.set_sensitive(true);
        custom.insert(header, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned())
        .custom_headers(custom)
        .max_sse_event_size(LONGEST_MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// An HTTP client for rmcp that reads no more than [`LONGEST_MESSAGE`] bytes of an answer.
#[derive(Clone)]
pub(super) struct BoundedHttpClient {
    client: Client,
    warn: Warning,
    /// The way into the server, unless its settings have one.
    access: Option<Arc<ServerAccess>>,
}

impl StreamableHttpClient for BoundedHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: CustomHeaders,
    ) -> HttpResult<StreamableHttpPostResponse> {
        let accepted = [EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].join(", ");
        let request = self.client.post(&*uri).header(ACCEPT, accepted).json(&message);
        let mut request = with_headers(request, custom_headers);
        if let Some(session) = &session_id {
            request = request.header(SESSION_HEADER, &**session);
        }
        let post = PostedMessage { message, has_session: session_id.is_some() };
        post.read_response(self.send(request).await?).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        custom_headers: CustomHeaders,
    ) -> HttpResult<()> {
        let token = match &self.access {
            Some(access) => access.token().await.map(|token| token.reveal().to_owned()),
            None => None,
        };
        self.client.delete_session(uri, session, token, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: CustomHeaders,
    ) -> HttpResult<BoxedSseResponse> {
        let mut request = self.client.get(&*uri).header(ACCEPT, EVENT_STREAM_MIME_TYPE);
        if let Some(session) = &session_id {
            request = request.header(SESSION_HEADER, &**session);
        }
        if let Some(last) = last_event_id {
            request = request.header(LAST_EVENT_HEADER, last);
        }
        let response = self.send(with_headers(request, custom_headers)).await?;
        // The specified answer of a server that sends nothing by itself.
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let response = response.error_for_status()?;
        let kind = header_text(&response, CONTENT_TYPE.as_str());
        if !kind.as_ref().is_some_and(|kind| kind.starts_with(EVENT_STREAM_MIME_TYPE)) {
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        Ok(self.passing_events(response))
    }
}

impl BoundedHttpClient {
    /// Sends a request with the token of the sign-in, and once more if that was renewed because the
    /// server has refused it.
    async fn send(&self, request: RequestBuilder) -> HttpResult<Response> {
        let Some(access) = &self.access else { return Ok(request.send().await?) };
        // One whose body cannot be copied is sent once.
        let (mut request, mut again) = (request.try_clone(), Some(request));
        if request.is_none() {
            request = again.take();
        }
        // Twice at most, because `again` is used up by the first refusal.
        while let Some(sent) = request {
            let token = access.token().await;
            let sent = match &token {
                Some(token) => sent.bearer_auth(token.reveal()),
                None => sent,
            };
            let response = sent.send().await?;
            let (status, headers) = (response.status(), response.headers());
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Ok(response);
            }
            request = again.take();
            let renewed = token.as_ref().filter(|_| request.is_some());
            if !access.handle_refusal(renewed, status, headers).await {
                let is_wanted = access.is_refused();
                return if is_wanted { Err(sign_in_wanted()) } else { Ok(response) };
            }
        }
        Err(sign_in_wanted())
    }

    /// Returns the events that a server sends by itself. One that is too long is left out, and the
    /// stream goes on.
    fn passing_events(&self, response: Response) -> BoxedSseResponse {
        let warn = Arc::clone(&self.warn);
        response_events(response, move || {
            warn("an MCP server has sent an event of more than 32 MiB, which was left out");
            None
        })
    }
}

fn with_headers(request: RequestBuilder, headers: CustomHeaders) -> RequestBuilder {
    headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// A message on its way to the server.
struct PostedMessage {
    message: ClientJsonRpcMessage,
    has_session: bool,
}

impl PostedMessage {
    async fn read_response(&self, response: Response) -> HttpResult<StreamableHttpPostResponse> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        // The specification's sign that the session is over and a new one may begin.
        if status == StatusCode::NOT_FOUND && self.has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let kind = header_text(&response, CONTENT_TYPE.as_str());
        let is =
            |kind: &Option<String>, of: &str| kind.as_ref().is_some_and(|it| it.starts_with(of));
        let session = header_text(&response, SESSION_HEADER);
        if status.is_success() && is(&kind, EVENT_STREAM_MIME_TYPE) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        let (mut response, mut body) = (response, Vec::new());
        if !read_body(&mut response, &mut body, LONGEST_MESSAGE).await? {
            return self.too_long(session);
        }
        if !status.is_success() {
            return self.handle_refusal(status, &body);
        }
        match serde_json::from_slice(&body) {
            Ok(answer) if is(&kind, JSON_MIME_TYPE) => {
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            // Nothing is expected in return for a notification.
            _ if self.request_id().is_none() => Ok(StreamableHttpPostResponse::Accepted),
            Ok(_) => Err(StreamableHttpError::UnexpectedContentType(kind)),
            Err(error) => {
                Err(unexpected_response(format!("an answer that cannot be read: {error}")))
            }
        }
    }

    /// Returns the id of a request; a notification has none.
    fn request_id(&self) -> Option<RequestId> {
        match &self.message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        }
    }

    /// Returns what replaces an answer over the limit.
    fn too_long(&self, session: Option<String>) -> HttpResult<StreamableHttpPostResponse> {
        let Some(id) = self.request_id() else {
            return Err(unexpected_response(TOO_LONG.to_owned()));
        };
        let answer = failed_answer(ErrorData::internal_error(TOO_LONG, None), id);
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    /// Returns the error of an answer that has the status of one. The error in its body is the
    /// server's own; a server that does not know the question about its versions has none, and is
    /// asked in the older way.
    fn handle_refusal(
        &self,
        status: StatusCode,
        body: &[u8],
    ) -> HttpResult<StreamableHttpPostResponse> {
        let is_about_access = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let words = format!("HTTP {status}: {}", String::from_utf8_lossy(body));
        let is_discovery = matches!(&self.message, ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)));
        let error = match serde_json::from_slice(body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
            _ if is_discovery && status.is_client_error() && !self.has_session => {
                Some(ErrorData::invalid_request(words.clone(), None))
            }
            _ => None,
        };
        match (error, self.request_id()) {
            (Some(error), Some(id)) if !is_about_access => {
                Ok(StreamableHttpPostResponse::Json(failed_answer(error, id), None))
            }
            _ => Err(unexpected_response(words)),
        }
    }

    /// Returns the events of an answer. One that is too long is replaced by the failure of the
    /// request, and is the last.
    fn events(&self, response: Response) -> BoxedSseResponse {
        let id = self.request_id();
        response_events(response, move || {
            let error = ErrorData::internal_error(TOO_LONG, None);
            let answer = serde_json::to_string(&failed_answer(error, id.clone()?));
            Some(Sse { data: answer.ok(), ..Sse::default() })
        })
    }
}

/// Returns the events of a response. One that is too long is replaced by what `replace` returns,
/// which is then the last; if that is nothing, it is left out.
fn response_events(
    response: Response,
    replace: impl Fn() -> Option<Sse> + Send + 'static,
) -> BoxedSseResponse {
    let state = (Some(response), SseDecoder::new(LONGEST_MESSAGE), replace);
    let events = stream::try_unfold(state, |(mut response, mut sse, replace)| async move {
        let event = loop {
            let Some(open) = &mut response else { return Ok(None) };
            match sse.next_event() {
                Ok(Some(event)) => break rmcp_event(event),
                Ok(None) => match open.chunk().await {
                    Ok(Some(chunk)) => sse.push(&chunk),
                    Ok(None) => return Ok(None),
                    Err(error) => return Err(SseError::Body(Box::new(error))),
                },
                Err(_) => {
                    if let Some(last) = replace() {
                        response = None;
                        break last;
                    }
                }
            }
        };
        Ok(Some((event, (response, sse, replace))))
    });
    events.boxed()
}

fn rmcp_event(event: SseEvent<'_>) -> Sse {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Sse {
        event: (!event.name.is_empty()).then(|| text(event.name)),
        data: event.data.map(text),
        // The specification ignores an id with a NUL, which could not be sent in a header either.
        id: event.id.filter(|id| !id.contains(&0)).map(text),
        retry: event.retry.and_then(|retry| str::from_utf8(retry).ok()?.parse().ok()),
    }
}

fn header_text(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn failed_answer(error: ErrorData, id: RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(error, Some(id))
}

fn unexpected_response(words: String) -> StreamableHttpError<reqwest::Error> {
    StreamableHttpError::UnexpectedServerResponse(words.into())
}

fn sign_in_wanted() -> StreamableHttpError<reqwest::Error> {
    StreamableHttpError::AuthRequired(AuthRequiredError::new("it wants a sign-in".to_owned()))
}
