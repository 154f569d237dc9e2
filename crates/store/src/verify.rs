//! Verification: a walk along the chain that checks that every entry is there and unchanged.
//!
//! Each entry carries its own hash, so two neighbours are enough to see whether one follows the
//! other. A long chain is therefore walked in parts side by side (`parts.rs`), and its end can be
//! walked alone (`recent.rs`).

mod parts;
mod recent;

use callgate_wire::ledger::EntriesPruned;
use rusqlite::{Connection, OptionalExtension, Row};

pub use recent::{Checkpoint, RecentReport};

use crate::anchor::{anchor_through, head_after};
use crate::chain::{ChainHead, Linker};
use crate::error::{ChainFault, StoreError, is_misread};
use crate::{Store, ledger};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainReport {
    /// Every entry follows the one before it.
    Whole {
        entries: u64,
        /// The anchor of the entries that pruning removed before the first one, if there are any.
        from_anchor: Option<EntriesPruned>,
        /// The end of the chain, to be noted elsewhere.
        head: ChainHead,
        /// How it compares with a head that was noted earlier.
        noted: NotedHead,
    },
    /// An entry does not follow the one before it.
    Broken {
        /// The number of the first such entry.
        seq: u64,
        why: ChainFault,
    },
}

/// Whether a chain contains a head that was noted earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotedHead {
    NotGiven,
    Found,
    /// The entry was pruned since, so nothing can be said about it.
    Pruned,
}

/// Is called from time to time with the number of entries checked so far and the number of all
/// entries.
pub type VerifyProgress<'a> = &'a (dyn Fn(u64, u64) + Sync);

impl Store {
    /// Walks the whole chain.
    pub fn verify(&self) -> Result<ChainReport, StoreError> {
        self.verify_with(None, &|_, _| ())
    }

    /// Walks the whole chain, and checks whether it contains a head that was noted earlier. A long
    /// chain is walked by several threads; a fault that they find is checked again in a single view
    /// of the file, and only that decides whether the chain is broken.
    pub fn verify_with(
        &self,
        noted: Option<ChainHead>,
        progress: VerifyProgress<'_>,
    ) -> Result<ChainReport, StoreError> {
        let failed = self.explain_failure("verify");
        // One view of the file, however long it takes and whoever writes meanwhile.
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        if let Some(whole) = parts::walk_in_parts(self, &view, noted, progress).map_err(&failed)? {
            return Ok(whole);
        }
        walk_chain(&view, noted, progress).map_err(failed)
    }
}

pub(crate) fn walk_chain(
    connection: &Connection,
    noted: Option<ChainHead>,
    progress: VerifyProgress<'_>,
) -> rusqlite::Result<ChainReport> {
    let mut walk = match ChainWalk::from_first_entry(connection, noted)? {
        Ok(walk) => walk,
        Err((seq, why)) => return Ok(ChainReport::Broken { seq, why }),
    };
    let total = last_readable(connection)?.map_or(0, |last| last.seq.saturating_sub(walk.last.seq));
    let steps = walk.advance_to(connection, u64::MAX, &|done| progress(done, total))?;
    let marked = ledger::read_marked_head(connection)?;
    Ok(match steps.and_then(|()| walk.check_end(marked)) {
        Ok(()) => walk.into_report(),
        Err((seq, why)) => ChainReport::Broken { seq, why },
    })
}

/// Walks the chain of a copy, whose end is not marked. A first entry with another number than 1 is
/// taken as it is, because the one before it is not here.
pub(crate) fn walk_copy(connection: &Connection) -> rusqlite::Result<ChainReport> {
    let first = "SELECT seq, hash FROM entries ORDER BY seq LIMIT 1";
    let first = connection.query_row(first, [], |row| {
        Ok(ChainHead { seq: ledger::read_unsigned(row, 0)?, hash: row.get(1)? })
    });
    let pruned = first.optional()?.filter(|first| first.seq > 1);
    let mut walk = ChainWalk::from_head(pruned.unwrap_or(ChainHead::NONE), None);
    // The walk begins after this entry, which counts all the same.
    walk.entries = u64::from(pruned.is_some());
    let steps = walk.advance_to(connection, u64::MAX, &|_| ())?;
    Ok(match steps {
        Ok(()) => walk.into_report(),
        Err((seq, why)) => ChainReport::Broken { seq, why },
    })
}

/// Progress is reported after this many entries.
const TOLD_AFTER: u64 = 4096;

type ChainStep = Result<(), (u64, ChainFault)>;

struct ChainWalk {
    from_anchor: Option<EntriesPruned>,
    entries: u64,
    last: ChainHead,
    noted: Option<ChainHead>,
    found: bool,
    linker: Linker,
}

impl ChainWalk {
    /// Begins a walk at the entry after `last`.
    fn from_head(last: ChainHead, noted: Option<ChainHead>) -> Self {
        let linker = Linker::default();
        Self { from_anchor: None, entries: 0, last, noted, found: false, linker }
    }

