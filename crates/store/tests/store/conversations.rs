//! Conversations in the file: steps that are whole, order, summaries, costs.

use std::fs;

use callgate_store::{
    Addition, AnswerCost, ChainReport, CostSum, EngineSelection, LONGEST_CONVERSATION,
    LONGEST_MESSAGE, LONGEST_TITLE, NewMessage, Store, StoreError, StoredConversation,
};

use crate::place::{Place, draft, file_in};

fn said(bodies: &[&str]) -> Vec<NewMessage> {
    let begins = |body: &str| body.starts_with('u');
    bodies
        .iter()
        .map(|body| NewMessage { body: (*body).to_owned(), begins: begins(body) })
        .collect()
}

/// Writes these messages; those that begin with `u` begin a turn.
fn add(store: &mut Store, conversation: &str, at_ms: i64, bodies: &[&str]) -> u64 {
    let messages = said(bodies);
    store
        .add_to_conversation(&Addition {
            conversation,
            at_ms,
            messages: &messages,
            ..Addition::default()
        })
        .unwrap()
}

fn replace(store: &mut Store, from: u64, bodies: &[&str]) -> u64 {
    let messages = said(bodies);
    let instead_of = Some(from);
    let addition =
        Addition { conversation: "a", instead_of, messages: &messages, ..Addition::default() };
    store.add_to_conversation(&addition).unwrap()
}

fn texts(store: &Store, conversation: &str, from: u64) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    let each = |number, body: Option<&str>| found.push((number, body.unwrap().to_owned()));
    store.each_message(conversation, from, each).unwrap();
    found
}

fn bodies(store: &Store, conversation: &str) -> Vec<String> {
    texts(store, conversation, 0).into_iter().map(|(_, body)| body).collect()
}

fn ids(store: &Store, limit: usize, before_ms: Option<i64>) -> Vec<String> {
    store
        .recent_conversations(limit, before_ms, None)
        .unwrap()
        .into_iter()
        .map(|found| found.id)
        .collect()
}

fn known(store: &Store, id: &str) -> StoredConversation {
    store.conversation(id).unwrap().unwrap()
}

#[test]
fn messages_are_numbered_in_the_order_of_their_writing() {
    let mut place = Place::new();
    assert_eq!(add(&mut place.store, "a", 1, &["u1", "b1"]), 2);
    assert_eq!(add(&mut place.store, "other", 2, &["u"]), 1);
    assert_eq!(add(&mut place.store, "a", 3, &["u2"]), 3);
    let expected = [(1, "b1".to_owned()), (2, "u2".to_owned())];
    assert_eq!(texts(&place.store, "a", 1), expected);
    let mut back = Vec::new();
    let each = |number, _: Option<&str>| {
        back.push(number);
        back.len() < 2
    };
    place.store.each_message_before("a", 9, each).unwrap();
    assert_eq!(back, [2, 1], "from the last, until it wants no more");
    assert_eq!(texts(&place.store, "none", 0), []);
}

#[test]
fn a_step_is_written_whole_or_not_at_all() {
    let mut place = Place::new();
    add(&mut place.store, "a", 1, &["u1", "b1"]);
    let messages = said(&["u2", "b2"]);
    let spending = AnswerCost { input: 5, micro_usd: Some(7), ..AnswerCost::default() };
    let drafts = [draft("ran", None, "{}"), draft("ran", None, &"x".repeat(9))];
    let step = Addition {
        conversation: "a",
        instead_of: Some(0),
        messages: &messages,
        spending: Some(&spending),
        drafts: &drafts,
        ..Addition::default()
    };
    let refused = place.store.add_to_conversation(&step).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { index: 1, .. }), "{refused}");
    let too_big = ["x".repeat(300_000)].map(|body| NewMessage { body, begins: false });
    let big = Addition { messages: &too_big, drafts: &drafts[..1], ..step };
    place.store.limit_size(200 * 1024).unwrap();
    let full = place.store.add_to_conversation(&big).unwrap_err();
    assert!(matches!(full, StoreError::Full(_)), "{full}");
    assert_eq!(bodies(&place.store, "a"), ["u1", "b1"]);
    assert_eq!(place.store.cost_totals("a", 0).unwrap().all, CostSum::default());
    assert_eq!(place.store.last_seq().unwrap(), 0);

    place.store.limit_size(u64::MAX).unwrap();
    place.store.add_to_conversation(&Addition { drafts: &drafts[..1], ..step }).unwrap();
    assert_eq!(bodies(&place.store, "a"), ["u2", "b2"]);
    assert_eq!(place.store.cost_totals("a", 0).unwrap().conversation.micro_usd, 7);
    assert!(matches!(place.store.verify().unwrap(), ChainReport::Whole { entries: 1, .. }));
}

