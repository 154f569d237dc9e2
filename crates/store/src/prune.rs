//! Pruning: removes old entries and leaves an anchor from which verification continues.

use callgate_wire::ledger::{EntriesPruned, LedgerEvent};
use rusqlite::{Connection, OptionalExtension, Statement};

use crate::chain::Sha256Hash;
use crate::error::StoreError;
use crate::links::links_before;
use crate::transaction::Transaction;
use crate::verify::{ChainReport, walk_chain};
use crate::{EntryDraft, LedgerEntry, Store, ledger, now_ms};

/// How long a question can be open, in milliseconds: a day, although the longest timeout that can
/// be set is an hour. A question that was asked earlier and never closed was abandoned, and pruning
/// does not stop at it.
pub const LONGEST_OPEN_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneReport {
    pub removed: u64,
    /// The anchor that replaces them; `None` if nothing was removed.
    pub anchor: Option<LedgerEntry>,
}

impl Store {
    /// Removes entries from the beginning of the ledger, up to the first that is not older than
    /// `before_ms` or belongs to a question that is still open, and writes an `anchor` at its end
    /// in the same transaction. A broken chain is left as it is: it may be evidence.
    pub fn prune(&mut self, before_ms: i64) -> Result<PruneReport, StoreError> {
        self.prune_at(before_ms, now_ms())
    }

    pub(crate) fn prune_at(
        &mut self,
        before_ms: i64,
        now_ms: i64,
    ) -> Result<PruneReport, StoreError> {
        let failed = self.explain_failure("prune");
        let transaction = self.begin_transaction()?;
        // A broken chain may be evidence, so nothing is removed from it.
        check_whole(&walk_chain(&transaction, None, &|_, _| ()).map_err(&failed)?)?;
        let anchor = remove_entries(&transaction, before_ms, now_ms).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        let Some((removed, anchor)) = anchor else {
            return Ok(PruneReport { removed: 0, anchor: None });
        };
        // This comes after the commit, because the log cannot be shortened within a transaction.
        self.give_back_space();
        Ok(PruneReport { removed, anchor: Some(anchor) })
    }

    /// Returns the anchor that [`prune`](Self::prune) would leave, without removing anything.
    /// Returns the same error for a broken chain.
    pub fn preview_pruning(&self, before_ms: i64) -> Result<Option<EntriesPruned>, StoreError> {
        let failed = self.explain_failure("read");
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        check_whole(&walk_chain(&view, None, &|_, _| ()).map_err(&failed)?)?;
        let kept_from = first_to_keep(&view, before_ms, now_ms()).map_err(&failed)?;
        anchor_before(&view, kept_from).map_err(failed)
    }

    /// Shrinks the file and its log after a removal. If a reader is in the way, the space is given
    /// back later.
    pub(crate) fn give_back_space(&self) {
        for pragma in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            // Each row is a step of the work, so all rows are read.
            let all_rows = |mut query: Statement<'_>| query.query_map([], |_| Ok(()))?.collect();
            // A failure leaves the file as large as it was, and everything in it.
            self.connection.prepare(pragma).and_then(all_rows).unwrap_or(());
        }
    }
}

fn check_whole(report: &ChainReport) -> Result<(), StoreError> {
    match report {
        ChainReport::Broken { seq, why } => Err(StoreError::Broken { seq: *seq, why: *why }),
        ChainReport::Whole { .. } => Ok(()),
    }
}

fn remove_entries(
    transaction: &Transaction<'_>,
    before_ms: i64,
    now_ms: i64,
) -> rusqlite::Result<Option<(u64, LedgerEntry)>> {
    let kept_from = first_to_keep(transaction, before_ms, now_ms)?;
    let Some(anchor) = anchor_before(transaction, kept_from)? else { return Ok(None) };
    transaction.execute("DELETE FROM entries WHERE seq < ?", [kept_from])?;
    let removed = anchor.count;
    // Written past the check of drafts, which refuses an anchor from anybody else. Its number is
    // new even if no entry is left, because the mark of the end still has the last one.
    let draft = EntryDraft::new(now_ms, None, &LedgerEvent::Anchor(anchor));
    let written = ledger::write_entries(transaction, &[draft])?;
    Ok(written.into_iter().next().map(|entry| (removed, entry)))
}

fn first_to_keep(connection: &Connection, before_ms: i64, now_ms: i64) -> rusqlite::Result<i64> {
    // The index and the order of the join are prescribed, because SQLite could otherwise begin with
    // all entries instead of the few questions of the last day.
    connection.query_row(
        "SELECT min(seq) FROM (
             SELECT min(seq) AS seq FROM entries WHERE at_ms >= ?1
             UNION ALL
             SELECT min(e.seq) FROM entries asked INDEXED BY entries_asked
             CROSS JOIN entries e ON e.question = asked.question WHERE asked.kind = 'asked'
             AND asked.at_ms >= ?2 AND NOT EXISTS (
                 SELECT 1 FROM entries closed
                 WHERE closed.question = asked.question AND closed.kind = 'closed'))",
        [before_ms, now_ms.saturating_sub(LONGEST_OPEN_MS)],
        |row| row.get::<_, Option<i64>>(0).map(|seq| seq.unwrap_or(i64::MAX)),
    )
}

fn anchor_before(
    connection: &Connection,
    kept_from: i64,
) -> rusqlite::Result<Option<EntriesPruned>> {
    // The anchor carries the links over, because the entries that made them are removed.
    let links = links_before(connection, kept_from)?;
    connection
        .query_row(
            "SELECT last.seq, last.hash, removed.count, removed.first, removed.last
             FROM (SELECT count(*) AS count, min(at_ms) AS first, max(at_ms) AS last,
                   max(seq) AS seq FROM entries WHERE seq < ?) removed
             JOIN entries last ON last.seq = removed.seq",
            [kept_from],
            |row| {
                Ok(EntriesPruned {
                    through: ledger::read_unsigned(row, 0)?,
                    hash: Sha256Hash(row.get(1)?).to_string(),
                    count: ledger::read_unsigned(row, 2)?,
                    from_ms: row.get(3)?,
                    to_ms: row.get(4)?,
                    links: Some(links.clone()),
                })
            },
        )
        .optional()
}
