//! `/api/chat`: carries the session protocol between chat pages and their runtime.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use callgate_client::{RequestEvent, RuntimeState, SessionWatch, WatchStart, WatchedItem};
use callgate_wire::session::{MAX_LINE, SessionCommand, SessionRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::chat_runtime::{ChatRuntime, ChatRuntimes, NoChat, OpenChat};
use crate::connections::BrowserSeat;
use crate::events::{event, event_of_json, last_event};
use crate::message_body::{self, BodySender};
use crate::origin::PageOrigin;
use crate::refusal::HttpRefusal;
use crate::request_body;
use crate::sessions::{PageSession, SessionKey};
use crate::state::PageState;

/// The longest request to start a runtime, in bytes.
const LONGEST_START: usize = 16 * 1024;

/// What a page asks for to have a runtime.
#[derive(Debug, Deserialize)]
struct ChatStart {
    /// The folder in which it works, absolute.
    folder: PathBuf,
}

/// The runtime that a page talks to.
#[derive(Debug, Serialize)]
struct ChatPlace<'a> {
    session: &'a str,
    folder: &'a str,
}

/// Starts the runtime in a folder, or finds it there.
pub(crate) async fn start(
    State(state): State<PageState>,
    Extension(origin): Extension<PageOrigin>,
    Extension(seat): Extension<BrowserSeat>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let _session = state.sessions.open(&SessionKey::read(&headers, origin)?).await?;
    seat.has_shown_key();
    let body = request_body::read(body, LONGEST_START, state.limits.body_within).await?;
    let ChatStart { folder } = serde_json::from_slice(&body)
        .map_err(|_| HttpRefusal::new(StatusCode::BAD_REQUEST, "the request names no folder"))?;
    let folder = existing(folder).await?;
    let chat = chats(&state)?.start(&folder).await.map_err(|why| match why {
        NoChat::Busy => HttpRefusal::new(StatusCode::CONFLICT, BUSY),
        NoChat::Failed(error) => HttpRefusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the runtime cannot be started: {error}"),
        ),
    })?;
    Ok(json_response(&place(&chat, &chat.folder.to_string_lossy())))
}

const BUSY: &str = "the runtime works on a message in another folder: wait for it, or stop it";

fn place<'a>(chat: &'a ChatRuntime, folder: &'a str) -> ChatPlace<'a> {
    ChatPlace { session: chat.client.name(), folder }
}

fn chats(state: &PageState) -> Result<&Arc<ChatRuntimes>, HttpRefusal> {
    let none = || HttpRefusal::new(StatusCode::NOT_FOUND, "this host starts no runtime");
    state.chats.as_ref().ok_or_else(none)
}

/// Returns the real path of a folder. The look at the disk may block.
async fn existing(folder: PathBuf) -> Result<PathBuf, HttpRefusal> {
    let looked = tokio::task::spawn_blocking(move || {
        let real = folder.is_absolute().then(|| folder.canonicalize().ok()).flatten();
        real.filter(|real| real.is_dir())
    });
    let none = || HttpRefusal::new(StatusCode::BAD_REQUEST, "there is no such folder");
    looked.await.ok().flatten().ok_or_else(none)
}

/// Sends one request to the runtime. Its replies come with the events.
pub(crate) async fn send(
    State(state): State<PageState>,
    Extension(origin): Extension<PageOrigin>,
    Extension(seat): Extension<BrowserSeat>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let _session = state.sessions.open(&SessionKey::read(&headers, origin)?).await?;
    seat.has_shown_key();
    let body = request_body::read(body, MAX_LINE, state.limits.body_within).await?;
    let SessionRequest { command, .. } = SessionRequest::decode(&body)
        .map_err(|wrong| HttpRefusal::new(StatusCode::BAD_REQUEST, wrong.to_string()))?;
    if matches!(command, SessionCommand::Hello { .. } | SessionCommand::Replay { .. }) {
        let text = "the host says hello, and has the numbers of its own events";
        return Err(HttpRefusal::new(StatusCode::FORBIDDEN, text));
    }
    let chat = chats(&state)?.running().await.ok_or_else(no_runtime)?;
    let id = chat.client.send(command).await.detach();
    Ok(json_response(&json!({ "id": &*id })))
}