#[test]
fn they_are_listed_by_their_last_use_and_only_when_written_to() {
    let mut place = Place::new();
    let store = &mut place.store;
    assert!(store.make_conversation("new", Some("A title"), 1).unwrap());
    assert_eq!(ids(store, 9, None), [""; 0]);
    assert_eq!(store.last_conversation(None).unwrap(), None);
    add(store, "a", 100, &["u"]);
    add(store, "b", 100, &["u"]);
    add(store, "new", 100, &["u"]);
    add(store, "a", 50, &["u"]);
    assert_eq!(ids(store, 9, None), ["a", "new", "b"], "one millisecond, and a clock put back");
    assert_eq!(ids(store, 2, None), ["a", "new"]);
    let second = known(store, "new").used_ms;
    assert_eq!(ids(store, 2, second), ["b"]);
    assert_eq!(store.last_conversation(None).unwrap().as_deref(), Some("a"));
    assert_eq!(known(store, "new").title.as_deref(), Some("A title"));
    assert_eq!(known(store, "a").length, 2);
}

#[test]
fn a_clock_that_was_far_ahead_is_not_followed_for_ever() {
    let mut place = Place::new();
    add(&mut place.store, "ahead", 900_000_000, &["u"]);
    add(&mut place.store, "now", 1000, &["u"]);
    assert_eq!(known(&place.store, "now").used_ms, Some(1000));
}

#[test]
fn the_chosen_engine_is_kept_and_its_change_is_noticed() {
    let mut place = Place::new();
    let chosen = |engine: &str, model: Option<&str>| EngineSelection {
        engine: engine.to_owned(),
        model: model.map(str::to_owned),
    };
    add(&mut place.store, "a", 1, &["u1"]);
    assert_eq!(known(&place.store, "a").engine, None);
    let before = place.store.conversation_state("a").unwrap();
    place.store.choose_engine("a", &chosen("e", Some("m")), 2).unwrap();
    assert_eq!(known(&place.store, "a").engine, Some(chosen("e", Some("m"))));
    assert_ne!(place.store.conversation_state("a").unwrap(), before);
    place.store.choose_engine("a", &chosen("e", None), 3).unwrap();
    assert_eq!(known(&place.store, "a").engine, Some(chosen("e", None)));
    assert_eq!(bodies(&place.store, "a"), ["u1"]);

    place.store.choose_engine("new", &chosen("f", None), 4).unwrap();
    assert_eq!(ids(&place.store, 9, None), ["a"], "nothing was said in it yet");
    add(&mut place.store, "new", 5, &["u"]);
    assert_eq!(known(&place.store, "new").engine, Some(chosen("f", None)));
    let long = chosen(&"x".repeat(257), None);
    assert!(place.store.choose_engine("a", &long, 6).is_err());
}

#[test]
fn a_title_is_the_given_one_or_else_how_it_began() {
    let mut place = Place::new();
    let store = &mut place.store;
    let open = |store: &mut Store, opening| {
        let addition =
            Addition { conversation: "a", opening: Some(opening), ..Addition::default() };
        store.add_to_conversation(&addition).unwrap();
    };
    open(store, "first words");
    open(store, "later words");
    assert_eq!(known(store, "a").title.as_deref(), Some("first words"));
    assert!(store.name_conversation("a", "Named").unwrap());
    assert_eq!(known(store, "a").title.as_deref(), Some("Named"));
    assert!(!store.name_conversation("none", "Named").unwrap());
    assert!(!store.make_conversation("a", Some("Other"), 1).unwrap(), "it is in use");
    assert_eq!(known(store, "a").title.as_deref(), Some("Named"));
}

