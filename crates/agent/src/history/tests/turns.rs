//! One at a time at a conversation; turns taken back; conversations compacted.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::strict::Strict;
use super::*;

#[tokio::test]
async fn who_comes_second_waits_and_is_told_so() {
    let house = House::new();
    let other = house.another();
    for history in [&house.history, &other] {
        let mut first = house.history.hold("a").await.unwrap();
        let is_told = AtomicBool::new(false);
        let second = history.hold_or("a", || is_told.store(true, Ordering::SeqCst));
        let mut second = pin!(second);
        let told = async {
            while !is_told.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            biased;
            _ = &mut second => panic!("somebody works on it"),
            () = told => {}
        }
        let apart = history.hold_or("b", || panic!("nobody works on it"));
        assert_eq!(apart.await.unwrap().id(), "b");
        first.commit(turn("u hi | a ok")).await.unwrap();
        drop(first);
        let mut second = second.await.unwrap();
        assert_eq!(shown(&second), "u hi | a ok", "it sees what the first has written");
        second.clear().await.unwrap();
    }
}

#[tokio::test]
async fn who_stops_waiting_holds_nothing() {
    let house = House::new();
    let held = house.history.hold("a").await.unwrap();
    begin(house.history.hold("a"));
    drop(held);
    let busy = busy(&house.history).await;
    for _ in 0..20 {
        // The thread takes the lock for somebody who has gone.
        begin(house.history.hold("a"));
    }
    drop(busy);
    house.another().hold("a").await.unwrap();
}

#[tokio::test]
async fn a_turn_taken_back_stays_in_the_file_until_another_replaces_it() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    assert!(held.take_back().await.unwrap().is_none(), "there is none");
    held.commit(turn("u one | a ok")).await.unwrap();
    held.commit(turn("u two | a ?x | u !x")).await.unwrap();
    held.commit(round("a done")).await.unwrap();
    let asked = held.take_back().await.unwrap().unwrap();
    assert_eq!(show([&asked]), "u two");
    assert_eq!((shown(&held).as_str(), held.length()), ("u one | a ok", 2));
    assert!(held.take_back().await.unwrap().is_none(), "only one");
    drop(held);
    let mut held = house.history.hold("a").await.unwrap();
    assert_eq!(shown(&held), "u one | a ok | u two | a ?x | u !x | a done");
    held.take_back().await.unwrap();
    held.commit(turn("u two | a ?x | u !x")).await.unwrap();
    held.commit(round("a better")).await.unwrap();
    assert_eq!(shown(&held), "u one | a ok | u two | a ?x | u !x | a better");
    held.commit_replacing(turn("u three | a ok")).await.unwrap();
    assert_eq!(shown(&held), "u one | a ok | u three | a ok");
    held.take_back().await.unwrap();
    held.commit_replacing(turn("u four | a ok")).await.unwrap();
    drop(held);
    assert_eq!(found(&house.another(), "a").await, "u one | a ok | u four | a ok");
}

#[tokio::test]
async fn a_step_without_messages_replaces_nothing() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one | a ok")).await.unwrap();
    held.commit(turn("u two | a ok")).await.unwrap();
    held.take_back().await.unwrap();
    held.commit(HistoryStep { drafts: vec![draft("{}")], ..HistoryStep::default() }).await.unwrap();
    assert_eq!((shown(&held).as_str(), held.length()), ("u one | a ok", 2));
    assert_eq!(house.history.length("a").await.unwrap(), 4, "the turn is still in the file");
    held.commit(turn("u three | a ok")).await.unwrap();
    assert_eq!((shown(&held).as_str(), held.length()), ("u one | a ok | u three | a ok", 4));
    drop(held);
    assert_eq!(found(&house.history, "a").await, "u one | a ok | u three | a ok");
}

#[tokio::test]
async fn a_replacement_that_fails_leaves_the_old_turn() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one | a ok")).await.unwrap();
    let wrong = HistoryStep { drafts: vec![draft("no")], ..turn("u two | a ok") };
    held.commit_replacing(wrong).await.unwrap_err();
    drop(held);
    assert_eq!(found(&house.history, "a").await, "u one | a ok");
}

#[tokio::test]
async fn a_summary_stands_for_the_first_turns_and_pages_still_have_them() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one | a # ?x | u !x | a # ok")).await.unwrap();
    held.commit(turn("u two | a # ok")).await.unwrap();
    held.commit(turn("u three | a # ok")).await.unwrap();
    let summary = || read("u summary").remove(0);
    held.compact(4, summary()).await.unwrap();
    let expected = "u summary two | a ok | u three | a ok";
    assert_eq!((shown(&held).as_str(), held.length()), (expected, 8));
    held.commit(turn("u four | a # ok")).await.unwrap();
    drop(held);
    let mut held = house.another().hold("a").await.unwrap();
    assert_eq!(shown(&held), "u summary two | a ok | u three | a ok | u four | a # ok");
    assert_eq!(held.length(), 10);
    let page = house.history.read_page("a", 100, None).await.unwrap();
    assert_eq!((page.messages.len(), page.first), (10, 0));
    assert_eq!(show(&page.messages[..2]), "u one | a # ?x");

    held.compact(2, read("u again").remove(0)).await.unwrap();
    assert_eq!(shown(&held), "u again three | a ok | u four | a ok");
    assert_eq!(show([&held.take_back().await.unwrap().unwrap()]), "u four");
    held.commit(turn("u five | a # ok")).await.unwrap();
    assert_eq!(shown(&held), "u again three | a ok | u five | a # ok", "a new thought counts");
    drop(held);
    let held = house.another().hold("a").await.unwrap();
    assert_eq!(shown(&held), "u again three | a ok | u five | a # ok");
    let mended: Vec<ChatMessage> = held.messages().iter().map(|m| ChatMessage::clone(m)).collect();
    Strict::start().assert_takes(&mended);
}

