//! Nothing of a transaction that ends early stays, and what is done again is not parsed again.

use rusqlite::StatementStatus;
use tempfile::TempDir;

use super::*;
use crate::{Addition, AnswerCost, EntryDraft, NewMessage, Store};

fn fresh() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("ledger.db")).unwrap();
    (folder, store)
}

fn put(connection: &Connection, key: &str) -> rusqlite::Result<usize> {
    connection.execute("INSERT INTO kept (key, value) VALUES (?, 'v')", [key])
}

/// Everything that a turn of a conversation does.
fn work(store: &mut Store, number: i64) {
    let conversation = format!("c{number}");
    let draft =
        EntryDraft { at_ms: number, kind: "ran".to_owned(), question: None, body: "{}".to_owned() };
    let messages = [NewMessage { body: number.to_string(), begins: true }];
    store.conversation(&conversation).unwrap();
    let addition = Addition {
        conversation: &conversation,
        at_ms: number,
        instead_of: Some(number.unsigned_abs()),
        messages: &messages,
        spending: Some(&AnswerCost::default()),
        drafts: std::slice::from_ref(&draft),
        ..Addition::default()
    };
    store.add_to_conversation(&addition).unwrap();
    store.append_entries(&[draft]).unwrap();
    store.each_message(&conversation, 0, |_, _| ()).unwrap();
    store.each_message_before(&conversation, 9, |_, _| true).unwrap();
    store.cost_totals(&conversation, number).unwrap();
    store.last_turn(&conversation).unwrap();
    store.last_conversation(None).unwrap();
}

#[test]
fn what_is_not_committed_is_taken_back() {
    let (_folder, mut store) = fresh();
    put(&Transaction::begin(&mut store.connection).unwrap(), "dropped").unwrap();
    assert!(store.connection.is_autocommit());
    assert_eq!(store.kept_value("dropped").unwrap(), None);

    let transaction = Transaction::begin(&mut store.connection).unwrap();
    put(&transaction, "committed").unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.kept_value("committed").unwrap().as_deref(), Some("v"));
}

#[test]
fn a_commit_that_fails_leaves_nothing_and_no_transaction() {
    let (_folder, mut store) = fresh();
    let check_at_the_end = "PRAGMA foreign_keys = ON;
        CREATE TABLE child (of TEXT REFERENCES kept (key) DEFERRABLE INITIALLY DEFERRED);";
    store.connection.execute_batch(check_at_the_end).unwrap();
    let transaction = Transaction::begin(&mut store.connection).unwrap();
    put(&transaction, "with it").unwrap();
    transaction.execute("INSERT INTO child VALUES ('nobody')", []).unwrap();
    transaction.commit().unwrap_err();
    assert!(store.connection.is_autocommit());
    assert_eq!(store.kept_value("with it").unwrap(), None);
    store.keep_value("later", "v").unwrap();
}

#[test]
fn nobody_else_writes_meanwhile() {
    let (folder, mut store) = fresh();
    let transaction = Transaction::begin(&mut store.connection).unwrap();
    let mut other = Connection::open(folder.path().join("ledger.db")).unwrap();
    other.busy_timeout(std::time::Duration::ZERO).unwrap();
    Transaction::begin(&mut other).unwrap_err();
    drop(transaction);
    Transaction::begin(&mut other).unwrap();
}

#[test]
fn statements_are_parsed_once() {
    let (_folder, mut store) = fresh();
    for number in 1..=20 {
        work(&mut store, number);
    }
    let check = |statement: &str, runs: i32| {
        let kept = store.connection.prepare_cached(statement).unwrap();
        let again = kept.get_status(StatementStatus::RePrepare);
        assert_eq!((kept.get_status(StatementStatus::Run), again), (runs, 0), "{statement}");
    };
    check("BEGIN IMMEDIATE", 40);
    check("COMMIT", 40);
    check("SELECT coalesce(max(number) + 1, 0) FROM messages WHERE conversation = ?", 20);
    check("SELECT seq, hash FROM head", 40);
    for (order, condition) in [("", ">= ?2"), (" DESC", "< ?2")] {
        let select = format!(
            "SELECT number, body FROM messages WHERE number {condition} AND conversation =
                     (SELECT key FROM conversations WHERE id = ?1) ORDER BY number{order}"
        );
        check(&select, 20);
    }
}
