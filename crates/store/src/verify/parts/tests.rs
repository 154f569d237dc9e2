//! A chain in parts proves what one walk proves, and the end of it is told for what it is.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Mutex;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::{ChainFault, Checkpoint, EntryDraft, NotedHead, RecentReport};

/// A store with so many entries, and its folder.
fn store_of(entries: usize) -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("ledger.db")).unwrap();
    let draft = |number: usize| EntryDraft {
        at_ms: 1_000 + i64::try_from(number).unwrap(),
        kind: "ran".to_owned(),
        question: (!number.is_multiple_of(3)).then(|| format!("question {number}")),
        body: format!("{{\"number\":{number}}}"),
    };
    store.append_entries(&(0..entries).map(draft).collect::<Vec<_>>()).unwrap();
    (folder, store)
}

fn tamper(store: &Store, sql: &str) {
    let connection = Connection::open(store.path()).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// What so many threads find.
fn by(threads: u64, store: &Store, noted: Option<ChainHead>) -> Option<ChainReport> {
    walk_by(threads, 2, store, &store.connection, noted, &|_, _| ()).unwrap()
}

#[test]
fn parts_prove_what_one_walk_proves() {
    let (_folder, mut store) = store_of(100);
    let whole = store.verify().unwrap();
    assert!(matches!(whole, ChainReport::Whole { entries: 100, .. }));
    for threads in [2, 3, 7, 50] {
        assert_eq!(by(threads, &store, None).as_ref(), Some(&whole), "{threads}");
        for seq in [1, 50, 51, 100] {
            let hash =
                store.entries_after(&crate::EntryFilter::default(), seq - 1, 1).unwrap()[0].hash;
            let found = by(threads, &store, Some(ChainHead { seq, hash })).unwrap();
            assert!(matches!(found, ChainReport::Whole { noted: NotedHead::Found, .. }), "{seq}");
            assert_eq!(by(threads, &store, Some(ChainHead { seq, hash: [7; 32] })), None, "{seq}");
        }
    }
    store.prune_at(1_040, i64::MAX / 2).unwrap();
    let whole = store.verify().unwrap();
    assert!(matches!(whole, ChainReport::Whole { entries: 61, from_anchor: Some(_), .. }));
    assert_eq!(by(4, &store, None), Some(whole));
    assert_eq!(by(1, &store, None), None, "one thread needs no parts");
    assert_eq!(by(4, &Store::in_memory().unwrap(), None), None);
}

#[test]
fn a_change_anywhere_is_found_whatever_was_noted_before() {
    for seq in 1..=20 {
        for sql in [
            format!("UPDATE entries SET body = '{{}}' WHERE seq = {seq}"),
            format!("UPDATE entries SET hash = zeroblob(32) WHERE seq = {seq}"),
            format!("DELETE FROM entries WHERE seq = {seq}"),
        ] {
            let (_folder, mut store) = store_of(20);
            let head = store.chain_head().unwrap();
            store.note_verified(&Checkpoint { head, at_ms: 5 }).unwrap();
            tamper(&store, &sql);
            for threads in [2, 3, 10] {
                assert_eq!(by(threads, &store, None), None, "{sql}, {threads} threads");
            }
            let found = store.verify().unwrap();
            assert!(matches!(found, ChainReport::Broken { .. }), "{sql}: {found:?}");
        }
    }
}

#[test]
fn the_end_of_a_long_chain_is_told_for_what_it_is() {
    let (_folder, store) = store_of(100);
    let recent = |most| store.verify_recent(most).unwrap();
    let RecentReport { verified, from, is_partial } = recent(100);
    assert!(!is_partial && from == 1 && verified == store.verify().unwrap());
    let RecentReport { verified, from, is_partial } = recent(30);
    assert!(is_partial && from == 71, "{from}");
    assert!(matches!(verified, ChainReport::Whole { entries: 30, .. }), "{verified:?}");

    tamper(&store, "UPDATE entries SET body = '{}' WHERE seq = 50");
    assert!(matches!(recent(30).verified, ChainReport::Whole { .. }), "it says nothing about that");
    let broken = ChainReport::Broken { seq: 50, why: ChainFault::Changed };
    assert_eq!(recent(60).verified, broken);
    assert_eq!(store.verify().unwrap(), broken, "whoever walks all of it finds it");

    tamper(&store, "DELETE FROM entries WHERE seq = 100");
    let missing = ChainReport::Broken { seq: 100, why: ChainFault::Missing };
    assert_eq!(recent(30).verified, missing);
    tamper(&store, "DELETE FROM entries WHERE seq = 69");
    assert_eq!(recent(30).verified, ChainReport::Broken { seq: 69, why: ChainFault::Missing });
    tamper(&store, "DELETE FROM entries WHERE seq = 1");
    assert_eq!(recent(30).verified, ChainReport::Broken { seq: 2, why: ChainFault::NoAnchor });
}

#[test]
fn a_checkpoint_tells_whether_its_entry_is_the_same() {
    let (_folder, mut store) = store_of(10);
    assert_eq!(store.last_verified().unwrap(), None);
    let checkpoint = Checkpoint { head: store.chain_head().unwrap(), at_ms: 1_790_000_000_000 };
    store.note_verified(&checkpoint).unwrap();
    assert_eq!(store.last_verified().unwrap(), Some(checkpoint));
    assert_eq!(store.still_has(&checkpoint.head).unwrap(), Some(true));
    tamper(&store, "UPDATE entries SET hash = zeroblob(32) WHERE seq = 10");
    assert_eq!(store.still_has(&checkpoint.head).unwrap(), Some(false));
    tamper(&store, "DELETE FROM entries WHERE seq = 10");
    assert_eq!(store.still_has(&checkpoint.head).unwrap(), None);
    store.keep_value("verified", "no note").unwrap();
    assert_eq!(store.last_verified().unwrap(), None);
}

#[test]
fn progress_goes_to_the_end_and_never_beyond() {
    let (_folder, store) = store_of(20_000);
    for threads in [1, 2] {
        let told = Mutex::new(Vec::new());
        let note = |done, all| told.lock().unwrap().push((done, all));
        match walk_by(threads, 2, &store, &store.connection, None, &note).unwrap() {
            Some(_) => {}
            None => drop(store.verify_with(None, &note).unwrap()),
        }
        let told = told.into_inner().unwrap();
        assert!(told.len() >= 4, "{told:?}");
        assert!(told.iter().all(|(done, all)| done <= all && *all == 20_000), "{told:?}");
    }
}
