//! callgate's SQLite file: the chained ledger, and the conversations beside it.
//!
//! The ledger records what was asked, pressed, decided and run. Each entry carries a hash over its
//! content and the hash before it, so that a change in the middle breaks the chain at an entry that
//! [`Store::verify`] reports. Beside it the file keeps random keys and small settings
//! ([`Store::find_or_make_secret`], [`Store::keep_value`]), which are not chained.
//!
//! **What the chain proves.** It reveals damage, accidents, and changes by anybody who does not
//! understand the file. It does not stop the file's owner, who can recompute the chain; nor would a
//! key on the same machine, since the owner can read it. What does help is a [`ChainHead`] noted
//! elsewhere (on paper, on another machine, in a commit): a chain that was rewritten or cut no
//! longer has that hash at that number ([`Store::verify_with`]).
//!
//! **What is committed stays.** [`Store::append_entries`] returns after the commit. A process that
//! is killed then loses nothing. A machine that loses its power may lose the last commits, since
//! they are synced with the next checkpoint; what is left is still a whole chain.
//!
//! **Conversations** are kept beside the ledger and not chained: a person may delete them
//! ([`Store::add_to_conversation`]). What is written to one, with the entries that belong to it, is
//! one transaction.
//!
//! **Copies** of the ledgers of other machines lie in a table of their own, each a chain
//! ([`Store::copy_entries`]).
//!
//! **Several processes** may append to one file: the next number and the hash before it are read
//! inside the transaction that writes.

#![allow(clippy::doc_markdown, reason = "SQLite is a name, not code")]

mod anchor;
mod chain;
mod conversations;
mod copied_ledgers;
mod entry;
mod error;
mod file_identity;
mod kept_values;
mod ledger;
mod links;
mod open;
mod prune;
mod read;
mod schema;
mod transaction;
mod verify;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};

pub use chain::{ChainHead, NotAHead, Sha256Hash};
pub use conversations::{
    Addition, AnswerCost, ConversationState, CostSum, CostTotals, EngineSelection, LONGEST_ACCOUNT,
    LONGEST_CONVERSATION, LONGEST_ENGINE, LONGEST_FOLDER, LONGEST_MESSAGE, LONGEST_TITLE,
    NewMessage, ReservationRequest, Settlement, StoredChange, StoredConversation, StoredTurn,
};
pub use copied_ledgers::CopyOutcome;
pub use entry::{
    EntryDraft, EntryFilter, LONGEST_BODY, LONGEST_KIND, LONGEST_QUESTION, LedgerEntry, MemberMatch,
};
pub use error::{ChainFault, StoreError};
pub use file_identity::FileIdentity;
pub use kept_values::{LONGEST_KEY, LONGEST_VALUE};
pub use links::KEPT_LINKS;
pub use prune::{LONGEST_OPEN_MS, PruneReport};
pub use verify::{ChainReport, Checkpoint, NotedHead, RecentReport, VerifyProgress};

/// An open file with the ledger and what is kept beside it.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The file; `None` if the store lives in memory.
    file: Option<FileIdentity>,
}

impl Store {
    /// Returns the path of the file, with symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity of the file, or `None` if the store lives in memory.
    pub fn file(&self) -> Option<&FileIdentity> {
        self.file.as_ref()
    }

    fn read_row<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let row = |mut query: CachedStatement<'_>| query.query_row(values, read).optional();
        self.connection.prepare_cached(query).and_then(row).map_err(self.explain_failure("read"))
    }

    /// Returns all rows that a query selects.
    fn read_rows<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = |mut query: CachedStatement<'_>| query.query_map(values, read)?.collect();
        self.connection.prepare_cached(query).and_then(rows).map_err(self.explain_failure("read"))
    }

    /// Returns a conversion from SQLite's errors to messages for people; `doing` completes "cannot
    /// ...".
    fn explain_failure(
        &self,
        doing: &'static str,
    ) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        // A copy, so that the conversion does not borrow the store, which a transaction borrows
        // mutably.
        let path = self.path.clone();
        move |error| StoreError::sqlite(&path, doing, error)
    }
}

/// Returns the time on the wall clock, in milliseconds since 1970: the unit of every time in the
/// ledger.
pub fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}