    fn from_first_entry(
        connection: &Connection,
        noted: Option<ChainHead>,
    ) -> rusqlite::Result<Result<Self, (u64, ChainFault)>> {
        let first = connection
            .query_row("SELECT min(seq) FROM entries", [], |row| row.get::<_, Option<i64>>(0))
            .or_else(|error| if is_damage(&error) { Ok(None) } else { Err(error) })?;
        // If it cannot be read, the walk begins at number 1 and reports the damage itself.
        let first = first.map_or(1, |first| u64::try_from(first).unwrap_or(0));
        let mut walk = Self::from_head(ChainHead::NONE, noted);
        if first == 0 {
            return Ok(Err((1, ChainFault::Missing)));
        }
        if first > 1 {
            let anchor = anchor_through(connection, first - 1)?;
            let Some(head) = anchor.as_ref().and_then(head_after) else {
                return Ok(Err((first, ChainFault::NoAnchor)));
            };
            walk.last = head;
            walk.from_anchor = anchor;
        }
        // A head that was noted just before pruning is the one that the anchor has. Its entry is
        // gone, so the walk would not come across it.
        Ok(walk.check_noted_head().map(|()| walk))
    }

    /// Continues to the entry `upto`, or to the last entry before it.
    fn advance_to(
        &mut self,
        connection: &Connection,
        upto: u64,
        progress: &dyn Fn(u64),
    ) -> rusqlite::Result<ChainStep> {
        let mut query = connection.prepare(
            "SELECT seq, at_ms, kind, question, body, hash FROM entries
             WHERE seq > ? AND seq <= ? ORDER BY seq",
        )?;
        let upto = i64::try_from(upto).unwrap_or(i64::MAX);
        let mut rows = query.query([ledger::sql_number(self.last.seq)?, upto])?;
        loop {
            let step = match rows.next() {
                Ok(Some(row)) => self.check_row(row),
                Ok(None) => return Ok(Ok(())),
                Err(error) => Err(error),
            };
            match step {
                Ok(Ok(())) => {}
                Ok(fault) => return Ok(fault),
                // Damage is what the walk looks for, and no failure of it.
                Err(error) if is_damage(&error) => {
                    return Ok(Err((self.last.seq + 1, ChainFault::Unreadable)));
                }
                Err(error) => return Err(error),
            }
            if self.entries.is_multiple_of(TOLD_AFTER) {
                progress(self.entries);
            }
        }
    }

    fn check_row(&mut self, row: &Row<'_>) -> rusqlite::Result<ChainStep> {
        let seq = self.last.seq + 1;
        if row.get::<_, i64>(0)? != ledger::sql_number(seq)? {
            return Ok(Err((seq, ChainFault::Missing)));
        }
        let hash = self.linker.hash_entry(&self.last.hash, &ledger::content_of_row(row, seq)?);
        if ledger::bytes_of_value(row.get_ref(5)?) != Some(&hash) {
            return Ok(Err((seq, ChainFault::Changed)));
        }
        self.entries += 1;
        self.last = ChainHead { seq, hash };
        Ok(self.check_noted_head())
    }

    /// Compares the current entry with the noted head.
    fn check_noted_head(&mut self) -> ChainStep {
        match self.noted {
            Some(noted) if noted.seq == self.last.seq => {
                self.found = noted == self.last;
                if self.found { Ok(()) } else { Err((noted.seq, ChainFault::OtherThanNoted)) }
            }
            _ => Ok(()),
        }
    }

    /// Checks, after the last entry, that none is missing at the end.
    fn check_end(&self, marked: Option<ChainHead>) -> ChainStep {
        let next = self.last.seq + 1;
        match marked {
            Some(marked) if marked.seq > self.last.seq => return Err((next, ChainFault::Missing)),
            Some(marked) if marked != self.last => {
                return Err((self.last.seq, ChainFault::OtherMark));
            }
            // Every write sets the mark, so entries without one were put there by hand.
            None if self.last.seq > 0 => return Err((self.last.seq, ChainFault::OtherMark)),
            Some(_) | None => {}
        }
        match self.noted {
            Some(noted) if noted.seq > self.last.seq => Err((next, ChainFault::Missing)),
            _ => Ok(()),
        }
    }

    fn into_report(self) -> ChainReport {
        let noted = self.noted_head();
        let Self { entries, last: head, from_anchor, .. } = self;
        ChainReport::Whole { entries, from_anchor, head, noted }
    }

    fn noted_head(&self) -> NotedHead {
        match self.noted {
            None => NotedHead::NotGiven,
            Some(_) if self.found => NotedHead::Found,
            Some(_) => NotedHead::Pruned,
        }
    }
}

/// Returns the last entry in the table, unless its hash cannot be read.
fn last_readable(connection: &Connection) -> rusqlite::Result<Option<ChainHead>> {
    ledger::read_last_head(connection)
        .or_else(|error| if is_damage(&error) { Ok(None) } else { Err(error) })
}

fn is_damage(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) || is_misread(error)
}
