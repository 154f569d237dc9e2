//! The runtime of chat pages: lines in, events out.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_client::{ChatError, ChatEvents, ChatRuntimes, ClientSettings};
use serde_json::{Value, json};

use super::{check, runtime};

/// Runs a test with runtimes that are not started yet.
fn chat<F: Future<Output = ()>>(test: impl FnOnce(Arc<ChatRuntimes>, PathBuf) -> F) {
    let program = runtime::program();
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let test = |settings: ClientSettings, folder| {
        test(Arc::new(ChatRuntimes::new(settings, None)), folder)
    };
    check(test, &program);
}

/// Waits for an event of this name, and returns its number and its data.
async fn event(events: &mut ChatEvents, name: &str) -> (Option<u64>, Value) {
    loop {
        let next = events.next().await.unwrap();
        if next.event == name {
            return (next.id, serde_json::from_str(&next.data).unwrap());
        }
    }
}

/// Waits for the end of a request.
async fn end(events: &mut ChatEvents, id: &str) -> u64 {
    loop {
        let (seq, reply) = event(events, "reply").await;
        if reply["id"] == id && ["done", "error"].map(Value::from).contains(&reply["type"]) {
            return seq.unwrap();
        }
    }
}

#[test]
fn a_page_continues_after_the_last_event_that_it_has_seen() {
    chat(|chats, folder| async move {
        assert!(chats.running().await.is_none());
        let chat = chats.start(&folder).await.unwrap();
        assert_eq!(chat.folder, folder.canonicalize().unwrap());
        let mut events = chat.events(None);
        let (number, place) = event(&mut events, "session").await;
        assert_eq!((number, &place["session"]), (None, &json!(chat.client.name())));
        let line = br#"{"id":"mine","kind":"user_message","message":"hello"}"#;
        let id = chat.send_line(line).await.unwrap();
        let (seen, asked) = event(&mut events, "request").await;
        assert_eq!((&asked["id"], &asked["message"]), (&json!(&*id), &json!("hello")));
        let last = end(&mut events, &id).await;

        let mut again = chat.events(Some((chat.client.name(), seen.unwrap())));
        event(&mut again, "session").await;
        assert_eq!(again.next().await.unwrap().id, Some(seen.unwrap() + 1));
        assert_eq!(end(&mut again, &id).await, last);
        let mut other = chat.events(Some(("another", last)));
        event(&mut other, "session").await;
        assert_eq!(other.next().await.unwrap().id, Some(1), "its numbers mean nothing here");

        assert!(Arc::ptr_eq(&chats.start(&folder).await.unwrap(), &chat));
        drop((again, other, chat));
        chats.close().await;
        while events.next().await.is_some() {}
        assert!(chats.running().await.is_none());
    });
}

#[test]
fn lines_that_are_not_for_pages_and_folders_that_are_none_are_refused() {
    chat(|chats, folder| async move {
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        for wrong in [file, folder.join("none"), PathBuf::from("relative")] {
            let refused = chats.start(&wrong).await;
            assert!(matches!(refused, Err(ChatError::NoFolder)), "{wrong:?}");
        }
        let chat = chats.start(&folder).await.unwrap();
        let hello = br#"{"id":"1","kind":"hello","capabilities":[]}"#;
        assert!(matches!(chat.send_line(hello).await, Err(ChatError::OfTheHost)));
        let replay = br#"{"id":"1","kind":"replay","fromSeq":1}"#;
        assert!(matches!(chat.send_line(replay).await, Err(ChatError::OfTheHost)));
        assert!(matches!(chat.send_line(b"{}").await, Err(ChatError::Unreadable(_))));
        chats.close().await;
    });
}

#[test]
fn without_a_limit_a_runtime_stays_when_its_pages_have_gone() {
    chat(|chats, folder| async move {
        let chat = chats.start(&folder).await.unwrap();
        drop(chat.events(None));
        assert!(chats.running().await.is_some());
        chats.close().await;
    });
}
