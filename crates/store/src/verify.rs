//! Walking the chain: is every entry there, and as it was written?
//!
//! Each entry carries its own hash, so whether it follows the one before it can be told from two
//! neighbours. A long chain is therefore walked in parts side by side (`parts.rs`), and its end can
//! be walked alone (`recent.rs`).

mod parts;
mod recent;

use rusqlite::{Connection, Row};

pub use recent::{Checkpoint, RecentWalk};

use crate::anchor::{Anchor, anchor_through};
use crate::chain::{Head, Linker};
use crate::error::{Fault, StoreError, is_misread};
use crate::{Store, ledger};

/// What a walk along the chain has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// Every entry follows the one before it.
    Whole {
        /// How many there are.
        entries: u64,
        /// What was removed before the first of them by pruning, if anything was.
        from_anchor: Option<Anchor>,
        /// The end of the chain, to be noted elsewhere.
        head: Head,
        /// How it compares with a head that was noted earlier.
        noted: Noted,
    },
    /// An entry does not follow the one before it.
    Broken {
        /// The first such.
        seq: u64,
        /// In which way.
        why: Fault,
    },
}

/// How a chain compares with a head that was noted earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// None was given.
    NotGiven,
    /// What was noted is in the chain.
    Found,
    /// The entry was removed by pruning since, so that nothing can be said about it.
    Pruned,
}

/// Is told from time to time how many entries were looked at, and how many there are.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

impl Store {
    /// Walks the whole chain.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        self.verify_with(None, &|_, _| ())
    }

    /// Walks the whole chain, and looks whether a head that was noted earlier is part of it. A
    /// long one is walked by several threads; what they find to be wrong is looked at once more
    /// in a single view of the file, which alone says that it is broken.
    pub fn verify_with(
        &self,
        noted: Option<Head>,
        progress: Progress<'_>,
    ) -> Result<Verified, StoreError> {
        let failed = self.failed("verify");
        // One view of the file, however long it takes and whoever writes meanwhile.
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        if let Some(whole) = parts::walk(self, &view, noted, progress).map_err(&failed)? {
            return Ok(whole);
        }
        walk(&view, noted, progress).map_err(failed)
    }
}

/// Walks the chain as `connection` sees it.
pub(crate) fn walk(
    connection: &Connection,
    noted: Option<Head>,
    progress: Progress<'_>,
) -> rusqlite::Result<Verified> {
    let mut walk = match Walk::begin(connection, noted)? {
        Ok(walk) => walk,
        Err((seq, why)) => return Ok(Verified::Broken { seq, why }),
    };
    let total = last_readable(connection)?.map_or(0, |last| last.seq.saturating_sub(walk.last.seq));
    let steps = walk.go(connection, u64::MAX, &|done| progress(done, total))?;
    let marked = ledger::marked(connection)?;
    Ok(match steps.and_then(|()| walk.end(marked)) {
        Ok(()) => walk.whole(),
        Err((seq, why)) => Verified::Broken { seq, why },
    })
}

/// After so many entries somebody is told how far it is.
const TOLD_AFTER: u64 = 4096;

type Step = Result<(), (u64, Fault)>;

struct Walk {
    from_anchor: Option<Anchor>,
    entries: u64,
    last: Head,
    noted: Option<Head>,
    found: bool,
    linker: Linker,
}

impl Walk {
    /// A walk from the entry after `last` on.
    fn from(last: Head, noted: Option<Head>) -> Self {
        let linker = Linker::default();
        Self { from_anchor: None, entries: 0, last, noted, found: false, linker }
    }

