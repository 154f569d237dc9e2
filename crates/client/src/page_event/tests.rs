//! The form of each item.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::{
    RuntimeReady, SessionCommand, SessionEvent, SessionReply, SessionRequest, UserMessage,
};

use super::*;
use crate::ClientError;

fn formed(what: WatchedItem) -> (&'static str, Option<u64>, String) {
    let PageEvent { event, id, data } = PageEvent::from(&WatchedEvent { epoch: 1, seq: 7, what });
    (event, id, data)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn state(state: RuntimeState) -> Value {
    let (event, id, data) = formed(WatchedItem::State(state));
    assert_eq!((event, id), ("state", Some(7)));
    json(&data)
}

#[test]
fn the_first_event_names_the_session_and_has_no_number() {
    let first = PageEvent::session("9c8b", Path::new("/usr"));
    assert_eq!((first.event, first.id), ("session", None));
    assert_eq!(json(&first.data), json!({ "session": "9c8b", "folder": "/usr" }));
}

#[test]
fn each_state_of_the_process_has_its_word() {
    assert_eq!(state(RuntimeState::Starting), json!({ "state": "starting" }));
    let ready = RuntimeReady { capabilities: vec!["hello".to_owned()], ..RuntimeReady::at(1) };
    let ready = state(RuntimeState::Ready(Arc::new(ready)));
    assert_eq!(ready, json!({ "state": "ready", "capabilities": ["hello"] }));
    let died = RuntimeState::Died {
        status: None,
        reason: Arc::from("it has ended"),
        last_words: Some("no key".to_owned()),
    };
    let said = json!({ "state": "died", "text": "it has ended", "lastWords": "no key" });
    assert_eq!(state(died), said);
    let restarting = RuntimeState::Restarting { within: Duration::from_millis(400) };
    assert_eq!(state(restarting), json!({ "state": "restarting", "within": 400 }));
    assert_eq!(state(RuntimeState::GivenUp), json!({ "state": "given_up" }));
    assert_eq!(state(RuntimeState::Ended), json!({ "state": "ended" }));
}

#[test]
fn requests_and_replies_are_lines_of_the_protocol_without_their_ends() {
    let mut message = UserMessage::new("Good\nmorning");
    let metadata = "{\r\"a\" : 1}".to_owned();
    message.metadata = Some(serde_json::value::RawValue::from_string(metadata).unwrap());
    let command = SessionCommand::UserMessage(message);
    let asked = SessionRequest { id: "s-1".to_owned(), command };
    let (event, id, data) = formed(WatchedItem::Asked(Arc::new(asked)));
    assert_eq!((event, id), ("request", Some(7)));
    assert!(!data.contains(['\r', '\n']) && data.contains(r#""Good\nmorning""#), "{data}");

    let event = SessionEvent::Token("Hello.".to_owned());
    let reply = SessionReply { id: Some("s-1".to_owned()), event, timestamp: 9, seq: Some(3) };
    let happened = RequestEvent::Said(Arc::new(reply));
    let (event, id, data) = formed(WatchedItem::Happened { id: Arc::from("s-1"), happened });
    assert_eq!((event, id), ("reply", Some(7)));
    assert_eq!(data, r#"{"type":"token","id":"s-1","token":"Hello.","timestamp":9,"seq":3}"#);
}

#[test]
fn a_failure_has_the_request_and_a_gap_its_bounds() {
    let happened = RequestEvent::Failed(ClientError::Closed);
    let (event, id, data) = formed(WatchedItem::Happened { id: Arc::from("s-1"), happened });
    let error = ClientError::Closed.to_string();
    assert_eq!((event, id), ("failed", Some(7)));
    assert_eq!(json(&data), json!({ "id": "s-1", "error": error }));
    let (event, id, data) = formed(WatchedItem::Missed { from: 2, to: 7 });
    assert_eq!((event, id, json(&data)), ("missed", Some(7), json!({ "from": 2, "to": 7 })));
}