#[test]
fn one_that_is_never_used_is_forgotten_after_a_day() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let mut place = Place::new();
    let store = &mut place.store;
    store.make_conversation("left", None, 1000).unwrap();
    store.make_conversation("b", None, 1000 + DAY).unwrap();
    assert!(store.conversation("left").unwrap().is_some());
    store.make_conversation("c", None, 1001 + DAY).unwrap();
    assert_eq!(store.conversation("left").unwrap(), None);
    assert!(store.conversation("b").unwrap().is_some());
}

#[test]
fn the_last_turn_can_be_replaced() {
    let mut place = Place::new();
    let store = &mut place.store;
    assert_eq!(store.last_turn("a").unwrap(), None);
    add(store, "a", 1, &["u1", "b1", "u2", "b2", "c2", "b3"]);
    assert_eq!(store.last_turn("a").unwrap(), Some(2));
    assert_eq!(replace(store, 2, &["u2 again", "b"]), 4);
    assert_eq!(bodies(store, "a"), ["u1", "b1", "u2 again", "b"]);
}

#[test]
fn a_summary_stands_for_the_first_messages_and_they_stay() {
    let mut place = Place::new();
    let store = &mut place.store;
    add(store, "a", 1, &["u1", "b1", "u2", "b2"]);
    assert!(!store.summarize_conversation("a", 5, "sum").unwrap(), "there are only four");
    assert!(!store.summarize_conversation("none", 0, "sum").unwrap());
    assert!(store.summarize_conversation("a", 2, "sum").unwrap());
    let found = known(store, "a");
    assert_eq!((found.summary.as_deref(), found.summarized, found.aged), (Some("sum"), 2, 4));
    assert_eq!((found.length, bodies(store, "a").len()), (4, 4));
    assert!(!store.summarize_conversation("a", 1, "less").unwrap(), "what is summarized stays so");
    assert_eq!(replace(store, 2, &["u2"]), 3);
    assert_eq!(known(store, "a").aged, 2, "what was written since is not aged");
    store.summarize_conversation("a", 3, "all").unwrap();
    assert_eq!(store.last_turn("a").unwrap(), None, "the summary stands for it");
    assert_eq!(replace(store, 0, &["u3"]), 4, "what is summarized is not removed");
    assert_eq!(store.recent_conversations(9, None, None).unwrap()[0].summary, None);
}

#[test]
fn what_is_cleared_or_deleted_leaves_the_file() {
    let mut place = Place::new();
    let long = format!("u SECRETWORD {}", "x".repeat(20_000));
    for id in ["a", "b"] {
        let spending = AnswerCost { input: 10, ..AnswerCost::default() };
        let messages = said(&[&long]);
        let addition = Addition {
            conversation: id,
            at_ms: 5,
            messages: &messages,
            opening: Some("SECRETWORD"),
            spending: Some(&spending),
            ..Addition::default()
        };
        place.store.add_to_conversation(&addition).unwrap();
    }
    place.store.summarize_conversation("a", 1, "SECRETWORD").unwrap();
    place.store.clear_conversation("a").unwrap();
    place.store.clear_conversation("none").unwrap();
    let cleared = known(&place.store, "a");
    assert_eq!((cleared.length, cleared.summarized, cleared.aged), (0, 0, 0));
    assert_eq!((cleared.title, cleared.summary), (None, None));
    assert_eq!(ids(&place.store, 9, None).len(), 2, "it was written to");
    assert!(place.store.delete_conversation("b").unwrap());
    assert!(!place.store.delete_conversation("b").unwrap());
    assert_eq!(ids(&place.store, 9, None), ["a"]);
    let spent = place.store.cost_totals("b", 0).unwrap();
    assert_eq!((spent.conversation.input, spent.all.input), (0, 20), "its day still counts it");
    assert_eq!(place.store.cost_totals("a", 0).unwrap().conversation.input, 10);
    add(&mut place.store, "b", 6, &["u"]);
    assert_eq!(
        place.store.cost_totals("b", 0).unwrap().conversation.input,
        0,
        "a new one begins anew"
    );
    for name in ["ledger.db", "ledger.db-wal"] {
        let bytes = fs::read(place.folder.path().join(name)).unwrap();
        assert!(!bytes.windows(10).any(|part| part == b"SECRETWORD"), "{name}");
    }
}

