//! Checks the end of a long chain, and keeps a note of how far the whole chain was checked.
//!
//! For a quick answer only the last entries are walked, and the note says when the rest was last
//! checked. The note lies in the same file as the chain, and whoever can change an entry can change
//! it. So it never shortens a whole walk.

use serde::{Deserialize, Serialize};

use super::parts::carried_by;
use super::{ChainReport, ChainWalk, last_readable};
use crate::chain::{ChainHead, Sha256Hash};
use crate::error::{ChainFault, StoreError};
use crate::{Store, ledger};

const KEY: &str = "verified";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentReport {
    /// What was found. The number of entries is that of the entries checked.
    pub verified: ChainReport,
    /// The number of the first entry checked.
    pub from: u64,
    /// Whether there are entries before that.
    pub is_partial: bool,
}

/// A note that the whole chain was checked and found to be unbroken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The head of the chain at that time.
    pub head: ChainHead,
    /// When that was, in milliseconds since 1970.
    pub at_ms: i64,
}

#[derive(Serialize, Deserialize)]
struct CheckpointNote {
    head: String,
    at_ms: i64,
}

impl Store {
    /// Walks the last `most` entries of the chain, or the whole chain if it has no more.
    pub fn verify_recent(&self, most: u64) -> Result<RecentReport, StoreError> {
        let failed = self.explain_failure("verify");
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        let begun = ChainWalk::from_first_entry(&view, None).map_err(&failed)?;
        let last = last_readable(&view).map_err(&failed)?.unwrap_or(ChainHead::NONE);
        let from = last.seq.saturating_sub(most);
        let before = match begun {
            Ok(walk) if walk.last.seq < from => carried_by(&view, from).map_err(&failed)?,
            // A broken beginning is reported as by a walk of the whole chain.
            Ok(_) | Err(_) => {
                let verified = super::walk_chain(&view, None, &|_, _| ()).map_err(failed)?;
                return Ok(RecentReport { verified, from: 1, is_partial: false });
            }
        };
        let broken = |(seq, why)| ChainReport::Broken { seq, why };
        let verified = match before {
            None => broken((from, ChainFault::Missing)),
            Some(before) => {
                let mut walk = ChainWalk::from_head(before, None);
                let steps = walk.advance_to(&view, u64::MAX, &|_| ()).map_err(&failed)?;
                let marked = ledger::read_marked_head(&view).map_err(failed)?;
                steps
                    .and_then(|()| walk.check_end(marked))
                    .map_or_else(broken, |()| walk.into_report())
            }
        };
        Ok(RecentReport { verified, from: from + 1, is_partial: true })
    }

    /// Notes that the whole chain up to `head` was checked and is unbroken.
    pub fn note_verified(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let Checkpoint { head, at_ms } = checkpoint;
        let note = CheckpointNote { head: head.to_string(), at_ms: *at_ms };
        let note = serde_json::to_string(&note)
            .map_err(|error| StoreError::io("cannot note a check of", self.path(), error))?;
        self.keep_value(KEY, &note)
    }

    /// Returns the last note. A note that cannot be read is ignored.
    pub fn last_verified(&self) -> Result<Option<Checkpoint>, StoreError> {
        let note = self.kept_value(KEY)?;
        let note = note.and_then(|note| serde_json::from_str::<CheckpointNote>(&note).ok());
        Ok(note
            .and_then(|note| Some(Checkpoint { head: note.head.parse().ok()?, at_ms: note.at_ms })))
    }

    /// Returns true if the entry of a checkpoint still has the hash that it had then, or `None` if
    /// the entry is gone.
    pub fn still_has(&self, head: &ChainHead) -> Result<Option<bool>, StoreError> {
        let found = carried_by(&self.connection, head.seq).map_err(self.explain_failure("read"))?;
        Ok(found.map(|found| Sha256Hash(found.hash) == Sha256Hash(head.hash)))
    }
}
