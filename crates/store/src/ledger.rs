//! Writing to the ledger: numbers and hashes, in one transaction.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::chain::{ChainHead, EntryContent, hash_entry};
use crate::error::StoreError;
use crate::file_identity::FileIdentity;
use crate::kept_values::{check_kept, write_kept};
use crate::transaction::Transaction;
use crate::{EntryDraft, LedgerEntry, Store};

const INSERT: &str =
    "INSERT INTO entries (seq, at_ms, kind, question, body, hash) VALUES (?, ?, ?, ?, ?, ?)";
const MARK: &str = "INSERT OR REPLACE INTO head (id, seq, hash) VALUES (1, ?, ?)";
const MARKED: &str = "SELECT seq, hash FROM head";
const PRESENT: &str = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1";

/// The statements that are prepared in advance, so that the first entry does not wait for it.
const STATEMENTS: [&str; 4] = [INSERT, MARK, MARKED, PRESENT];

impl Store {
    /// Prepares the statements that the next entry needs.
    pub fn prepare_statements(&self) {
        for statement in STATEMENTS {
            // An error is reported when the statement is used.
            self.connection.prepare_cached(statement).ok();
        }
    }

    /// Appends `drafts` to the ledger in this order, all or none. When this returns, they are
    /// committed and survive the death of this process.
    pub fn append_entries(
        &mut self,
        drafts: &[EntryDraft],
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.append_with(drafts, &[])
    }

    /// Like [`append_entries`](Self::append_entries), and keeps or forgets values beside the ledger
    /// in the same transaction.
    pub fn append_with(
        &mut self,
        drafts: &[EntryDraft],
        keeps: &[(String, Option<String>)],
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        check_drafts(drafts)?;
        for (key, value) in keeps {
            check_kept(key, value.as_deref().unwrap_or_default())?;
        }
        if drafts.is_empty() && keeps.is_empty() {
            return Ok(Vec::new());
        }
        self.write_in_transaction(|transaction| {
            let entries = write_entries(transaction, drafts)?;
            write_kept(transaction, keeps)?;
            Ok(entries)
        })
    }

    /// Runs `work` in a transaction of its own.
    pub(crate) fn write_in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // SQLite reports no error when it writes to a file that was removed, where all of it would
        // be lost.
        self.check_file()?;
        let failed = self.explain_failure("write to");
        let transaction = self.begin_transaction()?;
        let done = work(&transaction).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    }

    /// Returns an error if the file was removed or replaced: what is written to it is lost.
    pub(crate) fn check_file(&self) -> Result<(), StoreError> {
        self.file.as_ref().map_or(Ok(()), FileIdentity::check_unchanged)
    }

    /// Moves what was written into the main file, so that no append has to. Call it when nobody
    /// waits: the disk may take its time.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let checkpoint =
            // `PASSIVE` does what is possible without waiting for anybody who reads or writes.
            || self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        checkpoint().map_err(self.explain_failure("write to"))
    }

    /// Begins a transaction in which nobody else writes.
    pub(crate) fn begin_transaction(&mut self) -> Result<Transaction<'_>, StoreError> {
        let failed = self.explain_failure("write to");
        Transaction::begin(&mut self.connection).map_err(failed)
    }
}

pub(crate) fn check_drafts(drafts: &[EntryDraft]) -> Result<(), StoreError> {
    refuse_faults(drafts.iter().map(EntryDraft::fault))
}

/// Fails with the first fault of entries that are to be written, if there is one.
pub(crate) fn refuse_faults(
    faults: impl Iterator<Item = Option<&'static str>>,
) -> Result<(), StoreError> {
    let mut found = faults.enumerate().filter_map(|(index, fault)| Some((index, fault?)));
    found.next().map_or(Ok(()), |(index, why)| Err(StoreError::Refused { index, why }))
}