#[test]
fn costs_are_summed_by_conversation_and_by_time() {
    let mut place = Place::new();
    let mut pay = |conversation, at_ms, micro_usd| {
        let spending = AnswerCost {
            model: "m".to_owned(),
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
            micro_usd,
        };
        let spending = Some(&spending);
        let addition = Addition { conversation, at_ms, spending, ..Addition::default() };
        place.store.add_to_conversation(&addition).unwrap();
    };
    pay("a", 10, Some(100));
    pay("a", 20, None);
    pay("b", 20, Some(1000));
    let spent = place.store.cost_totals("a", 20).unwrap();
    let sum = |micro_usd| CostSum {
        input: 2,
        output: 4,
        cache_read: 6,
        cache_write: 8,
        micro_usd,
        unpriced: 1,
    };
    assert_eq!((spent.conversation, spent.all), (sum(100), sum(1000)));
}

#[test]
fn what_is_too_long_is_refused() {
    let mut store = Store::in_memory().unwrap();
    let refused = |result: Result<(), StoreError>| {
        assert!(matches!(result, Err(StoreError::TooLong { .. })), "{result:?}");
    };
    let id = "i".repeat(LONGEST_CONVERSATION + 1);
    let title = "t".repeat(LONGEST_TITLE + 1);
    let messages = [NewMessage { body: "m".repeat(LONGEST_MESSAGE + 1), begins: true }];
    let to = |conversation| Addition { conversation, ..Addition::default() };
    refused(store.add_to_conversation(&to(&id)).map(drop));
    refused(store.add_to_conversation(&Addition { opening: Some(&title), ..to("a") }).map(drop));
    refused(store.add_to_conversation(&Addition { messages: &messages, ..to("a") }).map(drop));
    refused(store.make_conversation(&id, None, 0).map(drop));
    refused(store.make_conversation("a", Some(&title), 0).map(drop));
    refused(store.name_conversation("a", &title).map(drop));
    refused(store.summarize_conversation("a", 0, &messages[0].body).map(drop));
}

#[test]
fn a_store_in_memory_is_like_one_in_a_file() {
    let mut store = Store::in_memory().unwrap();
    add(&mut store, "a", 1, &["u", "b"]);
    store.append_entries(&[draft("ran", None, "{}")]).unwrap();
    assert_eq!(bodies(&store, "a"), ["u", "b"]);
    assert!(matches!(store.verify().unwrap(), ChainReport::Whole { entries: 1, .. }));
    assert!(store.delete_conversation("a").unwrap());
}

#[test]
fn a_large_message_comes_back_as_it_was_also_from_another_process_view() {
    let mut place = Place::new();
    let large = format!("u{}", "ä".repeat(6 * 1024 * 1024));
    add(&mut place.store, "a", 1, &[&large, "b"]);
    let other = Store::open_read_only(&file_in(place.folder.path())).unwrap();
    assert_eq!(bodies(&other, "a"), [&*large, "b"]);
}

#[test]
fn a_message_that_is_no_text_is_nothing_and_the_others_are_there() {
    let mut place = Place::new();
    add(&mut place.store, "a", 1, &["u1", "b1", "u2"]);
    place.tamper("UPDATE messages SET body = CAST(x'ff41' AS TEXT) WHERE number = 1");
    let mut found = Vec::new();
    place.store.each_message("a", 0, |_, body| found.push(body.map(str::to_owned))).unwrap();
    assert_eq!(found, [Some("u1".to_owned()), None, Some("u2".to_owned())]);
}

