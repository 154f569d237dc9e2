//! Steps are kept whole, and come back as they were.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use callgate_store::{ChainReport, EntryFilter};
use callgate_wire::session::TokenUsage;
use serde_json::json;

use super::strict::{Strict, tool_use, values};
use super::*;
use crate::message::{MediaSource, ResultContent, Role};

fn json(message: &ChatMessage) -> String {
    serde_json::to_string(message).unwrap()
}

#[tokio::test]
async fn all_that_can_be_said_comes_back_as_it_was() {
    let house = House::new();
    let source = MediaSource::Base64 {
        media_type: "image/png".to_owned(),
        data: format!("iVBORw0KGgo{}", "A".repeat(10 * 1024 * 1024 + 1)),
    };
    let pdf =
        MediaSource::Base64 { media_type: "application/pdf".to_owned(), data: "JVBE".to_owned() };
    let picture =
        MediaSource::Base64 { media_type: "image/png".to_owned(), data: "iVBO".to_owned() };
    let messages = vec![
        ChatMessage::user(vec![
            Block::text("what is \"this\"?\n\u{2028}ä\u{0}"),
            Block::Image { source },
            Block::Document { source: pdf, title: Some("a".to_owned()) },
        ]),
        ChatMessage::assistant(vec![
            Block::Thinking { thinking: String::new(), signature: "s".to_owned() },
            Block::RedactedThinking { data: "r".to_owned() },
            tool_use("toolu_1", r#"{ "b" : 1.0, "a": [{}],  "b": 2 }"#),
        ]),
        ChatMessage::user(vec![Block::ToolResult {
            tool_use_id: "toolu_1".to_owned(),
            content: ResultContent { text: "x".to_owned(), images: vec![picture] },
            is_error: true,
        }]),
    ];
    let before: Vec<String> = messages.iter().map(json).collect();
    let step = HistoryStep { messages, begins_turn: true, ..HistoryStep::default() };
    house.history.hold("a").await.unwrap().commit(step).await.unwrap();
    let held = house.another().hold("a").await.unwrap();
    assert_eq!(held.messages().len(), 3);
    let after: Vec<String> = held.messages().iter().map(|message| json(message)).collect();
    assert!(after == before, "a picture is too long to print");
    let Block::ToolUse { input, .. } = &held.messages()[1].content[2] else { panic!("a use") };
    assert_eq!(input.get(), r#"{ "b" : 1.0, "a": [{}],  "b": 2 }"#, "byte for byte");
}

#[tokio::test]
async fn a_step_is_kept_whole_or_not_at_all() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u hi | a ?x | u !x")).await.unwrap();
    let usage = TokenUsage { input: 10, ..TokenUsage::default() };
    let cost = PricedUsage { usage, usd: Some(0.5), model: "m".to_owned() };
    let wrong = HistoryStep { drafts: vec![draft("no JSON")], spent: Some(cost), ..round("a ok") };
    let error = held.commit(wrong).await.unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
    assert_eq!(shown(&held), "u hi | a ?x | u !x");
    held.commit(HistoryStep { drafts: vec![draft("{}")], ..round("a fine") }).await.unwrap();
    assert_eq!((shown(&held).as_str(), held.length()), ("u hi | a ?x | u !x | a fine", 4));
    drop(held);
    assert_eq!(found(&house.another(), "a").await, "u hi | a ?x | u !x | a fine");
    assert_eq!(house.history.spent("a", 0).await.unwrap(), CostTotals::default());
    let store = Store::open_read_only(&house.path()).unwrap();
    assert!(matches!(store.verify().unwrap(), ChainReport::Whole { entries: 1, .. }));
}

#[tokio::test]
async fn what_is_held_is_what_somebody_else_will_find() {
    let house = House::new();
    let steps = [
        turn("u hi | a #- # ?x | u !x"),
        round("a # ?y ?z | u !y"),
        round("a _"),
        turn("u on | a #"),
        turn("u really | a # yes #-"),
        turn("u and | a ?x | u !x"),
    ];
    let mut expected = Vec::new();
    for step in steps {
        let mut held = house.history.hold("a").await.unwrap();
        assert_eq!(values(held.messages().iter().map(Arc::as_ref)), expected);
        held.commit(step).await.unwrap();
        expected = values(held.messages().iter().map(Arc::as_ref));
    }
    let held = house.history.hold("a").await.unwrap();
    assert_eq!(
        shown(&held),
        "u hi | a # ?x | u !x | a # ?y ?z | u !y !z? on really | a # yes | u and"
    );
    let mended: Vec<ChatMessage> = held.messages().iter().map(|m| ChatMessage::clone(m)).collect();
    Strict::start().assert_takes(&mended);
}

#[tokio::test]
async fn what_cannot_be_read_is_skipped_and_said() {
    let house = House::new();
    keep(&house.history, "a", "u hi | a # ok").await;
    let unknown = json!({"role": "assistant", "content":
        [{"type": "hologram", "data": 1}, {"type": "text", "text": "known"}, {"text": "?"}]});
    let other = json!({"role": "narrator", "content": []});
    let rows = ["{", "", "[1,2]", "null", &unknown.to_string(), &other.to_string()];
    house.write_rows("a", &rows);
    keep(&house.history, "a", "u on | a # yes").await;
    let held = house.history.hold("a").await.unwrap();
    assert_eq!(shown(&held), "u hi | a # ok known | u on | a yes");
    let page = house.history.read_page("a", 100, None).await.unwrap();
    assert_eq!((page.messages.len(), page.length), (10, 10), "the numbers stay right");
    assert_eq!(page.messages[2].role, Role::User);
}

#[tokio::test]
async fn what_was_sent_is_written_though_nobody_waits_for_it() {
    let house = House::new();
    let path = house.path();
    let mut held = house.history.hold("a").await.unwrap();
    let busy = busy(&house.history).await;
    begin(held.commit(turn("u hi | a ok")));
    drop(busy);
    drop(held);
    drop(house.history);
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.conversation("a").unwrap().unwrap().length, 2);
}

