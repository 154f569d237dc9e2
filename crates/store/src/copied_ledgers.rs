//! Copies of the ledgers of other machines, beside the one of this machine.
//!
//! A copy is a chain, too: an entry is stored only if its hash follows from its content and the
//! entry before. Where a machine's ledger was pruned or replaced, a new series begins.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use crate::chain::ChainHead;
use crate::error::StoreError;
use crate::ledger::{read_unsigned, refuse_faults, sql_number};
use crate::verify::{ChainReport, walk_copy};
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
    /// the first of a new series; otherwise they follow the last one. Returns an error if one of
    /// them cannot be an entry of a ledger.
    pub fn copy_entries(
        &mut self,
        machine: &str,
        entries: &[LedgerEntry],
        begins_anew: bool,
    ) -> Result<CopyOutcome, StoreError> {
        // A machine can put anything into a chain.
        refuse_faults(entries.iter().map(LedgerEntry::fault))?;
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

    /// Opens the copy of a machine's ledger read-only. All that reads entries reads those of its
    /// last series, or of the one that `name` adds to the machine, as in `build-7#1`. The mark of
    /// the chain's end, which [`last_seq`](Self::last_seq) and [`chain_head`](Self::chain_head)
    /// also read, the open questions and the kept values are still those of this machine.
    pub fn open_copy(path: &Path, name: &str) -> Result<Self, StoreError> {
        let store = Self::open_read_only(path)?;
        let failed = store.explain_failure("read");
        let (machine, series) = store.find_copy(name)?;
        // A view takes no parameters.
        let view = format!(
            "CREATE TEMP VIEW entries AS SELECT seq, at_ms, kind, question, body, hash
             FROM main.copied_entries WHERE machine = '{}' AND series = {series}",
            machine.replace('\'', "''")
        );
        // A temporary name hides that of the table, so that whatever reads entries reads the copy.
        store.connection.execute_batch(&view).map_err(failed)?;
        Ok(store)
    }

    /// Returns the machine and the series that a name stands for, whether or not they exist.
    fn find_copy<'a>(&self, name: &'a str) -> Result<(&'a str, u64), StoreError> {
        let last = |machine| Ok(self.copied_series(machine)?.last().copied());
        if let Some(series) = last(name)? {
            return Ok((name, series));
        }
        let named = name.rsplit_once('#').and_then(|(machine, series)| {
            Some((machine, series.parse().ok().filter(|series| i64::try_from(*series).is_ok())?))
        });
        Ok(named.unwrap_or((name, 0)))
    }

    /// Returns the numbers of a machine's series, the oldest first.
    pub fn copied_series(&self, machine: &str) -> Result<Vec<u64>, StoreError> {
        let query = "SELECT DISTINCT series FROM copied_entries WHERE machine = ? ORDER BY 1";
        self.read_rows(query, [machine], |row| read_unsigned(row, 0))
    }

    /// Walks the series of a copy. Its first entry cannot be checked if that is not the first of
    /// the machine's ledger.
    pub fn verify_copy(&self) -> Result<ChainReport, StoreError> {
        walk_copy(&self.connection).map_err(self.explain_failure("verify"))
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
