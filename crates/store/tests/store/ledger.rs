//! What goes into the ledger comes out of it, by every filter.

use crate::place::{Place, draft, seqs};
use callgate_store::{EntryDraft, EntryFilter, LONGEST_BODY, MemberMatch, Store, StoreError};
use callgate_wire::ledger::LedgerKind;

#[test]
fn what_is_appended_is_there_for_everybody_when_it_returns() {
    let mut place = Place::new();
    let reader = Store::open_read_only(&place.path()).unwrap();
    let before = reader.data_version().unwrap();
    let written = place
        .store
        .append_entries(&[
            draft("asked", Some("q1"), r#"{"tool":"Bash"}"#),
            draft("started", None, "{}"),
        ])
        .unwrap();
    assert_eq!(seqs(&written), [1, 2]);
    assert_eq!(reader.entries_after(&EntryFilter::default(), 0, 10).unwrap(), written);
    assert_eq!(reader.last_seq().unwrap(), 2);
    assert_eq!(reader.chain_head().unwrap().hash, written[1].hash);
    assert_ne!(reader.data_version().unwrap(), before);
    assert_eq!(seqs(&place.store.append_entries(&[draft("stopped", None, "{}")]).unwrap()), [3]);
    assert_eq!(place.store.append_entries(&[]).unwrap(), []);
}

#[test]
fn what_is_no_entry_is_refused_and_nothing_of_its_batch_is_written() {
    let mut place = Place::new();
    let good = draft("asked", Some("q"), "{}");
    assert_eq!(LONGEST_BODY, 16_777_216);
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(LONGEST_BODY));
    let bad: [(EntryDraft, &str); 13] = [
        (draft("", None, "{}"), "kind"),
        (draft("Asked", None, "{}"), "kind"),
        (draft("a b", None, "{}"), "kind"),
        (draft(&"a".repeat(33), None, "{}"), "kind"),
        (draft("anchor", None, "{}"), "anchor"),
        (draft("asked", Some(""), "{}"), "question"),
        (draft("asked", Some("a\nb"), "{}"), "question"),
        (draft("asked", Some(&"q".repeat(129)), "{}"), "question"),
        (draft("asked", None, ""), "JSON object"),
        (draft("asked", None, "[]"), "JSON object"),
        (draft("asked", None, "{} {}"), "JSON object"),
        (draft("asked", None, r#"{"a":}"#), "JSON object"),
        (draft("asked", None, &long), "16 MiB"),
    ];
    for (bad, why) in bad {
        let error = place.store.append_entries(&[good.clone(), bad]).unwrap_err();
        assert!(matches!(error, StoreError::Refused { index: 1, .. }), "{error}");
        assert!(error.to_string().contains(why), "{error} should name the {why}");
    }
    assert_eq!(place.store.last_seq().unwrap(), 0);
    place.store.append_entries(&[draft(&"a".repeat(32), Some(&"q".repeat(128)), " {} ")]).unwrap();
}

/// A ledger with two questions and what happened around them; times are 100, 200, ...
fn told() -> Place {
    let mut place = Place::new();
    let q1 = Some("q1");
    let q2 = Some("q2");
    let mut at = 0;
    let mut tell = |kind: &str, question: Option<&str>, body: &str| {
        at += 100;
        place.write_at(at, kind, question, body);
    };
    tell("started", None, r#"{"version":"0.1.0"}"#); // 1
    let asked = r#"{"tool":"Bash","cwd":"/home/ada/engine","session":"34fb81ac","input":{"command":"say \"Hi\"\n50%"}}"#;
    tell("asked", q1, asked); // 2
    tell("asked", q2, r#"{"tool":"Write","cwd":"/home/ada/eng","session":"34aa"}"#); // 3
    tell("decided", q1, r#"{"decision":"deny","by":"Ada"}"#); // 4
    tell("closed", q1, r#"{"how":"delivered"}"#); // 5
    tell("decided", q2, r#"{"decision":"allow","by":"Ada"}"#); // 6
    tell("ran", None, r#"{"tool":"bash","ok":true,"session":"34fb81ac","tries":1234}"#); // 7
    place
}

#[test]
fn every_filter_gives_what_it_says() {
    let place = told();
    let check = |filter: EntryFilter, expected: &[u64]| {
        let found = seqs(&place.store.entries_after(&filter, 0, 100).unwrap());
        assert_eq!(found, expected, "{filter:?}");
        let found = seqs(&place.store.entries_before(&filter, u64::MAX, 100).unwrap());
        assert_eq!(found, expected, "the latest of {filter:?}");
    };
    let all = EntryFilter::default;
    check(all(), &[1, 2, 3, 4, 5, 6, 7]);
    check(EntryFilter { kinds: vec![LedgerKind::Asked], ..all() }, &[2, 3]);
    check(EntryFilter { kinds: vec![LedgerKind::Asked, LedgerKind::Ran], ..all() }, &[2, 3, 7]);
    check(EntryFilter { kinds: vec![LedgerKind::Gated], ..all() }, &[]);
    check(EntryFilter { question: Some("q1".to_owned()), ..all() }, &[2, 4, 5]);
    check(EntryFilter { since_ms: Some(300), ..all() }, &[3, 4, 5, 6, 7]);
    check(EntryFilter { until_ms: Some(300), ..all() }, &[1, 2]);
    check(EntryFilter { since_ms: Some(200), until_ms: Some(400), ..all() }, &[2, 3]);
    let text = |text: &str| EntryFilter { text: Some(text.to_owned()), ..all() };
    check(text("ada"), &[2, 3, 4, 6]);
    check(text("SAY \"hi\"\n"), &[2]);
    check(text("50%"), &[2]);
    check(text("%"), &[2]);
    check(text("23"), &[7]);
    check(text("cwd"), &[]);
    let member =
        |name: &str, member| EntryFilter { members: vec![(name.to_owned(), member)], ..all() };
    let is = |value: &str| MemberMatch::Is(value.to_owned());
    check(member("tool", is("Bash")), &[2, 4, 5, 7]);
    check(member("decision", is("allow")), &[3, 6]);
    check(member("ok", is("1")), &[]);
    check(member("session", MemberMatch::Begins("34".to_owned())), &[2, 3, 4, 5, 6, 7]);
    check(member("session", MemberMatch::Begins("34f".to_owned())), &[2, 4, 5, 7]);
    check(member("session", MemberMatch::Begins("4f".to_owned())), &[]);
    let within = |folder: &str| member("cwd", MemberMatch::Within(folder.to_owned()));
    check(within("/home/ada"), &[2, 3, 4, 5, 6]);
    check(within("/home/ada/eng/"), &[3, 6]);
    check(within("engine"), &[2, 4, 5]);
    check(within("ada/engine"), &[2, 4, 5]);
    check(within("gine"), &[]);
    let both = vec![("tool".to_owned(), is("Bash")), ("decision".to_owned(), is("deny"))];
    check(EntryFilter { members: both, kinds: vec![LedgerKind::Decided], ..all() }, &[4]);
}

#[test]
fn a_body_that_was_tampered_with_does_not_stop_a_search() {
    let place = told();
    place.tamper("UPDATE entries SET body = 'no JSON' WHERE seq = 2");
    let text = EntryFilter { text: Some("ada".to_owned()), ..EntryFilter::default() };
    assert_eq!(seqs(&place.store.entries_after(&text, 0, 9).unwrap()), [3, 4, 6]);
    let tool = ("tool".to_owned(), MemberMatch::Is("Write".to_owned()));
    let member = EntryFilter { members: vec![tool], ..EntryFilter::default() };
    assert_eq!(seqs(&place.store.entries_after(&member, 0, 9).unwrap()), [3, 6]);
}

#[test]
fn pages_follow_each_other() {
    let place = told();
    let page = |after, limit| {
        seqs(&place.store.entries_after(&EntryFilter::default(), after, limit).unwrap())
    };
    assert_eq!(page(0, 3), [1, 2, 3]);
    assert_eq!(page(3, 3), [4, 5, 6]);
    assert_eq!(page(6, 3), [7]);
    assert!(page(7, 3).is_empty());
    assert!(page(u64::MAX, 3).is_empty());
    assert_eq!(page(0, usize::MAX).len(), 7);
    assert!(page(0, 0).is_empty());
    let back = |before, limit| {
        seqs(&place.store.entries_before(&EntryFilter::default(), before, limit).unwrap())
    };
    assert_eq!(back(u64::MAX, 2), [6, 7]);
    assert_eq!(back(6, 3), [3, 4, 5]);
    assert_eq!(back(2, 3), [1]);
    assert!(back(1, 3).is_empty());
}

#[test]
fn a_question_is_found_by_the_beginning_of_its_id() {
    let mut place = told();
    let found =
        |place: &Place, beginning| place.store.question_ids_with_prefix(beginning, 2).unwrap();
    assert_eq!(found(&place, "q"), ["q1", "q2"]);
    assert_eq!(found(&place, "q2"), ["q2"]);
    assert!(found(&place, "q%").is_empty());
    assert!(found(&place, "Q").is_empty());
    place.write("asked", Some("q10"), "{}");
    assert_eq!(found(&place, "q1"), ["q1", "q10"]);
    assert_eq!(found(&place, "q").len(), 2, "not more than asked for");
}

#[test]
fn open_questions_come_with_all_that_was_written_about_them() {
    let mut place = told();
    let open = |place: &Place, since| -> Vec<Vec<u64>> {
        let questions = place.store.open_questions(since).unwrap();
        questions.iter().map(|entries| seqs(entries)).collect()
    };
    assert_eq!(open(&place, 0), [[3, 6]]);
    assert_eq!(open(&place, 301), Vec::<Vec<u64>>::new());
    place.write_at(800, "asked", Some("a"), "{}");
    place.write_at(900, "asked", Some("b"), "{}");
    place.write_at(901, "pressed", Some("a"), "{}");
    assert_eq!(open(&place, 300), [vec![3, 6], vec![8, 10], vec![9]]);
    place.write_at(902, "asked", None, "{}");
    place.write_at(903, "closed", Some("q2"), "{}");
    assert_eq!(open(&place, 0), [vec![8, 10], vec![9]]);
    place.write_at(904, "asked", Some("q2"), "{}");
    assert_eq!(open(&place, 0), [vec![8, 10], vec![9]], "what was closed is not opened again");
    place.write_at(905, "asked", Some("a"), "{}");
    assert_eq!(open(&place, 905), [vec![8, 10, 14]], "asked once more");
    place.write_at(901 + 86_400_000, "started", None, "{}");
    assert_eq!(open(&place, 0), [vec![8, 10, 14]], "nobody waits for the other one any more");
}

#[test]
fn the_questions_closed_last_come_first() {
    let mut place = told();
    let closed = |place: &Place, limit| -> Vec<Vec<u64>> {
        let questions = place.store.recently_closed(limit).unwrap();
        questions.iter().map(|entries| seqs(entries)).collect()
    };
    assert_eq!(closed(&place, 5), [[2, 4, 5]]);
    place.write("closed", Some("q2"), "{}");
    place.write("closed", None, "{}");
    assert_eq!(closed(&place, 5), [[3, 6, 8], [2, 4, 5]]);
    assert_eq!(closed(&place, 1), [[3, 6, 8]]);
    assert_eq!(closed(&place, 0), Vec::<Vec<u64>>::new());
}

#[test]
fn a_key_is_made_once_and_kept() {
    let mut place = Place::new();
    let key = place.store.find_or_make_secret("digest").unwrap();
    let other = place.store.find_or_make_secret("other").unwrap();
    assert_ne!(key, other);
    assert_ne!(key, [0; 32]);
    assert_eq!(place.store.find_or_make_secret("digest").unwrap(), key);
    let mut again = Store::open(&place.path()).unwrap();
    assert_eq!(again.find_or_make_secret("digest").unwrap(), key);
    assert_ne!(Place::new().store.find_or_make_secret("digest").unwrap(), key);
}

#[test]
fn settings_are_kept_replaced_listed_and_forgotten() {
    let mut place = Place::new();
    let store = &mut place.store;
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    };
    for (key, value) in
        [("chat/b", "2"), ("chat/a", "1"), ("chat", "x"), ("chatter", "y"), ("ä/1", "z")]
    {
        store.keep_value(key, value).unwrap();
    }
    store.keep_value("chat/a", "3").unwrap();
    assert_eq!(store.kept_value("chat/a").unwrap().as_deref(), Some("3"));
    assert_eq!(store.kept_value("chat/").unwrap(), None);
    assert_eq!(store.kept_under("chat/").unwrap(), pairs(&[("chat/a", "3"), ("chat/b", "2")]));
    assert_eq!(store.kept_under("ä").unwrap(), pairs(&[("ä/1", "z")]));
    assert_eq!(store.kept_under("chat%").unwrap(), []);
    assert_eq!(store.kept_under("").unwrap().len(), 5);
    for _ in 0..2 {
        store.append_with(&[], &[("chat/a".to_owned(), None)]).unwrap();
    }
    assert_eq!(store.kept_value("chat/a").unwrap(), None);
    assert_eq!(store.last_seq().unwrap(), 0, "none of it is in the chain");
    let long = "x".repeat(callgate_store::LONGEST_VALUE + 1);
    assert!(matches!(store.keep_value("a", &long).unwrap_err(), StoreError::TooLong { .. }));
    assert!(matches!(store.keep_value(&long[..257], "").unwrap_err(), StoreError::TooLong { .. }));
    assert!(matches!(
        store.find_or_make_secret(&long[..257]).unwrap_err(),
        StoreError::TooLong { .. }
    ));
}

#[test]
fn what_is_kept_with_entries_is_written_with_them_or_not_at_all() {
    let mut place = Place::new();
    let keep = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
    let asked = draft("asked", Some("q1"), "{}");
    let keeps = [keep("copy/1", Some("7")), keep("copy/2", Some("8")), keep("copy/1", None)];
    assert_eq!(place.store.append_with(&[asked], &keeps).unwrap().len(), 1);
    assert_eq!(place.store.kept_value("copy/1").unwrap(), None);
    assert_eq!(place.store.kept_value("copy/2").unwrap().as_deref(), Some("8"));
    assert!(
        place.store.append_with(&[draft("", None, "{}")], &[keep("copy/3", Some(""))]).is_err()
    );
    let long = "k".repeat(300);
    assert!(place.store.append_with(&[draft("ran", None, "{}")], &[keep(&long, None)]).is_err());
    assert_eq!(place.store.kept_value("copy/3").unwrap(), None);
    assert_eq!(place.store.last_seq().unwrap(), 1);
    assert!(place.store.append_with(&[], &[keep("copy/2", None)]).unwrap().is_empty());
    assert!(place.store.has_question("q1").unwrap() && !place.store.has_question("q2").unwrap());
}

#[test]
fn a_checkpoint_moves_everything_into_the_main_file() {
    let mut place = Place::new();
    place.write("ran", None, "{}");
    place.store.checkpoint().unwrap();
    let alone = place.folder.path().join("alone.db");
    std::fs::copy(place.path(), &alone).unwrap();
    assert_eq!(Store::open(&alone).unwrap().last_seq().unwrap(), 1);
}
