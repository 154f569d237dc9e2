//! callgate's SQLite file: the chained ledger, and the conversations beside it.
//!
//! The ledger has what was asked, pressed, decided and run. Each entry carries a hash over its
//! content and the hash before it, so that a change in the middle breaks the chain at a place
//! that [`Store::verify`] names. Beside it the file keeps random keys and small settings
//! ([`Store::secret`], [`Store::keep`]), which are not chained.
//!
//! **What the chain proves.** It shows damage, a slip of the hand, and whoever changes an entry
//! without understanding the file. It does not stop the file's owner, who can compute the chain
//! anew; a key kept on the same machine would not either, since the same owner can read it. What
//! does help is a [`Head`] noted elsewhere (on paper, on another machine, in a commit): a chain
//! that was rewritten or cut has no longer that hash at that number
//! ([`Store::verify_with`]).
//!
//! **What is committed stays.** [`Store::append`] returns after the commit. A process that is
//! killed then loses nothing. A machine that loses its power may lose the last commits, since
//! they are synced with the next checkpoint; what is left is still a whole chain.
//!
//! **Conversations** are kept beside the ledger and not chained: a person may delete them
//! ([`Store::add`]). What is written to one, with the entries that belong to it, is one
//! transaction.
//!
//! **Several processes** may append to one file: the next number and the hash before it are read
//! inside the transaction that writes.

#![allow(clippy::doc_markdown, reason = "SQLite is a name, not code")]

mod anchor;
mod chain;
mod conversations;
mod entry;
mod error;
mod identity;
mod kept;
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

use rusqlite::Connection;

pub use anchor::{Anchor, Links};
pub use chain::{Hash, Head, NotAHead};
pub use conversations::{
    Addition, Conversation, ConversationState, LONGEST_ACCOUNT, LONGEST_CONVERSATION,
    LONGEST_MESSAGE, LONGEST_TITLE, ReservationRequest, Said, Settlement, Spending, Spent, Sum,
};
pub use entry::{Draft, Entry, Filter, LONGEST_BODY, LONGEST_KIND, LONGEST_QUESTION, Member, kind};
pub use error::{Fault, StoreError};
pub use identity::FileIdentity;
pub use kept::{LONGEST_KEY, LONGEST_VALUE};
pub use links::KEPT_LINKS;
pub use prune::{LONGEST_OPEN_MS, Pruned};
pub use verify::{Checkpoint, Noted, Progress, RecentWalk, Verified};

/// An open file, with the ledger and what is kept beside it.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The file; none when it lives in memory.
    file: Option<FileIdentity>,
}

impl Store {
    /// Where the file is, links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it is; none when it lives in memory.
    #[must_use]
    pub fn file(&self) -> Option<&FileIdentity> {
        self.file.as_ref()
    }

    /// Turns what SQLite says into what to tell a person; `doing` completes "cannot ...".
    fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        let path = self.path.clone();
        move |error| StoreError::sqlite(&path, doing, error)
    }
}

/// Returns the time on the wall clock, in milliseconds since 1970: the unit of every time in the
/// ledger.
#[must_use]
pub fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}