fn json_response(body: &impl Serialize) -> Response {
    let json = HeaderValue::from_static("application/json");
    // Both bodies are made of texts, which can always be written.
    let body = serde_json::to_string(body).unwrap_or_default();
    ([(header::CONTENT_TYPE, json)], body).into_response()
}

fn no_runtime() -> HttpRefusal {
    HttpRefusal::new(StatusCode::CONFLICT, "no runtime is running: choose a folder")
}

/// Opens a stream of everything that happens in the session.
pub(crate) async fn events(
    State(state): State<PageState>,
    Extension(origin): Extension<PageOrigin>,
    Extension(seat): Extension<BrowserSeat>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    let after = last_event(&headers)?;
    let session = state.sessions.open(&SessionKey::read(&headers, origin)?).await?;
    seat.has_shown_key();
    let Some(chat) = chats(&state)?.running().await else {
        // Not a refusal: every page asks this first.
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let place = Arc::clone(&state.streams).try_acquire_owned().map_err(|_| {
        let text = "too many pages are open: close one";
        HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
    })?;
    let begin = match after {
        Some(after) if seen_session(&uri) == Some(chat.client.name()) => WatchStart::After(after),
        _ => WatchStart::Oldest,
    };
    let watch = chat.client.watch(begin);
    let (sender, body) = message_body::body();
    let heartbeat = state.limits.heartbeat;
    let stream =
        ChatStream { watch, chat: chat.enter(), sender, heartbeat, session, _place: place };
    tokio::spawn(stream.run());
    let kind = HeaderValue::from_static("text/event-stream");
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Returns the session whose events a page has seen, from `?session=NAME`.
fn seen_session(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|field| field.strip_prefix("session="))
}

/// A stream that a browser reads.
struct ChatStream {
    watch: SessionWatch,
    chat: OpenChat,
    sender: BodySender,
    heartbeat: Duration,
    session: Arc<PageSession>,
    _place: OwnedSemaphorePermit,
}

impl ChatStream {
    /// Sends events until the browser has gone, its session is over or the runtime has ended.
    async fn run(mut self) {
        let first = {
            let folder = self.chat.0.folder.to_string_lossy();
            event("session", None, &place(&self.chat.0, &folder))
        };
        let mut piece = first;
        while !self.session.desk().is_locked() && !self.session.desk().is_closed() {
            if !self.sender.send(piece).await {
                return;
            }
            let next = tokio::select! {
                next = timeout(self.heartbeat, self.watch.next()) => next,
                () = self.sender.closed() => return,
            };
            piece = match next {
                Err(_) => ":\n\n".to_owned(),
                Ok(Some(watched)) => item(watched.seq, &watched.what),
                Ok(None) => return,
            };
        }
    }
}

/// Formats an item of the session as an event.
fn item(seq: u64, item: &WatchedItem) -> String {
    let id = Some(seq);
    match item {
        WatchedItem::State(state) => event("state", id, &state_of(state)),
        WatchedItem::Asked(request) => json_event("request", seq, &request.to_line()),
        WatchedItem::Happened { happened: RequestEvent::Said(reply), .. } => {
            let mut line = Vec::new();
            reply.write(&mut line);
            json_event("reply", seq, &line)
        }
        WatchedItem::Happened { id: of, happened: RequestEvent::Failed(error) } => {
            event("failed", id, &json!({ "id": &**of, "error": error.to_string() }))
        }
        WatchedItem::Missed { from, to } => {
            event("missed", Some(*to), &json!({ "from": from, "to": to }))
        }
    }
}

fn json_event(name: &str, seq: u64, line: &[u8]) -> String {
    event_of_json(name, Some(seq), String::from_utf8_lossy(line).trim_end())
}

fn state_of(state: &RuntimeState) -> Value {
    match state {
        RuntimeState::Starting => json!({ "state": "starting" }),
        RuntimeState::Ready(ready) => {
            json!({ "state": "ready", "capabilities": ready.capabilities })
        }
        RuntimeState::Died { reason, last_words, .. } => {
            json!({ "state": "died", "text": &**reason, "lastWords": last_words })
        }
        RuntimeState::Restarting { within } => {
            json!({ "state": "restarting", "within": within.as_millis() })
        }
        RuntimeState::GivenUp => json!({ "state": "given_up" }),
        RuntimeState::Ended => json!({ "state": "ended" }),
    }
}