#[test]
fn a_conversation_is_cut_only_between_turns() {
    let Place { mut store, folder: _folder } = Place::new();
    add(&mut store, "a", 1, &["u0", "a1", "u2", "r3", "a4"]);
    for length in [1, 3, 4, 6] {
        assert!(!store.rewind_conversation("a", length, 2).unwrap(), "{length}");
        assert!(!store.fork_conversation("a", "b", length, None, 2).unwrap(), "{length}");
    }
    assert!(!store.rewind_conversation("none", 0, 2).unwrap());
    let before = store.conversation_state("a").unwrap();
    assert!(store.rewind_conversation("a", 5, 2).unwrap(), "all of it");
    assert!(store.rewind_conversation("a", 2, 2).unwrap());
    assert_ne!(store.conversation_state("a").unwrap(), before);
    let left = |store: &Store| texts(store, "a", 0).into_iter().map(|(_, text)| text).collect();
    let left: Vec<String> = left(&store);
    assert_eq!(left, ["u0", "a1"]);
    assert_eq!(add(&mut store, "a", 3, &["u2"]), 3);
}

#[test]
fn a_copy_has_the_messages_and_the_summary_that_still_holds() {
    let Place { mut store, folder: _folder } = Place::new();
    add(&mut store, "a", 5, &["u0", "a1", "u2", "a3", "u4", "a5"]);
    store.name_conversation("a", "title").unwrap();
    assert!(store.summarize_conversation("a", 2, "summary").unwrap());
    assert!(store.fork_conversation("a", "whole", 4, None, 2).unwrap());
    assert!(store.fork_conversation("a", "early", 0, Some("other"), 2).unwrap());
    assert!(!store.fork_conversation("a", "early", 0, None, 2).unwrap(), "it exists");
    let whole = store.conversation("whole").unwrap().unwrap();
    assert_eq!((whole.length, whole.summarized, whole.aged), (4, 2, 4));
    assert_eq!(
        (whole.summary.as_deref(), whole.title.as_deref()),
        (Some("summary"), Some("title"))
    );
    let early = store.conversation("early").unwrap().unwrap();
    assert_eq!((early.length, early.summarized, early.aged), (0, 0, 0));
    assert_eq!((early.summary, early.title.as_deref()), (None, Some("other")));
    assert_eq!(store.last_conversation(None).unwrap().as_deref(), Some("early"), "used last");
    assert_eq!(texts(&store, "whole", 2), [(2, "u2".to_owned()), (3, "a3".to_owned())]);

    assert!(store.rewind_conversation("a", 2, 9).unwrap());
    let kept = store.conversation("a").unwrap().unwrap();
    assert_eq!((kept.summary.as_deref(), kept.summarized, kept.aged), (Some("summary"), 2, 2));
    add(&mut store, "a", 10, &["u2", "a3"]);
    assert!(store.rewind_conversation("a", 0, 11).unwrap());
    let empty = store.conversation("a").unwrap().unwrap();
    assert_eq!((empty.summary, empty.summarized, empty.aged, empty.length), (None, 0, 0, 0));
}

#[test]
fn a_conversation_belongs_to_the_folder_in_which_it_began() {
    let mut place = Place::new();
    let store = &mut place.store;
    let messages = said(&["u"]);
    let say = |store: &mut Store, conversation, at_ms, folder| {
        let to = Addition { conversation, at_ms, messages: &messages, ..Addition::default() };
        store.add_to_conversation(&Addition { folder, ..to }).unwrap();
    };
    say(store, "here", 1, Some("/a"));
    say(store, "there", 2, Some("/b"));
    say(store, "nowhere", 3, None);
    // It goes on elsewhere, and a mode is chosen before the first message.
    say(store, "here", 4, Some("/b"));
    store.choose_mode("later", "plan", 5).unwrap();
    say(store, "later", 5, Some("/b"));
    assert!(store.fork_conversation("here", "copy", 1, None, 6).unwrap());

    let within = |store: &Store, folder| {
        let found = store.recent_conversations(9, None, folder).unwrap();
        assert_eq!(
            store.last_conversation(folder).unwrap(),
            found.first().map(|first| first.id.clone())
        );
        found.into_iter().map(|found| found.id).collect::<Vec<_>>()
    };
    assert_eq!(within(store, Some("/a")), ["copy", "here"]);
    assert_eq!(within(store, Some("/b")), ["later", "there"]);
    assert_eq!(within(store, None), ["copy", "later", "here", "nowhere", "there"]);
    assert!(within(store, Some("/c")).is_empty());
    assert_eq!(known(store, "copy").folder.as_deref(), Some("/a"));
}
