//! The end of a long chain, and the note of how far all of it was checked.
//!
//! Whoever wants an answer at once walks the last entries only, and tells of the rest when it was
//! last checked. The note lies beside the chain, in the same file: whoever can change an entry can
//! change the note. So it never shortens a whole walk; it only says what was done.

use serde::{Deserialize, Serialize};

use super::parts::carried_by;
use super::{Verified, Walk, last_readable};
use crate::chain::{Hash, Head};
use crate::error::{Fault, StoreError};
use crate::{Store, ledger};

/// Where the note is kept.
const KEY: &str = "verified";

/// What a walk along the end of the chain has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentWalk {
    /// What was found in it. A whole one has so many entries as were looked at.
    pub verified: Verified,
    /// The number of the first entry that was looked at.
    pub from: u64,
    /// Whether there are entries before that.
    pub is_partial: bool,
}

/// That the whole chain was walked, and found to be whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its end at that time.
    pub head: Head,
    /// When that was, in milliseconds since 1970.
    pub at_ms: i64,
}

#[derive(Serialize, Deserialize)]
struct Note {
    head: String,
    at_ms: i64,
}

impl Store {
    /// Walks the last `most` entries of the chain, or all of it when it has no more.
    pub fn verify_recent(&self, most: u64) -> Result<RecentWalk, StoreError> {
        let failed = self.failed("verify");
        let view = self.connection.unchecked_transaction().map_err(&failed)?;
        let begun = Walk::begin(&view, None).map_err(&failed)?;
        let last = last_readable(&view).map_err(&failed)?.unwrap_or(Head::NONE);
        let from = last.seq.saturating_sub(most);
        let before = match begun {
            Ok(walk) if walk.last.seq < from => carried_by(&view, from).map_err(&failed)?,
            // A beginning that is broken is told as by a walk of all.
            Ok(_) | Err(_) => {
                let verified = super::walk(&view, None, &|_, _| ()).map_err(failed)?;
                return Ok(RecentWalk { verified, from: 1, is_partial: false });
            }
        };
        let broken = |(seq, why)| Verified::Broken { seq, why };
        let verified = match before {
            None => broken((from, Fault::Missing)),
            Some(before) => {
                let mut walk = Walk::from(before, None);
                let steps = walk.go(&view, u64::MAX, &|_| ()).map_err(&failed)?;
                let marked = ledger::marked(&view).map_err(failed)?;
                steps.and_then(|()| walk.end(marked)).map_or_else(broken, |()| walk.whole())
            }
        };
        Ok(RecentWalk { verified, from: from + 1, is_partial: true })
    }

    /// Notes that the whole chain was walked up to `head` and found to be whole.
    pub fn note_verified(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let Checkpoint { head, at_ms } = checkpoint;
        let note = Note { head: head.to_string(), at_ms: *at_ms };
        let note = serde_json::to_string(&note)
            .map_err(|error| StoreError::io("cannot note a check of", self.path(), error))?;
        self.keep(KEY, &note)
    }

    /// Returns what was noted last. A note that nobody can read counts for nothing.
    pub fn last_verified(&self) -> Result<Option<Checkpoint>, StoreError> {
        let note = self.kept(KEY)?;
        let note = note.and_then(|note| serde_json::from_str::<Note>(&note).ok());
        Ok(note
            .and_then(|note| Some(Checkpoint { head: note.head.parse().ok()?, at_ms: note.at_ms })))
    }

    /// Whether the entry of a checkpoint still carries the hash that it had then; nothing when it
    /// is not there any more.
    pub fn still_has(&self, head: &Head) -> Result<Option<bool>, StoreError> {
        let found = carried_by(&self.connection, head.seq).map_err(self.failed("read"))?;
        Ok(found.map(|found| Hash(found.hash) == Hash(head.hash)))
    }
}