#[tokio::test]
async fn a_turn_is_taken_back_from_behind_a_summary() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one | a ok")).await.unwrap();
    held.commit(turn("u two | a ok")).await.unwrap();
    let summary = || read("u summary").remove(0);
    held.compact(2, summary()).await.unwrap();
    assert_eq!(show([&held.take_back().await.unwrap().unwrap()]), "u two");
    assert_eq!(shown(&held), "u summary");
    held.compact(1, read("u shorter").remove(0)).await.unwrap();
    assert_eq!(shown(&held), "u shorter", "also while a turn is taken back");
    held.commit(turn("u other | a ok")).await.unwrap();
    assert_eq!(shown(&held), "u shorter other | a ok");
    drop(held);
    let mut held = house.history.hold("a").await.unwrap();
    assert_eq!(shown(&held), "u shorter other | a ok");
    held.compact(2, summary()).await.unwrap();
    assert!(held.take_back().await.unwrap().is_none(), "the summary stands for it");
    assert_eq!((shown(&held).as_str(), held.length()), ("u summary", 4));
}

#[tokio::test]
async fn it_is_only_cut_where_a_turn_or_an_answer_begins() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one | a ?x | u !x | a ok")).await.unwrap();
    for (upto, summary) in [(0, "u s"), (2, "u s"), (5, "u s"), (4, "a s")] {
        let error = held.compact(upto, read(summary).remove(0)).await.unwrap_err();
        assert!(matches!(error, HistoryError::BadCut), "{upto} {summary}");
    }
    assert_eq!(shown(&held), "u one | a ?x | u !x | a ok");
    held.compact(1, read("u s").remove(0)).await.unwrap();
    assert_eq!(shown(&held), "u s | a ?x | u !x | a ok");
    held.compact(3, read("u t").remove(0)).await.unwrap();
    assert_eq!(shown(&held), "u t | a ok");
}

#[tokio::test]
async fn what_was_shown_of_a_round_becomes_messages_that_say_where_it_ended() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u one")).await.unwrap();
    for piece in ["Ha", "lf"] {
        let mut shown = MessageFragments::default();
        shown.append_text(piece);
        held.store_fragments(shown).await.unwrap();
    }
    assert_eq!(house.history.read_page("a", 9, None).await.unwrap().length, 1, "it goes on");
    drop(held);
    let page = house.history.read_page("a", 9, None).await.unwrap();
    assert_eq!((show(&page.messages).as_str(), page.is_unfinished), ("u one | a Half ~", true));
    let mut held = house.history.hold("a").await.unwrap();
    assert!(shown(&held).starts_with("u one | a Half | u [Your answer was cut off"));
    assert!(held.is_broken_off());
    let mut fragments = MessageFragments::default();
    for block in read("a ?x ?y").remove(0).content {
        fragments.answer.push(block);
    }
    fragments.append_result(read("u !x").remove(0).content.remove(0), None);
    held.store_fragments(fragments).await.unwrap();
    drop(held);
    let held = house.history.hold("a").await.unwrap();
    assert!(shown(&held).ends_with(" | a ?x ?y | u !x !y?"), "{}", shown(&held));
    assert_eq!(held.length(), 4);
}

#[tokio::test]
async fn what_is_small_is_written_at_once_unless_another_process_writes() {
    let house = House::new();
    let mut held = house.history.hold("a").await.unwrap();
    held.commit(turn("u hello")).await.unwrap();
    let thread = &house.history.0;
    let fragment = [r#"{"role":"assistant","content":[{"type":"text","text":"Hel"}]}"#.to_owned()];
    let at_once = || thread.write_at_once(1, |stores| stores.write_fragments("a", &fragment));
    at_once().unwrap().unwrap();
    // The other process writes until it has to end.
    let other = house.another();
    let ((begun, has_begun), (writing, ended)) = (tokio::sync::oneshot::channel(), channel::<()>());
    let check = move |_: &CostTotals| {
        begun.send(()).ok();
        ended.recv().ok();
        Ok::<(), ()>(())
    };
    let other =
        tokio::spawn(async move { other.reserve_cost("x".to_owned(), 0, None, check).await });
    has_begun.await.unwrap();
    assert!(at_once().is_none(), "it does not wait");
    let mut shown = MessageFragments::default();
    shown.append_text("lo");
    let (noted, ()) = tokio::join!(held.store_fragments(shown), async { drop(writing) });
    noted.unwrap();
    other.await.unwrap().unwrap().unwrap();
    // Many writes have the thread move pages, and nothing is lost meanwhile.
    for _ in 0..400 {
        let mut shown = MessageFragments::default();
        shown.append_text("!");
        held.store_fragments(shown).await.unwrap();
    }
    drop(held);
    assert!(found(&house.another(), "a").await.contains(&format!("Hello{}", "!".repeat(400))));
}
