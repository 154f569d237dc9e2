//! What happens in a session, in the form in which pages receive it: over HTTP as a server-sent
//! event, in the window of a desktop shell as a message. `docs/protocol/page.md` lists the events.

use std::path::Path;

use serde_json::{Value, json};

use crate::{RequestEvent, RuntimeState, WatchedEvent, WatchedItem};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEvent {
    /// Its name: `session`, `state`, `request`, `reply`, `failed` or `missed`.
    pub event: &'static str,
    /// Its number, after which a page can continue. `session` has none.
    pub id: Option<u64>,
    /// Its data: JSON without line ends.
    pub data: String,
}

impl PageEvent {
    /// Returns the first event of every stream, which names the session and its folder.
    pub(crate) fn session(name: &str, folder: &Path) -> Self {
        let data = json!({ "session": name, "folder": folder.to_string_lossy() });
        Self { event: "session", id: None, data: data.to_string() }
    }

    fn new(event: &'static str, id: u64, data: impl Into<String>) -> Self {
        Self { event, id: Some(id), data: data.into() }
    }
}

impl From<&WatchedEvent> for PageEvent {
    fn from(watched: &WatchedEvent) -> Self {
        let seq = watched.seq;
        match &watched.what {
            WatchedItem::State(state) => Self::new("state", seq, state_data(state).to_string()),
            WatchedItem::Asked(request) => Self::new("request", seq, text_of(&request.to_line())),
            WatchedItem::Happened { happened: RequestEvent::Said(reply), .. } => {
                let mut line = Vec::new();
                reply.write(&mut line);
                Self::new("reply", seq, text_of(&line))
            }
            WatchedItem::Happened { id, happened: RequestEvent::Failed(error) } => {
                let data = json!({ "id": &**id, "error": error.to_string() });
                Self::new("failed", seq, data.to_string())
            }
            WatchedItem::Missed { from, to } => {
                // The last number of the gap, so that a page that goes on after this event is not
                // sent the same gap again.
                Self::new("missed", *to, json!({ "from": from, "to": to }).to_string())
            }
        }
    }
}

/// Returns the JSON of a line of the session protocol. A carriage return between the tokens of
/// relayed JSON is equivalent to a space.
fn text_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().replace(['\r', '\n'], " ")
}

fn state_data(state: &RuntimeState) -> Value {
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

#[cfg(test)]
mod tests;
