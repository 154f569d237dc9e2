//! A ledger that an earlier version has written is whole, and every entry of it is understood.

use std::collections::BTreeSet;

use callgate_store::{ChainReport, EntryDraft, EntryFilter};
use callgate_wire::ledger::{LedgerEvent, LedgerKind};

use crate::place::Place;

const OLD_LEDGER: &str = include_str!("old_ledger.sql");

fn old_ledger() -> Place {
    let place = Place::new();
    place.tamper(OLD_LEDGER);
    place
}

#[test]
fn a_ledger_of_an_earlier_version_is_whole_and_goes_on() {
    let mut place = old_ledger();
    let entries = match place.store.verify().unwrap() {
        ChainReport::Whole { entries, from_anchor: Some(anchor), .. } => {
            assert_eq!(anchor.through, 2);
            entries
        }
        other => panic!("{other:?}"),
    };
    place.write("delivered", None, "{}");
    let verified = place.store.verify().unwrap();
    assert!(matches!(verified, ChainReport::Whole { entries: now, .. } if now == entries + 1));
    let links = place.store.chained_links().unwrap();
    let standing: Vec<&str> = links.standing.values().map(String::as_str).collect();
    assert_eq!((standing, links.had_any), (vec!["Ada", "A page"], true));
}

/// So no member is lost, and a desk of this version would write the same.
#[test]
fn every_entry_of_an_earlier_version_is_known_and_written_again_as_it_was() {
    let place = old_ledger();
    let mut seen = BTreeSet::new();
    for entry in place.store.entries_after(&EntryFilter::default(), 0, usize::MAX).unwrap() {
        let (event, rest) = LedgerEvent::decode_body(&entry.kind, &entry.body);
        let is_known = !matches!(event, LedgerEvent::Unknown { .. });
        assert!(is_known, "entry {} of the kind {}: {}", entry.seq, entry.kind, entry.body);
        let again = EntryDraft::new(entry.at_ms, entry.question.clone(), &event);
        assert_eq!((&again.kind, &again.body), (&entry.kind, &entry.body));
        assert_eq!(rest.0, [], "entry {}: {event:?}", entry.seq);
        seen.insert(entry.kind);
    }
    // What that version did not write yet.
    let newer = ["said", "invited", "joined", "revoked", "mirrored"];
    seen.extend(newer.map(str::to_owned));
    let all: BTreeSet<String> = LedgerKind::ALL.iter().map(|kind| kind.name().to_owned()).collect();
    assert_eq!(seen, all, "every kind is in it");
}