    fn begin(
        connection: &Connection,
        noted: Option<Head>,
    ) -> rusqlite::Result<Result<Self, (u64, Fault)>> {
        let first = connection
            .query_row("SELECT min(seq) FROM entries", [], |row| row.get::<_, Option<i64>>(0))
            .or_else(|error| if is_damage(&error) { Ok(None) } else { Err(error) })?;
        let first = first.map_or(1, |first| u64::try_from(first).unwrap_or(0));
        let mut walk = Self::from(Head::NONE, noted);
        if first == 0 {
            return Ok(Err((1, Fault::Missing)));
        }
        if first > 1 {
            let anchor = anchor_through(connection, first - 1)?;
            let Some(head) = anchor.as_ref().and_then(Anchor::head) else {
                return Ok(Err((first, Fault::NoAnchor)));
            };
            walk.last = head;
            walk.from_anchor = anchor;
        }
        Ok(walk.compare().map(|()| walk))
    }

    /// Walks on to the entry `upto`, or to the last one before it that is there.
    fn go(
        &mut self,
        connection: &Connection,
        upto: u64,
        progress: &dyn Fn(u64),
    ) -> rusqlite::Result<Step> {
        let mut query = connection.prepare(
            "SELECT seq, at_ms, kind, question, body, hash FROM entries
             WHERE seq > ? AND seq <= ? ORDER BY seq",
        )?;
        let upto = i64::try_from(upto).unwrap_or(i64::MAX);
        let mut rows = query.query([ledger::number(self.last.seq)?, upto])?;
        loop {
            let step = match rows.next() {
                Ok(Some(row)) => self.step(row),
                Ok(None) => return Ok(Ok(())),
                Err(error) => Err(error),
            };
            match step {
                Ok(Ok(())) => {}
                Ok(fault) => return Ok(fault),
                Err(error) if is_damage(&error) => {
                    return Ok(Err((self.last.seq + 1, Fault::Unreadable)));
                }
                Err(error) => return Err(error),
            }
            if self.entries.is_multiple_of(TOLD_AFTER) {
                progress(self.entries);
            }
        }
    }

    fn step(&mut self, row: &Row<'_>) -> rusqlite::Result<Step> {
        let seq = self.last.seq + 1;
        if row.get::<_, i64>(0)? != ledger::number(seq)? {
            return Ok(Err((seq, Fault::Missing)));
        }
        let hash = self.linker.link(&self.last.hash, &ledger::content(row, seq)?);
        if ledger::bytes(row.get_ref(5)?) != Some(&hash) {
            return Ok(Err((seq, Fault::Changed)));
        }
        self.entries += 1;
        self.last = Head { seq, hash };
        Ok(self.compare())
    }

    /// Holds what the chain has reached against what was noted.
    fn compare(&mut self) -> Step {
        match self.noted {
            Some(noted) if noted.seq == self.last.seq => {
                self.found = noted == self.last;
                if self.found { Ok(()) } else { Err((noted.seq, Fault::OtherThanNoted)) }
            }
            _ => Ok(()),
        }
    }

    /// After the last entry: was there ever one behind it?
    fn end(&self, marked: Option<Head>) -> Step {
        let next = self.last.seq + 1;
        match marked {
            Some(marked) if marked.seq > self.last.seq => return Err((next, Fault::Missing)),
            Some(marked) if marked != self.last => return Err((self.last.seq, Fault::OtherMark)),
            None if self.last.seq > 0 => return Err((self.last.seq, Fault::OtherMark)),
            Some(_) | None => {}
        }
        match self.noted {
            Some(noted) if noted.seq > self.last.seq => Err((next, Fault::Missing)),
            _ => Ok(()),
        }
    }

    fn whole(self) -> Verified {
        let noted = self.compared();
        let Self { entries, last: head, from_anchor, .. } = self;
        Verified::Whole { entries, from_anchor, head, noted }
    }

    fn compared(&self) -> Noted {
        match self.noted {
            None => Noted::NotGiven,
            Some(_) if self.found => Noted::Found,
            Some(_) => Noted::Pruned,
        }
    }
}

/// The last entry that is there, unless its hash cannot be read.
fn last_readable(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    ledger::present(connection)
        .or_else(|error| if is_damage(&error) { Ok(None) } else { Err(error) })
}

fn is_damage(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) || is_misread(error)
}
