//! `GET /api/events`: the ledger as it grows, as server-sent events.
//!
//! Each stream has a connection to the desk of its own, and takes the next entry only when the
//! browser has read the last one: what a slow browser has not read stays in the ledger.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use callgate_client::desk::{DeskClient, DeskWatch};
use callgate_client::{DeskError, PageEvent};
use callgate_wire::desk::DeskMessage;
use callgate_wire::ledger::LedgerKind;
use tokio::time::timeout;

use crate::message_body::{self, BodySender};
use crate::refusal::HttpRefusal;
use crate::sessions::{PageAccess, PageSession};
use crate::state::{PageState, StreamPlace};

pub(crate) const EVENT_STREAM: &str = "text/event-stream";

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) async fn stream_desk_events(
    State(state): State<PageState>,
    PageAccess { key, session }: PageAccess,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, HttpRefusal> {
    // A route for GET takes HEAD as well, which would open a stream that nobody reads.
    if method != Method::GET {
        let text = "this method has no meaning here";
        return Err(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, text));
    }
    let after = last_event(&headers)?;
    // Before the desk is asked, because each stream takes a place there, too.
    let place = stream_place(&state, &session)?;
    // A connection of its own: a slow browser holds up nothing but its own stream.
    let desk = state.sessions.connect(&key).await?;
    let from = after.map(|after| after.saturating_add(1));
    let watch = desk.watch(from).await?;
    let (sender, body) = message_body::body_with_sender();
    let heartbeat = state.limits.heartbeat;
    let stream = EventStream { watch, sender, heartbeat, _desk: desk, session, _place: place };
    tokio::spawn(stream.send_events(after.is_none()));
    Ok(([(header::CONTENT_TYPE, EVENT_STREAM)], body).into_response())
}

pub(crate) fn stream_place(
    state: &PageState,
    session: &PageSession,
) -> Result<StreamPlace, HttpRefusal> {
    let text = "too many pages are open: close one";
    let person = session.person.as_ref().map(|person| person.name.as_str());
    let place = state.streams.take(person);
    place.ok_or_else(|| HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, text))
}

/// Returns the number of the last entry that the page has.
pub(crate) fn last_event(headers: &HeaderMap) -> Result<Option<u64>, HttpRefusal> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|value| value.parse().ok());
    let odd = || HttpRefusal::new(StatusCode::BAD_REQUEST, "Last-Event-ID must be a number");
    number.map(Some).ok_or_else(odd)
}

struct EventStream {
    watch: DeskWatch,
    sender: BodySender,
    heartbeat: Duration,
    /// The connection of the watch.
    _desk: DeskClient,
    /// Also keeps the session's connection open, so that presses come from one viewer.
    session: Arc<PageSession>,
    _place: StreamPlace,
}

impl EventStream {
    /// Sends events until the browser has gone, the session is over or the desk has ended.
    async fn send_events(mut self, is_new: bool) {
        let head = self.watch.head;
        let person = self.session.person.as_ref();
        let mut piece = event_text(&match person {
            Some(person) => PageEvent::watching_as(&person.name, head, is_new),
            None => PageEvent::watching(head, is_new),
        });
        let mut is_last = false;
        // `locked` is sent, so that the page knows why its stream ends.
        while self.sender.send(piece).await && !is_last {
            let next = tokio::select! {
                next = timeout(self.heartbeat, next_shown(&mut self.watch, person.is_some())) => next,
                () = self.sender.wait_for_close() => return,
            };
            piece = match next {
                // Neither a proxy nor the browser takes a silent stream for a dead one.
                Err(_) => ":\n\n".to_owned(),
                Ok(Ok(message)) => {
                    is_last = matches!(message, DeskMessage::Locked { .. });
                    // The watch yields nothing that is not an event.
                    PageEvent::from_desk(&message).as_ref().map(event_text).unwrap_or_default()
                }
                // The page connects again and goes on after its last entry.
                Ok(Err(_)) => return,
            };
        }
    }
}

/// Waits for the next message that the page is shown. Dropping the future loses nothing.
async fn next_shown(watch: &mut DeskWatch, is_for_person: bool) -> Result<DeskMessage, DeskError> {
    loop {
        let message = watch.next().await?;
        // Entries about links and invitations are the owner's.
        if !is_for_person || is_for_people(&message) {
            return Ok(message);
        }
    }
}

/// Returns true for what the page of a person of a team is shown: calls, and what became of them.
fn is_for_people(message: &DeskMessage) -> bool {
    let DeskMessage::Entry(entry) = message else { return true };
    let kind = LedgerKind::parse(&entry.kind);
    matches!(
        kind,
        Some(
            LedgerKind::Asked
                | LedgerKind::Said
                | LedgerKind::Pressed
                | LedgerKind::Decided
                | LedgerKind::Delivered
                | LedgerKind::Returned
                | LedgerKind::Closed
                | LedgerKind::Checked
                | LedgerKind::Ran
                | LedgerKind::Saved
        )
    )
}

/// Formats an event. Its data has no line ends, which would end the data here.
pub(crate) fn event_text(event: &PageEvent) -> String {
    let PageEvent { event, id, data } = event;
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("event: {event}\n{id}data: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_named_and_numbered() {
        let event = PageEvent::watching(7, true);
        assert_eq!(event_text(&event), "event: watching\nid: 7\ndata: {\"head\":7}\n\n");
        let event = PageEvent::watching(7, false);
        assert_eq!(event_text(&event), "event: watching\ndata: {\"head\":7}\n\n");
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
