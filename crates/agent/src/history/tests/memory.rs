//! The conversation that was worked on last stays in memory, as long as nobody changes it.

use std::pin::pin;
use std::task::Poll;

use super::*;

/// Waits until the history's thread has nothing to do.
fn wait_until_idle(history: &History) {
    while history.0.at_once(|_| ()).is_none() {
        std::thread::yield_now();
    }
}

/// Holds a conversation without the history's thread.
fn hold_at_once(history: &History, conversation: &str) -> HeldConversation {
    wait_until_idle(history);
    let mut future = pin!(history.hold(conversation));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(held) => held.unwrap(),
        Poll::Pending => panic!("it is not in memory"),
    }
}

/// Returns true if a conversation is in memory, and nobody has changed it.
fn is_as_left(history: &History, conversation: &str) -> bool {
    wait_until_idle(history);
    let Some(known) = history.0.recall(conversation) else { return false };
    let token = history.0.at_once(|stores| stores.lock_again(&known)).unwrap();
    history.0.remember(known);
    token.is_some()
}

#[tokio::test]
async fn the_last_conversation_is_held_again_without_the_thread() {
    let house = House::new();
    keep(&house.history, "a", "u one | a ok").await;
    for round in 0..3 {
        let mut held = hold_at_once(&house.history, "a");
        held.commit(turn("u more | a ok")).await.unwrap();
        assert_eq!(held.length(), 4 + 2 * round);
    }
    let shown = found(&house.history, "a").await;
    assert_eq!(shown, found(&house.another(), "a").await);
    assert!(!is_as_left(&house.history, "b"), "this one has to be read");
    drop(house.history.hold("b").await.unwrap());
    assert!(is_as_left(&house.history, "a"), "nothing was kept of the other one");
}

#[tokio::test]
async fn what_somebody_else_changed_is_read_anew() {
    let house = House::new();
    let other = house.another();
    keep(&house.history, "a", "u one | a ok").await;
    keep(&other, "a", "u two | a ok").await;
    assert!(!is_as_left(&house.history, "a"));
    assert_eq!(found(&house.history, "a").await, "u one | a ok | u two | a ok");

    let mut held = other.hold("a").await.unwrap();
    held.take_back().await.unwrap();
    held.commit_replacing(turn("u 2 | a ok")).await.unwrap();
    drop(held);
    assert_eq!(found(&house.history, "a").await, "u one | a ok | u 2 | a ok");

    let mut held = other.hold("a").await.unwrap();
    held.compact(2, ChatMessage::user(vec![Block::text("summary")])).await.unwrap();
    drop(held);
    assert_eq!(found(&house.history, "a").await, found(&other, "a").await);
    assert!(found(&house.history, "a").await.starts_with("u summary"));

    other.hold("a").await.unwrap().clear().await.unwrap();
    assert_eq!(found(&house.history, "a").await, "");

    keep(&house.history, "a", "u one | a ok").await;
    other.delete_conversation("a").await.unwrap();
    assert_eq!(found(&house.history, "a").await, "");
}

#[tokio::test]
async fn what_was_given_up_half_way_is_not_taken_for_what_is_there() {
    let house = House::new();
    keep(&house.history, "a", "u one | a ok").await;
    let mut held = house.history.hold("a").await.unwrap();
    let busy = busy(&house.history).await;
    begin(held.commit(turn("u two | a ok")));
    drop(held);
    drop(busy);
    assert_eq!(found(&house.history, "a").await, "u one | a ok | u two | a ok");

    let mut held = house.history.hold("a").await.unwrap();
    held.take_back().await.unwrap();
    drop(held);
    assert_eq!(found(&house.history, "a").await, "u one | a ok | u two | a ok");
}

#[tokio::test]
async fn a_lock_file_goes_with_its_conversation() {
    let house = House::new();
    let locks = house.folder.path().join("locks");
    let count = || std::fs::read_dir(&locks).unwrap().count();
    keep(&house.history, "a", "u hi | a ok").await;
    keep(&house.history, "b", "u hi | a ok").await;
    assert_eq!(count(), 2);
    house.history.delete_conversation("a").await.unwrap();
    assert_eq!(count(), 1);
    drop(house.history.hold("nothing is said here").await.unwrap());
    assert_eq!(count(), 1);
    house.history.hold("b").await.unwrap().clear().await.unwrap();
    assert_eq!(count(), 0);
    keep(&house.history, "b", "u hi | a ok").await;
    assert_eq!(found(&house.another(), "b").await, "u hi | a ok");
    assert_eq!(count(), 1);
}

#[tokio::test]
async fn lock_files_of_no_conversation_are_swept_away() {
    let house = House::new();
    let locks = house.folder.path().join("locks");
    keep(&house.history, "a", "u hi | a ok").await;
    let theirs = house.history.hold("of another process").await.unwrap();
    let (left, foreign) = (locks.join(format!("{}.lock", "0".repeat(64))), locks.join("mine.lock"));
    for file in [&left, &foreign] {
        std::fs::write(file, "").unwrap();
    }
    assert_eq!(found(&house.another(), "a").await, "u hi | a ok");
    assert!(!left.exists(), "nobody holds it, and nothing is kept of it");
    assert!(foreign.exists(), "it is none of ours");
    assert!(matches!(
        house.another().delete_conversation("of another process").await,
        Err(HistoryError::InUse(_))
    ));
    drop(theirs);
    assert_eq!(std::fs::read_dir(&locks).unwrap().count(), 2, "that of `a`, and the foreign one");
}

#[tokio::test]
async fn a_file_that_is_gone_or_another_one_is_noticed() {
    let house = House::new();
    keep(&house.history, "a", "u hi | a ok").await;
    house.history.check_files().unwrap();
    let away = house.folder.path().join("away.db");
    std::fs::rename(house.path(), &away).unwrap();
    let error = house.history.check_files().unwrap_err().to_string();
    assert!(error.contains("cannot find"), "{error}");
    std::fs::copy(&away, house.path()).unwrap();
    let error = house.history.check_files().unwrap_err().to_string();
    assert!(error.contains("another file is there now"), "{error}");
    std::fs::rename(&away, house.path()).unwrap();
    house.history.check_files().unwrap();
}
