//! `/api/chat`: carries the session protocol between chat pages and their runtime.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use callgate_client::{ChatError, ChatEvents, ChatRuntime, ChatRuntimes, ClientSettings};
use callgate_wire::session::{MAX_LINE, capability};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use crate::events::{EVENT_STREAM, event_text, last_event, stream_place};
use crate::message_body::{self, BodySender};
use crate::refusal::HttpRefusal;
use crate::request_body::{json_response, read_json, read_within_limits};
use crate::sessions::{PageAccess, PageSession};
use crate::state::{PageState, StreamPlace};

/// The longest request to start a runtime, in bytes.
const LONGEST_START: usize = 16 * 1024;
/// How many bytes of events are kept for pages that are loaded again: those of a long answer.
const MOST_KEPT: usize = 8 * 1024 * 1024;
/// The extensions that the page shows. It is not asked for permissions: they are asked at the
/// desk, whose questions the page has anyway.
const SHOWN: [&str; 7] = [
    capability::THINKING,
    capability::TOOL_INPUT,
    capability::TOOL_PROGRESS,
    capability::USAGE,
    capability::QUESTION,
    capability::NOTICE,
    capability::TURN_DIFF,
];

#[derive(Debug, Clone)]
pub struct RuntimeCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Environment variables that are set; the others are inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The user's home folder, in which it works for a page that names no other.
    pub home: Option<PathBuf>,
}

impl RuntimeCommand {
    /// Returns the runtimes that are started by this command.
    pub(crate) fn runtimes(self, linger: Duration) -> ChatRuntimes {
        let Self { program, args, env, .. } = self;
        let settings = ClientSettings {
            args,
            env: env.into_iter().map(|(name, value)| (name, Some(value))).collect(),
            capabilities: SHOWN.map(str::to_owned).to_vec(),
            kept: MOST_KEPT,
            ..ClientSettings::new(program)
        };
        ChatRuntimes::new(settings, Some(linger))
    }
}

/// A page's request for a runtime.
#[derive(Debug, Deserialize)]
struct ChatStart {
    /// The folder in which it works, absolute; without one, it may work in any.
    folder: Option<PathBuf>,
}

/// Starts the runtime in a folder, or finds it there. For a page that names no folder it is the one
/// that runs, or a new one in the home folder.
pub(crate) async fn start_runtime(
    State(state): State<PageState>,
    _: PageAccess,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let (within, expected) = (state.limits.body_within, "the folder is not a text");
    let ChatStart { folder } = read_json(body, LONGEST_START, within, expected).await?;
    let chats = chat_runtimes(&state)?;
    let started = match (&folder, &state.home) {
        (Some(folder), _) => chats.start(folder).await,
        (None, Some(home)) => chats.running_or_start(home).await,
        (None, None) => Err(ChatError::NoFolder),
    };
    let chat = started.map_err(|error| chat_refusal(&error))?;
    let place = json!({ "session": chat.client.name(), "folder": chat.folder.to_string_lossy() });
    Ok(json_response(&place))
}

fn chat_refusal(error: &ChatError) -> HttpRefusal {
    let status = match error {
        ChatError::Busy => StatusCode::CONFLICT,
        ChatError::OfTheHost => StatusCode::FORBIDDEN,
        ChatError::NotStarted(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    HttpRefusal::new(status, error.to_string())
}

fn chat_runtimes(state: &PageState) -> Result<&Arc<ChatRuntimes>, HttpRefusal> {
    let none = || HttpRefusal::new(StatusCode::NOT_FOUND, "this host starts no runtime");
    state.chats.as_ref().ok_or_else(none)
}

async fn running_chat(state: &PageState) -> Result<Arc<ChatRuntime>, HttpRefusal> {
    let none = || HttpRefusal::new(StatusCode::CONFLICT, "no runtime is running: choose a folder");
    chat_runtimes(state)?.running().await.ok_or_else(none)
}

/// Sends one request to the runtime. Its replies come with the events.
pub(crate) async fn send_request(
    State(state): State<PageState>,
    _: PageAccess,
    body: Body,
) -> Result<Response, HttpRefusal> {
    let body = read_within_limits(body, MAX_LINE, state.limits.body_within).await?;
    let id =
        running_chat(&state).await?.send_line(&body).await.map_err(|error| chat_refusal(&error))?;
    Ok(json_response(&json!({ "id": &*id })))
}

pub(crate) async fn restart_runtime(
    State(state): State<PageState>,
    _: PageAccess,
) -> Result<Response, HttpRefusal> {
    running_chat(&state).await?.client.restart();
    Ok(json_response(&json!({})))
}

pub(crate) async fn stream_chat_events(
    State(state): State<PageState>,
    PageAccess { session, .. }: PageAccess,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    let after = last_event(&headers)?;
    let Some(chat) = chat_runtimes(&state)?.running().await else {
        // Not a refusal: every page asks this first.
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    // After the look at the runtime: a page without one takes no place.
    let place = stream_place(&state, &session)?;
    let (sender, body) = message_body::body_with_sender();
    let events = chat.events(seen_session(&uri).zip(after));
    let heartbeat = state.limits.heartbeat;
    let stream = ChatStream { events, sender, heartbeat, session, _place: place };
    tokio::spawn(stream.send_events());
    Ok(([(header::CONTENT_TYPE, EVENT_STREAM)], body).into_response())
}

/// Returns the session whose events a page has seen, from `?session=NAME`.
fn seen_session(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|field| field.strip_prefix("session="))
}

struct ChatStream {
    events: ChatEvents,
    sender: BodySender,
    heartbeat: Duration,
    session: Arc<PageSession>,
    _place: StreamPlace,
}

impl ChatStream {
    /// Sends events until the browser has gone, its session is over or the runtime has ended.
    async fn send_events(mut self) {
        loop {
            let next = tokio::select! {
                next = timeout(self.heartbeat, self.events.next()) => next,
                () = self.sender.wait_for_close() => return,
            };
            let piece = match next {
                Err(_) => ":\n\n".to_owned(),
                Ok(Some(event)) => event_text(&event),
                Ok(None) => return,
            };
            let desk = &self.session.desk;
            // The events are the runtime's, but what may read them is a key of the desk: it is
            // looked at each time.
            if desk.is_locked() || desk.is_closed() || !self.sender.send(piece).await {
                return;
            }
        }
    }
}
