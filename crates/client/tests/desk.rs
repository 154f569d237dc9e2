//! The desk's client against a desk that the test plays.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::PathBuf;

use callgate_client::DeskError;
use callgate_client::desk::DeskClient;
use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskRequest, WatchedEntry};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// A desk whose answers the test writes.
struct PlayedDesk {
    stream: UnixStream,
    lines: LineDecoder,
}

impl PlayedDesk {
    /// Returns a client and the desk that it is connected to.
    async fn new() -> (TempDir, DeskClient, Self) {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join("desk.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let client = DeskClient::connect(&path).unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        (folder, client, Self { stream, lines: LineDecoder::new(1 << 20) })
    }

    async fn request(&mut self) -> DeskRequest {
        loop {
            if let Some(DecodedLine::Whole(line)) = self.lines.next_frame() {
                return DeskRequest::decode(line).unwrap();
            }
            let count = self.stream.read(self.lines.space()).await.unwrap();
            assert!(count > 0, "the client has gone");
            self.lines.mark_filled(count);
        }
    }

    async fn send(&mut self, message: &DeskMessage) {
        self.stream.write_all(&message.to_line()).await.unwrap();
    }
}

fn told(id: &str, text: &str) -> DeskMessage {
    DeskMessage::answer(id, DeskAnswer::Told { done: true, text: text.to_owned() })
}

fn waiting(id: &str) -> DeskMessage {
    DeskMessage::Waiting { id: id.to_owned(), text: "Wait.".to_owned(), seconds: 1 }
}

fn entry(seq: u64) -> DeskMessage {
    let (kind, hash) = ("ran".to_owned(), String::new());
    let body = RawValue::from_string("{}".to_owned()).unwrap();
    DeskMessage::Entry(WatchedEntry { seq, at_ms: 0, kind, question: None, hash, body })
}

fn text(answer: DeskAnswer) -> String {
    match answer {
        DeskAnswer::Told { text, .. } => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answers_find_their_requests_in_any_order() {
    let (_folder, client, mut desk) = PlayedDesk::new().await;
    let first = client.request(DeskCommand::Status).await.unwrap();
    let mut second = client.request(DeskCommand::Links).await.unwrap();
    let (one, two) = (desk.request().await.id, desk.request().await.id);
    desk.send(&waiting(&two)).await;
    desk.send(&told(&two, "second")).await;
    desk.send(&told("nobody's", "lost")).await;
    desk.send(&told(&one, "first")).await;
    assert_eq!(text(first.answer().await.unwrap()), "first");
    assert!(matches!(second.next().await.unwrap(), Some(DeskMessage::Waiting { .. })));
    assert!(matches!(second.next().await.unwrap(), Some(DeskMessage::Answer { .. })));
    assert!(second.next().await.unwrap().is_none(), "nothing follows the answer");
}

#[tokio::test]
async fn a_request_that_is_not_read_delays_no_other_and_keeps_its_answer() {
    let (_folder, client, mut desk) = PlayedDesk::new().await;
    let mut unread = client.request(DeskCommand::Status).await.unwrap();
    let other = client.request(DeskCommand::Status).await.unwrap();
    let (one, two) = (desk.request().await.id, desk.request().await.id);
    for _ in 0..100 {
        desk.send(&waiting(&one)).await;
    }
    desk.send(&told(&one, "first")).await;
    desk.send(&told(&two, "second")).await;
    assert_eq!(text(other.answer().await.unwrap()), "second");
    let mut last = None;
    while let Some(message) = unread.next().await.unwrap() {
        last = Some(message);
    }
    assert!(matches!(last, Some(DeskMessage::Answer { .. })));
}

#[tokio::test]
async fn whoever_watches_gets_every_entry_once_and_learns_that_it_is_locked() {
    let (_folder, client, mut desk) = PlayedDesk::new().await;
    let (watch, ()) = tokio::join!(client.watch(Some(1)), async {
        let request = desk.request().await;
        assert!(matches!(request.command, DeskCommand::Watch { from: Some(1) }));
        desk.send(&DeskMessage::answer(request.id, DeskAnswer::Watching { head: 3 })).await;
    });
    let mut watch = watch.unwrap();
    assert_eq!(watch.head, 3);
    let reader = async {
        for seq in 1..=100 {
            match watch.next().await.unwrap() {
                DeskMessage::Entry(entry) => assert_eq!(entry.seq, seq),
                other => panic!("{other:?}"),
            }
        }
        assert!(matches!(watch.next().await.unwrap(), DeskMessage::Locked { .. }));
    };
    let writer = async {
        for seq in 1..=100 {
            desk.send(&entry(seq)).await;
        }
        desk.send(&DeskMessage::Locked { text: "Removed.".to_owned() }).await;
    };
    tokio::join!(reader, writer);
    assert!(client.is_locked() && !client.is_closed());
}

#[tokio::test]
async fn a_watch_that_fails_later_says_why() {
    let (_folder, client, mut desk) = PlayedDesk::new().await;
    let (watch, id) = tokio::join!(client.watch(None), async {
        let id = desk.request().await.id;
        desk.send(&DeskMessage::answer(&*id, DeskAnswer::Watching { head: 3 })).await;
        id
    });
    desk.send(&DeskMessage::Error { id: Some(id), text: "no ledger".to_owned() }).await;
    match watch.unwrap().next().await.unwrap_err() {
        DeskError::Refused(text) => assert_eq!(text, "no ledger"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_desk_that_goes_away_fails_everything_with_its_last_words() {
    let (_folder, client, mut desk) = PlayedDesk::new().await;
    let waits = client.request(DeskCommand::Status).await.unwrap();
    desk.request().await;
    let text = "64 viewers are connected already".to_owned();
    desk.send(&DeskMessage::Error { id: None, text: text.clone() }).await;
    drop(desk);
    let is_told = |error: DeskError| match error {
        DeskError::Closed(reason) => assert_eq!(reason, text),
        other => panic!("{other:?}"),
    };
    is_told(waits.answer().await.unwrap_err());
    assert!(client.is_closed());
    is_told(client.request(DeskCommand::Status).await.unwrap_err());
}

#[tokio::test]
async fn no_desk_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let error = DeskClient::connect(&folder.path().join("desk.sock")).unwrap_err();
    assert!(matches!(error, DeskError::NoDesk(_)), "{error:?}");
}
