//! Links count only if the chain has them.

use std::collections::BTreeMap;

use callgate_store::{ChainReport, Store};
use callgate_wire::ledger::ChainedLinks;

use crate::place::Place;

const CHAT: &str = r#"{"by":"Ada","links":["chat/7"]}"#;
const GROUP: &str = r#"{"by":"Bob","links":["chat/-100","user/8"]}"#;
const VIEWER: &str = r#"{"by":"The page","links":["viewer/2f0c"]}"#;

fn links(all: &[(&str, &str)]) -> ChainedLinks {
    let owned = |(link, name): &(&str, &str)| ((*link).to_owned(), (*name).to_owned());
    let standing: BTreeMap<String, String> = all.iter().map(owned).collect();
    ChainedLinks { standing, had_any: true, ..ChainedLinks::default() }
}

#[test]
fn what_was_linked_and_not_unlinked_stands() {
    let mut place = Place::new();
    assert_eq!(place.store.chained_links().unwrap(), ChainedLinks::default());
    place.write("started", None, "{}");
    assert_eq!(
        place.store.chained_links().unwrap(),
        ChainedLinks::default(),
        "nobody was ever linked"
    );
    for body in [CHAT, GROUP, VIEWER] {
        place.write("paired", None, body);
    }
    place.write("unpaired", None, r#"{"link":"chat/-100"}"#);
    let standing = [("chat/7", "Ada"), ("user/8", "Bob"), ("viewer/2f0c", "The page")];
    assert_eq!(place.store.chained_links().unwrap(), links(&standing));
    for link in ["chat/7", "user/8", "viewer/2f0c"] {
        place.write("unpaired", None, &format!(r#"{{"link":"{link}"}}"#));
    }
    assert_eq!(place.store.chained_links().unwrap(), links(&[]), "but there were some");
    assert!(place.store.was_unlinked("chat/7").unwrap());
    assert!(!place.store.was_unlinked("chat/8").unwrap());
}

#[test]
fn links_of_entries_that_did_not_name_them_are_those_of_their_chat() {
    let mut place = Place::new();
    place.write("paired", None, r#"{"by":"Ada","channel":"telegram","chat":7,"user":7}"#);
    place.write("paired", None, r#"{"by":"Bob","channel":"telegram","chat":-100,"user":8}"#);
    place.write("paired", None, r#"{"by":"The page","channel":"viewer"}"#);
    let standing = [("chat/-100", "Bob"), ("chat/7", "Ada"), ("user/8", "Bob")];
    assert_eq!(place.store.chained_links().unwrap(), links(&standing));
}

#[test]
fn a_row_written_by_hand_is_no_link() {
    let mut place = Place::new();
    place.write("paired", None, CHAT);
    place.store.keep_value("paired/chat/7", "Ada").unwrap();
    assert!(place.store.unchained_links().unwrap().is_empty());
    place.tamper("INSERT INTO kept VALUES ('paired/viewer/beef', 'Ada')");
    assert_eq!(place.store.chained_links().unwrap(), links(&[("chat/7", "Ada")]));
    assert_eq!(place.store.unchained_links().unwrap(), ["viewer/beef"]);
    let verified = place.store.verify().unwrap();
    assert!(matches!(verified, ChainReport::Whole { .. }), "the chain itself is whole");
}

#[test]
fn an_entry_that_does_not_fit_into_the_chain_links_and_unlinks_nobody() {
    let forged = |kind: &str, body: &str| {
        format!(
            "INSERT INTO entries SELECT seq + 1, at_ms, '{kind}', NULL, '{body}', zeroblob(32)
             FROM entries ORDER BY seq DESC LIMIT 1"
        )
    };
    let mut place = Place::new();
    place.write("paired", None, CHAT);
    place.tamper(&forged("paired", VIEWER));
    assert_eq!(place.store.chained_links().unwrap(), links(&[("chat/7", "Ada")]));
    let mut place = Place::new();
    place.write("paired", None, CHAT);
    place.write("started", None, "{}");
    place.tamper(&forged("unpaired", r#"{"link":"chat/7"}"#));
    assert_eq!(place.store.chained_links().unwrap(), links(&[("chat/7", "Ada")]));
    // Nor does an entry count that was changed, or put in the place of another.
    let mut place = Place::new();
    for body in [CHAT, GROUP] {
        place.write("paired", None, body);
    }
    place.write("started", None, "{}");
    place.tamper("UPDATE entries SET body = replace(body, 'chat/-100', 'chat/666')");
    assert_eq!(place.store.chained_links().unwrap(), links(&[("chat/7", "Ada")]));
}

#[test]
fn pruning_keeps_the_links() {
    let mut place = Place::new();
    place.write_at(100, "paired", None, CHAT);
    place.write_at(200, "paired", None, VIEWER);
    place.write_at(300, "unpaired", None, r#"{"link":"chat/7"}"#);
    place.write_at(400, "ran", None, "{}");
    place.write("paired", None, GROUP);
    let before = place.store.chained_links().unwrap();
    place.store.prune(350).unwrap();
    assert_eq!(place.store.chained_links().unwrap(), before, "carried over by the anchor");
    place.write_at(500, "unpaired", None, r#"{"link":"viewer/2f0c"}"#);
    let later = place.store.chained_links().unwrap();
    assert_eq!(later, links(&[("chat/-100", "Bob"), ("user/8", "Bob")]));
    place.store.prune(450).unwrap();
    assert_eq!(place.store.chained_links().unwrap(), later, "and by the next one");
    let reopened = Store::open_read_only(place.store.path()).unwrap();
    assert_eq!(reopened.chained_links().unwrap(), later);
}

#[test]
fn an_anchor_written_by_hand_carries_nothing_over() {
    let mut place = Place::new();
    place.write_at(100, "started", None, "{}");
    place.write("ran", None, "{}");
    place.store.prune(200).unwrap();
    assert_eq!(
        place.store.chained_links().unwrap(),
        ChainedLinks::default(),
        "still nobody was ever linked"
    );
    place.tamper(
        r#"UPDATE entries SET body = replace(body, '"standing":{}', '"standing":{"chat/6":"M"}')"#,
    );
    assert_eq!(place.store.chained_links().unwrap(), links(&[]));
}
