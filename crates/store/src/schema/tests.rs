//! A file of an older version becomes a newer one, and a newer one is refused.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::{Addition, ChainReport, EntryFilter, NewMessage, Store};

/// A file as version 1 leaves it, with a few entries.
const V1_FILE: &str = include_str!("schema_v1.sql");
/// A step that a later version might bring.
const LATER: &str = "ALTER TABLE kept ADD COLUMN at_ms INTEGER NOT NULL DEFAULT 0;
                     UPDATE kept SET at_ms = 7;";

fn v1_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    Connection::open(&path).unwrap().execute_batch(V1_FILE).unwrap();
    (folder, path)
}

fn version_of(path: &Path) -> StoreLayout {
    read_layout(&Connection::open(path).unwrap()).unwrap()
}

#[test]
fn a_file_of_version_1_is_still_read() {
    let (_folder, path) = v1_file();
    let mut store = Store::open(&path).unwrap();
    let kinds: Vec<String> = store
        .entries_after(&EntryFilter::default(), 0, 10)
        .unwrap()
        .into_iter()
        .map(|entry| entry.kind)
        .collect();
    assert_eq!(kinds, ["asked", "closed", "anchor"]);
    assert!(matches!(store.verify().unwrap(), ChainReport::Whole { entries: 3, .. }));
    assert_eq!(store.find_or_make_secret("digest").unwrap(), [7; 32]);
    assert_eq!(store.kept_value("paired").unwrap().as_deref(), Some("ada"));
}

#[test]
fn a_file_of_version_1_gets_room_for_conversations() {
    let (_folder, path) = v1_file();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(version_of(&path), StoreLayout::Ours(version_of_steps(STEPS)));
    let messages = [NewMessage { body: "{}".to_owned(), begins: true }];
    let addition = Addition { conversation: "a", messages: &messages, ..Addition::default() };
    assert_eq!(store.add_to_conversation(&addition).unwrap(), 1);
    assert!(matches!(store.verify().unwrap(), ChainReport::Whole { entries: 3, .. }));
}

#[test]
fn questions_that_were_open_before_are_open_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let at_ms = i64::try_from(now.as_millis()).unwrap();
    let draft = |kind: &str, question: &str, at_ms: i64| crate::EntryDraft {
        at_ms,
        kind: kind.to_owned(),
        question: Some(question.to_owned()),
        body: "{}".to_owned(),
    };
    let told = [
        draft("asked", "abandoned", at_ms - 2 * 86_400_000),
        draft("asked", "closed", at_ms),
        draft("asked", "open", at_ms),
        draft("closed", "closed", at_ms),
    ];
    Store::open_with(&path, &STEPS[..3]).unwrap().append_entries(&told).unwrap();
    let open = Store::open(&path).unwrap().open_questions(0).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0][0].question.as_deref(), Some("open"));
}

#[test]
fn a_later_step_is_taken_once_and_keeps_what_was_there() {
    let (_folder, path) = v1_file();
    let steps = [STEPS, &[LATER]].concat();
    for _ in 0..2 {
        let store = Store::open_with(&path, &steps).unwrap();
        let at: i64 =
            store.connection.query_row("SELECT at_ms FROM kept", [], |row| row.get(0)).unwrap();
        assert_eq!(at, 7);
        assert!(matches!(store.verify().unwrap(), ChainReport::Whole { entries: 3, .. }));
    }
    let present = version_of_steps(STEPS);
    assert_eq!(version_of(&path), StoreLayout::Ours(present + 1));
    let error = Store::open(&path).unwrap_err();
    let StoreError::Newer { found, known, .. } = error else { panic!("{error}") };
    assert_eq!((found, known), (present + 1, present));
    let error = Store::open_read_only(&path).unwrap_err();
    assert!(error.to_string().contains("update callgate"), "{error}");
}

#[test]
fn a_step_that_fails_leaves_the_file_as_it_was() {
    let (_folder, path) = v1_file();
    let steps = [STEPS, &[LATER, "CREATE TABLE half (a); CREATE TABLE half (b);"]].concat();
    Store::open_with(&path, &steps).unwrap_err();
    assert_eq!(version_of(&path), StoreLayout::Ours(1));
    let store = Store::open(&path).unwrap();
    let columns: i64 = store
        .connection
        .query_row("SELECT count(*) FROM pragma_table_info('kept')", [], |row| row.get(0))
        .unwrap();
    assert_eq!(columns, 2);
}

#[test]
fn whoever_only_reads_does_not_bring_a_file_up_to_date() {
    let (_folder, path) = v1_file();
    Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "DELETE").unwrap();
    let layout = StoreLayout::Ours(0);
    assert!(check_layout(&path, &layout, STEPS).is_ok(), "it could be brought up to date");
    let before = std::fs::read(&path).unwrap();
    let error = Store::open_read_only(&path).unwrap_err();
    let StoreError::Older { found, known, .. } = error else { panic!("{error}") };
    assert_eq!((found, known), (1, version_of_steps(STEPS)));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    drop(Store::open(&path).unwrap());
    Store::open_read_only(&path).unwrap();
}
