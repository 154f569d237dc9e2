//! What is reported about ledgers that were checked in part.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_store::EntryDraft;

use super::*;

/// What is said of a ledger of which the last three entries are looked at.
fn told(store: &Store) -> String {
    let mut findings = Findings::default();
    check_chain_end(store, 3, &mut findings);
    findings.text().replace(&store.path().display().to_string(), "FILE")
}

fn write(store: &mut Store, count: usize) {
    let (kind, body) = ("ran".to_owned(), "{}".to_owned());
    store
        .append_entries(&vec![EntryDraft { at_ms: 1, kind, question: None, body }; count])
        .unwrap();
}

#[test]
fn of_a_long_ledger_it_says_how_far_it_was_checked_and_when() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("ledger.db")).unwrap();
    write(&mut store, 3);
    assert!(told(&store).contains("FILE is whole; entries: 3"), "{}", told(&store));
    write(&mut store, 2);
    let never = "FILE is whole from entry 3 on; what is before was never checked";
    assert!(told(&store).contains(never), "{}", told(&store));
    assert!(told(&store).contains("callgate log --verify"), "{}", told(&store));

    let head = store.chain_head().unwrap();
    store.note_verified(&Checkpoint { head, at_ms: 1_790_000_000_000 }).unwrap();
    write(&mut store, 3);
    let checked = "FILE is whole from entry 6 on; checked up to 5 at 2026-";
    assert!(told(&store).contains(checked), "{}", told(&store));

    write(&mut store, 1);
    let gap = "FILE is whole from entry 7 on; what is before was last checked up to 5 at 2026-";
    assert!(told(&store).contains(gap), "{}", told(&store));

    let head = store.chain_head().unwrap();
    let other = Checkpoint { head: callgate_store::ChainHead { hash: [7; 32], ..head }, at_ms: 1 };
    store.note_verified(&other).unwrap();
    let anew = "FILE was rewritten after it was checked up to 9 at 1970-";
    assert!(told(&store).contains(anew), "{}", told(&store));
}
