//! What the ends of requests say.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::*;

/// The value is this object at the end of a request, and is read from it.
fn check<T: Debug + Serialize + DeserializeOwned>(value: &T, json: &str) {
    let SessionEvent::Done(Some(data)) = SessionEvent::done(value) else { panic!("no data") };
    assert_eq!(data.get(), json);
    let back: T = SessionEvent::Done(Some(data)).done_data().expect("our own data");
    assert_eq!(format!("{back:?}"), format!("{value:?}"));
}

#[test]
fn ends_say_what_came_of_the_request() {
    let usage = TokenUsage { input: 1, output: 2, cache_read: 3, cache_write: 4 };
    check(
        &TurnEnd { stop_reason: "end_turn".to_owned(), usage, cost: Some(0.25), denied_calls: 2 },
        r#"{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4},"cost":0.25,"deniedCalls":2}"#,
    );
    check(
        &TurnEnd {
            stop_reason: "other".to_owned(),
            usage: TokenUsage::default(),
            cost: None,
            denied_calls: 0,
        },
        r#"{"stopReason":"other","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"cost":null}"#,
    );
    check(&ReplayedRange { from_seq: 3, to_seq: 9 }, r#"{"fromSeq":3,"toSeq":9}"#);
    check(&ConversationCreated { conversation_id: "c".to_owned() }, r#"{"conversationId":"c"}"#);
}

#[test]
fn models_are_listed_and_chosen() {
    let plain = ModelListing { id: "m".to_owned(), ..ModelListing::default() };
    let full =
        ModelListing { title: Some("M".to_owned()), context_window: Some(8), ..plain.clone() };
    let engine = EngineListing {
        name: "e".to_owned(),
        is_available: true,
        reason: None,
        models: vec![plain, full],
    };
    let away = EngineListing {
        is_available: false,
        reason: Some("no key".to_owned()),
        models: vec![],
        ..engine.clone()
    };
    check(
        &ModelList {
            engines: vec![engine, away],
            engine: "e".to_owned(),
            model: Some("m".to_owned()),
        },
        r#"{"engines":[{"name":"e","isAvailable":true,"models":[{"id":"m"},{"id":"m","title":"M","contextWindow":8}]},{"name":"e","isAvailable":false,"reason":"no key","models":[]}],"engine":"e","model":"m"}"#,
    );
    check(
        &ConversationEngine {
            conversation_id: "c".to_owned(),
            engine: "e".to_owned(),
            model: "m".to_owned(),
        },
        r#"{"conversationId":"c","engine":"e","model":"m"}"#,
    );
}

#[test]
fn conversations_are_listed_and_loaded() {
    let conversation = ConversationSummary {
        conversation_id: "c".to_owned(),
        title: None,
        length: 2,
        created_at: 3,
        updated_at: 4,
        folder: None,
    };
    let (title, folder) = (Some("T".to_owned()), Some("/f".to_owned()));
    let titled = ConversationSummary { title, folder, ..conversation.clone() };
    check(
        &ConversationList {
            conversations: vec![conversation, titled],
            current: Some("c".to_owned()),
        },
        r#"{"conversations":[{"conversationId":"c","length":2,"createdAt":3,"updatedAt":4},{"conversationId":"c","title":"T","length":2,"createdAt":3,"updatedAt":4,"folder":"/f"}],"current":"c"}"#,
    );
    check(
        &ConversationList { conversations: vec![], current: None },
        r#"{"conversations":[],"current":null}"#,
    );
    let content =
        serde_json::value::RawValue::from_string(r#"[{"z":1.0, "a":"\u00e9"}]"#.to_owned());
    let message = PastMessage { role: "user".to_owned(), content: content.unwrap() };
    check(
        &ConversationMessages {
            conversation_id: "c".to_owned(),
            title: Some("T".to_owned()),
            messages: vec![message],
            first: 1,
            length: 2,
            is_unfinished: false,
        },
        r#"{"conversationId":"c","title":"T","messages":[{"role":"user","content":[{"z":1.0, "a":"\u00e9"}]}],"first":1,"length":2}"#,
    );
    check(
        &ConversationEvents {
            conversation_id: "c".to_owned(),
            title: None,
            first: 1,
            length: 2,
            is_unfinished: true,
        },
        r#"{"conversationId":"c","first":1,"length":2,"isUnfinished":true}"#,
    );
}

#[test]
fn an_end_says_which_request_it_ends() {
    let replayed = ReplayedRange { from_seq: 3, to_seq: 9 };
    let SessionEvent::Done(Some(data)) = SessionEvent::done(&replayed).with_kind("replay") else {
        panic!("no data")
    };
    assert_eq!(data.get(), r#"{"kind":"replay","fromSeq":3,"toSeq":9}"#);
    assert_eq!(SessionEvent::Done(Some(data)).done_data(), Some(replayed));
    let empty = SessionEvent::done(&serde_json::json!({})).with_kind("clear_history");
    let SessionEvent::Done(Some(data)) = empty else { panic!("no data") };
    assert_eq!(data.get(), r#"{"kind":"clear_history"}"#);
    assert!(matches!(SessionEvent::Done(None).with_kind("hello"), SessionEvent::Done(None)));
    assert!(
        matches!(SessionEvent::Token("{}".to_owned()).with_kind("x"), SessionEvent::Token(text) if text == "{}")
    );
}

#[test]
fn what_an_end_does_not_say_is_none() {
    let end = |json: &str| {
        let line = format!(r#"{{"type":"done","id":"1","timestamp":1{json}}}"#);
        match SessionResponse::decode(line.as_bytes()) {
            Ok(SessionResponse::Reply(reply)) => reply.event.done_data::<TurnEnd>(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(end(""), None);
    assert_eq!(end(r#","data":{"conversationId":"c"}"#), None);
    let short = end(r#","data":{"stopReason":"refusal","usage":{"outputTokens":7}}"#).unwrap();
    assert_eq!((short.stop_reason.as_str(), short.usage.output, short.cost), ("refusal", 7, None));
    assert_eq!(SessionEvent::error("no").done_data::<TurnEnd>(), None);
}
