//! `GET /api/events`: the ledger as it grows, as server-sent events.
//!
//! Each stream has a connection to the desk of its own, and takes the next entry only when the
//! browser has read the last one: what a slow browser has not read stays in the ledger.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use callgate_client::desk::{DeskClient, DeskWatch};
use callgate_wire::desk::DeskMessage;
use serde::Serialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::connections::BrowserSeat;
use crate::message_body::{self, BodySender};
use crate::origin::PageOrigin;
use crate::refusal::HttpRefusal;
use crate::sessions::{PageSession, SessionKey};
use crate::state::PageState;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Opens a stream.
pub(crate) async fn events(
    State(state): State<PageState>,
    Extension(origin): Extension<PageOrigin>,
    Extension(seat): Extension<BrowserSeat>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    if method != Method::GET {
        let text = "this method has no meaning here";
        return Err(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, text));
    }
    let after = last_event(&headers)?;
    let key = SessionKey::read(&headers, origin)?;
    let session = state.sessions.open(&key).await?;
    seat.has_shown_key();
    let place = Arc::clone(&state.streams).try_acquire_owned().map_err(|_| {
        let text = "too many pages are open: close one";
        HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
    })?;
    let desk = state.sessions.connect(&key).await?;
    let from = after.map(|after| after.saturating_add(1));
    let watch = desk.watch(from).await.map_err(|error| HttpRefusal::no_desk(&error))?;
    let (sender, body) = message_body::body();
    let heartbeat = state.limits.heartbeat;
    let stream =
        EventStream { watch, sender, heartbeat, _desk: desk, _session: session, _place: place };
    tokio::spawn(stream.run(after.is_none()));
    let kind = HeaderValue::from_static("text/event-stream");
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Returns the number of the last entry that the page has.
pub(crate) fn last_event(headers: &HeaderMap) -> Result<Option<u64>, HttpRefusal> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|value| value.parse().ok());
    let odd = || HttpRefusal::new(StatusCode::BAD_REQUEST, "Last-Event-ID must be a number");
    number.map(Some).ok_or_else(odd)
}

/// A stream that a browser reads.
struct EventStream {
    watch: DeskWatch,
    sender: BodySender,
    heartbeat: Duration,
    /// The connection of the watch.
    _desk: DeskClient,
    /// Keeps the session's connection open, so that presses come from one viewer.
    _session: Arc<PageSession>,
    _place: OwnedSemaphorePermit,
}

impl EventStream {
    /// Sends events until the browser has gone, the session is over or the desk has ended.
    async fn run(mut self, is_new: bool) {
        let head = self.watch.head();
        // A page that is new to the ledger begins after its present end.
        let id = is_new.then_some(head);
        if !self.sender.send(event("watching", id, &json!({ "head": head }))).await {
            return;
        }
        loop {
            let next = tokio::select! {
                next = timeout(self.heartbeat, self.watch.next()) => next,
                () = self.sender.closed() => return,
            };
            let (piece, is_last) = match next {
                // Neither a proxy nor the browser takes a silent stream for a dead one.
                Err(_) => (":\n\n".to_owned(), false),
                Ok(Ok(DeskMessage::Entry(entry))) => {
                    (event("entry", Some(entry.seq), &entry), false)
                }
                Ok(Ok(DeskMessage::Locked { text })) => {
                    (event("locked", None, &json!({ "text": text })), true)
                }
                // The watch yields nothing else.
                Ok(Ok(_)) => continue,
                // The page connects again and goes on after its last entry.
                Ok(Err(_)) => return,
            };
            if !self.sender.send(piece).await || is_last {
                return;
            }
        }
    }
}

/// Formats an event.
pub(crate) fn event(name: &str, id: Option<u64>, data: &impl Serialize) -> String {
    // What comes from the desk is JSON, which can be written as such.
    event_of_json(name, id, &serde_json::to_string(data).unwrap_or_default())
}

/// Formats an event whose data is JSON already.
pub(crate) fn event_of_json(name: &str, id: Option<u64>, data: &str) -> String {
    let mut event = format!("event: {name}\n");
    if let Some(id) = id {
        // Writing to a string cannot fail.
        let _ = writeln!(event, "id: {id}");
    }
    // Between the tokens of JSON a line end means no more than a space; here it would end the data.
    event + "data: " + &data.replace(['\r', '\n'], " ") + "\n\n"
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn an_event_is_one_line_of_data() {
        let data = RawValue::from_string("{\n\"a\":\r\n\"b\\n\"}".to_owned()).unwrap();
        assert_eq!(
            event("entry", Some(7), &data),
            "event: entry\nid: 7\ndata: { \"a\":  \"b\\n\"}\n\n"
        );
        assert_eq!(event("locked", None, &json!({})), "event: locked\ndata: {}\n\n");
    }

    #[test]
    fn the_last_event_is_a_number() {
        let of = |value: &str| {
            last_event(&HeaderMap::from_iter([(LAST_EVENT_ID, value.parse().unwrap())])).ok()
        };
        assert_eq!(of("17"), Some(Some(17)));
        assert_eq!((of(""), of("-1"), of("all")), (None, None, None));
        assert_eq!(last_event(&HeaderMap::new()), Ok(None));
    }
}