pub(crate) fn write_entries(
    transaction: &Transaction<'_>,
    drafts: &[EntryDraft],
) -> rusqlite::Result<Vec<LedgerEntry>> {
    if drafts.is_empty() {
        return Ok(Vec::new());
    }
    let mut head = last_written(transaction)?;
    let mut insert = transaction.prepare_cached(INSERT)?;
    let mut entries = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let entry = LedgerEntry::chain_draft(&head, draft.clone());
        let LedgerEntry { seq, at_ms, kind, question, body, hash } = &entry;
        insert.execute(params![sql_number(*seq)?, at_ms, kind, question, body, hash])?;
        head = entry.head();
        entries.push(entry);
    }
    transaction.prepare_cached(MARK)?.execute(params![sql_number(head.seq)?, head.hash])?;
    Ok(entries)
}

impl LedgerEntry {
    pub fn chain_draft(head: &ChainHead, draft: EntryDraft) -> Self {
        let EntryDraft { at_ms, kind, question, body } = draft;
        let mut entry = Self { seq: head.seq + 1, at_ms, kind, question, body, hash: [0; 32] };
        entry.hash = entry.hash_after(head);
        entry
    }

    /// Returns true if the number and the hash of the entry are those of one that follows `head`.
    pub fn follows(&self, head: &ChainHead) -> bool {
        Some(self.seq) == head.seq.checked_add(1) && self.hash == self.hash_after(head)
    }

    pub fn head(&self) -> ChainHead {
        ChainHead { seq: self.seq, hash: self.hash }
    }

    fn hash_after(&self, head: &ChainHead) -> [u8; 32] {
        let content = EntryContent {
            seq: self.seq,
            at_ms: self.at_ms,
            kind: self.kind.as_bytes(),
            question: self.question.as_deref().map(str::as_bytes),
            body: self.body.as_bytes(),
        };
        hash_entry(&head.hash, &content)
    }
}

/// Returns the head that the next entry follows: the last entry ever written, even if somebody has
/// removed it from the table since. Its number is not used again, so verification sees the gap.
pub(crate) fn last_written(connection: &Connection) -> rusqlite::Result<ChainHead> {
    let marked = read_marked_head(connection)?.unwrap_or(ChainHead::NONE);
    let present = read_last_head(connection)?.unwrap_or(ChainHead::NONE);
    Ok(if marked.seq > present.seq { marked } else { present })
}

/// Returns the end of the ledger as recorded beside it.
pub(crate) fn read_marked_head(connection: &Connection) -> rusqlite::Result<Option<ChainHead>> {
    read_head(connection, MARKED)
}

pub(crate) fn read_last_head(connection: &Connection) -> rusqlite::Result<Option<ChainHead>> {
    read_head(connection, PRESENT)
}

fn read_head(connection: &Connection, query: &str) -> rusqlite::Result<Option<ChainHead>> {
    connection
        .prepare_cached(query)?
        .query_row([], |row| Ok(ChainHead { seq: read_unsigned(row, 0)?, hash: row.get(1)? }))
        .optional()
}

/// Returns the hash that an entry carries, whether it is right or not.
pub(crate) fn hash_of(connection: &Connection, seq: u64) -> rusqlite::Result<Option<[u8; 32]>> {
    let mut query = connection.prepare_cached("SELECT hash FROM entries WHERE seq = ?")?;
    query.query_row([sql_number(seq)?], |row| row.get(0)).optional()
}

/// Returns what is hashed of an entry, from a row of `seq, at_ms, kind, question, body, hash`.
pub(crate) fn content_of_row<'a>(row: &'a Row<'_>, seq: u64) -> rusqlite::Result<EntryContent<'a>> {
    Ok(EntryContent {
        seq,
        at_ms: row.get(1)?,
        // No entry has an empty kind or body, so a value of a wrong type, which is hashed as if it
        // were empty, never matches its hash.
        kind: bytes_of_value(row.get_ref(2)?).unwrap_or_default(),
        question: bytes_of_value(row.get_ref(3)?),
        body: bytes_of_value(row.get_ref(4)?).unwrap_or_default(),
    })
}

/// Returns a text or a blob as bytes: in a damaged file a text need not be UTF-8.
pub(crate) fn bytes_of_value(value: ValueRef<'_>) -> Option<&[u8]> {
    value.as_bytes_or_null().ok().flatten()
}

/// Reads a column that is never negative.
pub(crate) fn read_unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let value = row.get::<_, i64>(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}

pub(crate) fn sql_number(seq: u64) -> rusqlite::Result<i64> {
    i64::try_from(seq).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
