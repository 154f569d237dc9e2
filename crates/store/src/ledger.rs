//! Writing to the ledger: numbers, hashes, and one transaction for all.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::chain::{Content, Head, link};
use crate::error::StoreError;
use crate::identity::FileIdentity;
use crate::kept::{check_kept, write_kept};
use crate::transaction::Transaction;
use crate::{Draft, Entry, Store};

const INSERT: &str =
    "INSERT INTO entries (seq, at_ms, kind, question, body, hash) VALUES (?, ?, ?, ?, ?, ?)";
const MARK: &str = "INSERT OR REPLACE INTO head (id, seq, hash) VALUES (1, ?, ?)";
const MARKED: &str = "SELECT seq, hash FROM head";
const PRESENT: &str = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1";

/// What is parsed before the first entry has to wait for it.
const STATEMENTS: [&str; 4] = [INSERT, MARK, MARKED, PRESENT];

impl Store {
    /// Has the statements parsed that the next entry needs.
    pub fn warm(&self) {
        for statement in STATEMENTS {
            // What is wrong with it is told by whoever needs it.
            self.connection.prepare_cached(statement).ok();
        }
    }

    /// Writes `drafts` at the end of the ledger, in this order, all or none. When it returns they
    /// are committed: no death of this process takes them away.
    pub fn append(&mut self, drafts: &[Draft]) -> Result<Vec<Entry>, StoreError> {
        self.append_with(drafts, &[])
    }

    /// Like [`append`](Self::append), with what is to be kept beside the ledger, or forgotten,
    /// in the same transaction.
    pub fn append_with(
        &mut self,
        drafts: &[Draft],
        keeps: &[(String, Option<String>)],
    ) -> Result<Vec<Entry>, StoreError> {
        check_drafts(drafts)?;
        for (key, value) in keeps {
            check_kept(key, value.as_deref().unwrap_or_default())?;
        }
        if drafts.is_empty() && keeps.is_empty() {
            return Ok(Vec::new());
        }
        self.check_place()?;
        let failed = self.failed("write to");
        let transaction = self.begin()?;
        let entries = write(&transaction, drafts).map_err(&failed)?;
        write_kept(&transaction, keeps).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(entries)
    }

    /// Makes sure that what is written can be found: a file that was removed takes everything and
    /// keeps nothing.
    pub(crate) fn check_place(&self) -> Result<(), StoreError> {
        self.file.as_ref().map_or(Ok(()), FileIdentity::check)
    }

    /// Moves what was written into the main file, so that no append has to do it on the way. For a
    /// moment in which nobody waits: the disk may take its time.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        let checkpoint =
            || self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        checkpoint().map_err(self.failed("write to"))
    }

    /// A transaction in which nobody else writes.
    pub(crate) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        let failed = self.failed("write to");
        Transaction::begin(&mut self.connection).map_err(failed)
    }
}

/// Refuses what is not an entry.
pub(crate) fn check_drafts(drafts: &[Draft]) -> Result<(), StoreError> {
    let mut faults = drafts.iter().enumerate().filter_map(|(index, d)| Some((index, d.fault()?)));
    faults.next().map_or(Ok(()), |(index, why)| Err(StoreError::Refused { index, why }))
}

/// Writes `drafts` behind whatever is last in this transaction.
pub(crate) fn write(
    transaction: &Transaction<'_>,
    drafts: &[Draft],
) -> rusqlite::Result<Vec<Entry>> {
    if drafts.is_empty() {
        return Ok(Vec::new());
    }
    let mut head = last_written(transaction)?;
    let mut insert = transaction.prepare_cached(INSERT)?;
    let mut entries = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let entry = chained(&head, draft.clone());
        let Entry { seq, at_ms, kind, question, body, hash } = &entry;
        insert.execute(params![number(*seq)?, at_ms, kind, question, body, hash])?;
        head = Head { seq: *seq, hash: *hash };
        entries.push(entry);
    }
    transaction.prepare_cached(MARK)?.execute(params![number(head.seq)?, head.hash])?;
    Ok(entries)
}

fn chained(head: &Head, draft: Draft) -> Entry {
    let Draft { at_ms, kind, question, body } = draft;
    let content = Content {
        seq: head.seq + 1,
        at_ms,
        kind: kind.as_bytes(),
        question: question.as_deref().map(str::as_bytes),
        body: body.as_bytes(),
    };
    let hash = link(&head.hash, &content);
    Entry { seq: head.seq + 1, at_ms, kind, question, body, hash }
}

/// What the next entry follows. It is the last that was ever written, also when somebody has
/// taken it out of the table since: its number is not given again, and verification sees the gap.
pub(crate) fn last_written(connection: &Connection) -> rusqlite::Result<Head> {
    let marked = marked(connection)?.unwrap_or(Head::NONE);
    let present = present(connection)?.unwrap_or(Head::NONE);
    Ok(if marked.seq > present.seq { marked } else { present })
}

/// The end of the ledger as the mark beside it has it.
pub(crate) fn marked(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    head(connection, MARKED)
}

/// The last entry that is there.
pub(crate) fn present(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    head(connection, PRESENT)
}

fn head(connection: &Connection, query: &str) -> rusqlite::Result<Option<Head>> {
    connection
        .prepare_cached(query)?
        .query_row([], |row| Ok(Head { seq: unsigned(row, 0)?, hash: row.get(1)? }))
        .optional()
}

/// Returns the hash that an entry carries, whether it is right or not.
pub(crate) fn hash_of(connection: &Connection, seq: u64) -> rusqlite::Result<Option<[u8; 32]>> {
    let mut query = connection.prepare_cached("SELECT hash FROM entries WHERE seq = ?")?;
    query.query_row([number(seq)?], |row| row.get(0)).optional()
}

/// Returns what is hashed of an entry, from a row of `seq, at_ms, kind, question, body, hash`.
pub(crate) fn content<'a>(row: &'a Row<'_>, seq: u64) -> rusqlite::Result<Content<'a>> {
    Ok(Content {
        seq,
        at_ms: row.get(1)?,
        kind: bytes(row.get_ref(2)?).unwrap_or_default(),
        question: bytes(row.get_ref(3)?),
        body: bytes(row.get_ref(4)?).unwrap_or_default(),
    })
}

/// Returns a text or a blob as bytes: in a damaged file a text need not be UTF-8.
pub(crate) fn bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    value.as_bytes_or_null().ok().flatten()
}

/// Reads a column that is never negative.
pub(crate) fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let value = row.get::<_, i64>(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}

/// Converts a number to SQLite's type.
pub(crate) fn number(seq: u64) -> rusqlite::Result<i64> {
    i64::try_from(seq).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
