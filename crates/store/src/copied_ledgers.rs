//! Copies of the ledgers of other machines, beside the one of this machine.
//!
//! A copy is a chain, too: an entry is stored only if its hash follows from its content and the
//! entry before. Where a machine's ledger was pruned or replaced, a new series begins.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use crate::chain::ChainHead;
use crate::error::StoreError;
use crate::ledger::sql_number;
use crate::{LedgerEntry, Store};

const COPIED: &str = "SELECT series, seq, hash FROM copied_entries WHERE machine = ?
    ORDER BY series DESC, seq DESC LIMIT 1";
const INSERT: &str = "INSERT INTO copied_entries
    (machine, series, seq, at_ms, kind, question, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyOutcome {
    /// They are stored, up to this one.
    Copied(ChainHead),
    /// The entry of this number does not follow the one before; none was stored.
    Broken(u64),
}

impl Store {
    pub fn copied_through(&self, machine: &str) -> Result<Option<ChainHead>, StoreError> {
        let failed = self.explain_failure("read");
        let end = copied_end(&self.connection, machine).map_err(failed)?;
        Ok(end.map(|(_, head)| head))
    }

    /// Adds entries to the copy of a machine's ledger, all or none. If it `begins_anew`, they are
    /// the first of a new series; otherwise they follow the last one.
    pub fn copy_entries(
        &mut self,
        machine: &str,
        entries: &[LedgerEntry],
        begins_anew: bool,
    ) -> Result<CopyOutcome, StoreError> {
        self.write_in_transaction(|transaction| {
            let end = copied_end(transaction, machine)?;
            let (series, mut head) = match end {
                Some((series, _)) if begins_anew => (series + 1, None),
                Some((series, head)) => (series, Some(head)),
                None => (1, None),
            };
            // All are checked before the first is written: a broken copy is no error, so the
            // transaction commits.
            for entry in entries {
                if !follows(head.as_ref(), entry) {
                    return Ok(CopyOutcome::Broken(entry.seq));
                }
                head = Some(ChainHead { seq: entry.seq, hash: entry.hash });
            }
            let mut insert = transaction.prepare_cached(INSERT)?;
            for entry in entries {
                let LedgerEntry { seq, at_ms, kind, question, body, hash } = entry;
                let number = sql_number(*seq)?;
                insert
                    .execute(params![machine, series, number, at_ms, kind, question, body, hash])?;
            }
            Ok(CopyOutcome::Copied(head.unwrap_or(ChainHead::NONE)))
        })
    }

    /// Opens the copy of a machine's ledger read-only. All that reads entries reads those of the
    /// copy's last series.
    pub fn open_copy(path: &Path, machine: &str) -> Result<Self, StoreError> {
        let store = Self::open_read_only(path)?;
        let failed = store.explain_failure("read");
        // A view takes no parameters.
        let name = machine.replace('\'', "''");
        let view = format!(
            "CREATE TEMP VIEW entries AS SELECT seq, at_ms, kind, question, body, hash
             FROM main.copied_entries WHERE machine = '{name}' AND series = (
                SELECT max(series) FROM main.copied_entries WHERE machine = '{name}')"
        );
        store.connection.execute_batch(&view).map_err(failed)?;
        Ok(store)
    }

    pub fn copied_machines(&self) -> Result<Vec<String>, StoreError> {
        self.read_rows("SELECT DISTINCT machine FROM copied_entries ORDER BY 1", [], |row| {
            row.get(0)
        })
    }
}

fn copied_end(
    connection: &Connection,
    machine: &str,
) -> rusqlite::Result<Option<(i64, ChainHead)>> {
    let mut query = connection.prepare_cached(COPIED)?;
    let end = query.query_row([machine], |row| {
        let seq: i64 = row.get(1)?;
        let head = ChainHead { seq: seq.unsigned_abs(), hash: row.get(2)? };
        Ok((row.get(0)?, head))
    });
    end.optional()
}

/// Returns true if an entry follows another one. The first entry of a series that was pruned cannot
/// be checked.
fn follows(head: Option<&ChainHead>, entry: &LedgerEntry) -> bool {
    match head {
        Some(head) => entry.follows(head),
        None if entry.seq == 1 => entry.follows(&ChainHead::NONE),
        None => entry.seq > 1,
    }
}
