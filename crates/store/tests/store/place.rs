//! What the tests of the store share: a file of their own, and entries for it.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use callgate_store::{EntryDraft, LedgerEntry, Store};
use rusqlite::Connection;
use tempfile::TempDir;

/// A store in a folder of its own.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&file_in(folder.path())).unwrap();
        Self { folder, store }
    }

    pub(crate) fn path(&self) -> PathBuf {
        file_in(self.folder.path())
    }

    /// Does to the file what nobody should.
    pub(crate) fn tamper(&self, sql: &str) {
        let connection = Connection::open(self.path()).unwrap();
        connection.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
        connection.execute_batch(sql).unwrap();
    }

    pub(crate) fn write(&mut self, kind: &str, question: Option<&str>, body: &str) -> LedgerEntry {
        self.write_at(now_ms(), kind, question, body)
    }

    pub(crate) fn write_at(
        &mut self,
        at_ms: i64,
        kind: &str,
        question: Option<&str>,
        body: &str,
    ) -> LedgerEntry {
        let draft = EntryDraft { at_ms, ..draft(kind, question, body) };
        self.store.append_entries(&[draft]).unwrap().remove(0)
    }
}

pub(crate) fn file_in(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

pub(crate) fn draft(kind: &str, question: Option<&str>, body: &str) -> EntryDraft {
    EntryDraft {
        at_ms: now_ms(),
        kind: kind.to_owned(),
        question: question.map(str::to_owned),
        body: body.to_owned(),
    }
}

pub(crate) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

pub(crate) fn seqs(entries: &[LedgerEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq).collect()
}