#[tokio::test]
async fn a_commit_that_was_given_up_is_known_to_the_next() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one | a ok")).await.unwrap();
    held.take_back().await.unwrap();
    let busy = busy(&house.history).await;
    begin(held.commit(turn("u hi | a ok")));
    drop(busy);
    held.commit(round("a more")).await.unwrap();
    assert_eq!((shown(&held).as_str(), held.length()), ("u hi | a ok more", 3));
    drop(held);
    assert_eq!(found(&house.another(), "a").await, "u hi | a ok more");
}

#[tokio::test]
async fn the_ledger_has_what_is_recorded() {
    let house = House::new();
    house.history.record(vec![draft(r#"{"n":1}"#), draft(r#"{"n":2}"#)]).await.unwrap();
    let error = house.history.record(vec![draft("no")]).await.unwrap_err();
    assert!(matches!(error, HistoryError::Store(_)), "{error}");
    let store = Store::open_read_only(&house.path()).unwrap();
    assert_eq!(store.entries_after(&EntryFilter::default(), 0, 9).unwrap().len(), 2);
}

#[tokio::test]
async fn costs_are_summed() {
    let house = House::new();
    let cost = |usd| PricedUsage {
        usage: TokenUsage { input: 1, output: 2, cache_read: 3, cache_write: 4 },
        usd,
        model: "m".to_owned(),
    };
    for (conversation, usd) in [("a", Some(0.25)), ("a", None), ("b", Some(0.000_001))] {
        let step = HistoryStep { spent: Some(cost(usd)), ..turn("u hi | a ok") };
        house.history.hold(conversation).await.unwrap().commit(step).await.unwrap();
    }
    let spent = house.history.spent("a", 0).await.unwrap();
    assert_eq!((spent.conversation.micro_usd, spent.conversation.unpriced), (250_000, 1));
    assert_eq!((spent.all.micro_usd, spent.all.input, spent.all.cache_write), (250_001, 3, 12));
    let later = house.history.spent("a", i64::MAX).await.unwrap();
    assert_eq!((later.conversation.output, later.all), (4, CostSum::default()));
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_is_told_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    fs::create_dir(&path).unwrap();
    let history = open(&path);
    let error = history.hold("a").await.err().unwrap();
    assert!(error.to_string().contains("is not a file"), "{error}");
    history.record(vec![draft("{}")]).await.unwrap_err();
    fs::remove_dir(&path).unwrap();
    keep(&history, "a", "u hi | a ok").await;
}

#[tokio::test]
async fn only_its_owner_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/ledger.db");
    let history = open(&path);
    let _held = history.hold("../x").await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let locks = path.with_file_name("locks");
    assert_eq!((mode(path.parent().unwrap()), mode(&path), mode(&locks)), (0o700, 0o600, 0o700));
    let lock = fs::read_dir(locks).unwrap().next().unwrap().unwrap();
    assert_eq!(mode(&lock.path()), 0o600);
    assert_eq!(lock.file_name().len(), 64 + ".lock".len(), "it says nothing about the id");
}

#[tokio::test]
async fn memory_behaves_alike_and_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    for place in [HistoryLocation::Memory, HistoryLocation::Ledger(path.clone())] {
        let history = History::start(place.clone());
        let mut held = history.hold("a").await.unwrap();
        let step = HistoryStep { drafts: vec![draft("{}")], ..turn("u hi | a ok") };
        held.commit(step).await.unwrap();
        assert!(matches!(history.delete_conversation("a").await, Err(HistoryError::InUse(_))));
        drop(held);
        assert_eq!(found(&history, "a").await, "u hi | a ok");
        history.record(vec![draft("{}")]).await.unwrap();
        assert_eq!(found(&History::start(place), "a").await, "");
    }
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.last_seq().unwrap(), 2, "the ledger is kept");
    assert!(store.recent_conversations(9, None, None).unwrap().is_empty());
    assert!(!folder.path().join("locks").exists());
}

#[test]
fn it_can_be_used_from_any_thread() {
    fn any<T: Send + Sync + Clone>() {}
    fn sent<T: Send>(_: T) {}
    any::<History>();
    let history = History::start(HistoryLocation::Memory);
    let other = history.clone();
    sent(async move {
        let mut held = other.hold("a").await.unwrap();
        held.commit(turn("u hi")).await.unwrap();
        held.compact(1, read("u hi").remove(0)).await.unwrap();
        held.take_back().await.unwrap();
        held.clear().await.unwrap();
    });
}
