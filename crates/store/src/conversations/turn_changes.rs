//! What turns of conversations changed in the user's folders, with the contents before and after.
//!
//! It is bounded in age and in bytes: the oldest turns are forgotten first.

use rusqlite::params;

use super::key_of;
use crate::Store;
use crate::error::StoreError;
use crate::ledger::sql_number;
use crate::transaction::Transaction;

const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// How many bytes of contents all turns together may have.
const MOST_BYTES: i64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredTurn {
    /// Its number, which no other turn ever has.
    pub turn: u64,
    /// The number of the message with which it began.
    pub message: u64,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// How many files it changed.
    pub files: u64,
    pub undone: bool,
    /// What is not known of the changes, and why.
    pub unknown: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChange {
    pub path: String,
    /// What was there before and after, as JSON. The store does not look into it.
    pub states: String,
    /// The content before, if there was one and it is kept.
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

impl Store {
    /// Adds a turn to a conversation, with what it changed, and returns its number. Returns `None`
    /// if there is no such conversation. `turn.turn` and `turn.undone` do not count.
    pub fn add_turn_changes(
        &mut self,
        conversation: &str,
        turn: &StoredTurn,
        changes: &[StoredChange],
    ) -> Result<Option<u64>, StoreError> {
        let size = |content: &Option<Vec<u8>>| content.as_ref().map_or(0, Vec::len);
        let bytes: usize =
            changes.iter().map(|change| size(&change.before) + size(&change.after)).sum();
        self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, conversation)? else { return Ok(None) };
            let added: i64 = transaction.query_row(
                "INSERT INTO turns (conversation, message, at_ms, files, undone, unknown, bytes)
                 VALUES (?, ?, ?, ?, 0, ?, ?) RETURNING turn",
                params![
                    key,
                    sql_number(turn.message)?,
                    turn.at_ms,
                    sql_number(turn.files)?,
                    turn.unknown,
                    sql_number(bytes as u64)?
                ],
                |row| row.get(0),
            )?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO turn_changes (turn, path, states, before, after)
                 VALUES (?, ?, ?, ?, ?)",
            )?;
            for StoredChange { path, states, before, after } in changes {
                insert.execute(params![added, path, states, before, after])?;
            }
            remove_old_changes(transaction, turn.at_ms)?;
            Ok(Some(added.unsigned_abs()))
        })
    }

    /// Returns the turns of a conversation that changed files, the first one first.
    pub fn changed_turns(&self, conversation: &str) -> Result<Vec<StoredTurn>, StoreError> {
        let query = "SELECT turn, message, at_ms, files, undone, unknown FROM turns
                     WHERE conversation = (SELECT key FROM conversations WHERE id = ?)
                     ORDER BY turn";
        self.read_rows(query, [conversation], |row| {
            Ok(StoredTurn {
                turn: row.get::<_, i64>(0)?.unsigned_abs(),
                message: row.get::<_, i64>(1)?.unsigned_abs(),
                at_ms: row.get(2)?,
                files: row.get::<_, i64>(3)?.unsigned_abs(),
                undone: row.get(4)?,
                unknown: row.get(5)?,
            })
        })
    }

    /// Returns what a turn changed, in the order of the paths.
    pub fn turn_changes(&self, turn: u64) -> Result<Vec<StoredChange>, StoreError> {
        let query =
            "SELECT path, states, before, after FROM turn_changes WHERE turn = ? ORDER BY path";
        let turn = i64::try_from(turn).unwrap_or(i64::MAX);
        self.read_rows(query, [turn], |row| {
            Ok(StoredChange {
                path: row.get(0)?,
                states: row.get(1)?,
                before: row.get(2)?,
                after: row.get(3)?,
            })
        })
    }

    pub fn mark_undone(&mut self, turn: u64) -> Result<(), StoreError> {
        self.write_in_transaction(|transaction| {
            let mark = "UPDATE turns SET undone = 1 WHERE turn = ?";
            transaction.execute(mark, [sql_number(turn)?]).map(drop)
        })
    }
}

pub(super) fn remove_by_conversation(
    transaction: &Transaction<'_>,
    key: i64,
) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM turn_changes WHERE turn IN (SELECT turn FROM turns WHERE conversation = ?)",
        "DELETE FROM turns WHERE conversation = ?",
    ] {
        transaction.execute(statement, [key])?;
    }
    Ok(())
}

/// Removes what is too old or too much, but never the newest turn.
fn remove_old_changes(transaction: &Transaction<'_>, now_ms: i64) -> rusqlite::Result<()> {
    // Turns are removed up to a number, so that none is missing between two that are kept. The
    // newest stays whatever its size, so that its undo does not fail right after it was offered.
    let oldest_kept = "SELECT coalesce(min(turn), 0) FROM
        (SELECT turn, at_ms, sum(bytes) OVER (ORDER BY turn DESC) AS newer FROM turns)
        WHERE (newer <= ?1 AND at_ms >= ?2) OR turn = (SELECT max(turn) FROM turns)";
    let from: i64 = transaction.query_row(
        oldest_kept,
        [MOST_BYTES, now_ms.saturating_sub(KEPT_MS)],
        |row| row.get(0),
    )?;
    for statement in ["DELETE FROM turn_changes WHERE turn < ?", "DELETE FROM turns WHERE turn < ?"]
    {
        transaction.execute(statement, [from])?;
    }
    Ok(())
}
