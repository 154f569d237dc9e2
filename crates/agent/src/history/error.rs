//! The errors of the history.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_store::StoreError;

/// Why the history could not do something. Nothing was written in that case.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    #[error("the history cannot be used: {0}")]
    Store(Arc<StoreError>),
    #[error("cannot take a lock at {path}: {source}; check the permissions of the folder")]
    Lock {
        /// The lock's file, or the folder of the locks.
        path: PathBuf,
        source: Arc<io::Error>,
    },
    #[error("the conversation {0:?} is in use: wait until its turn has ended, then try again")]
    InUse(String),
    #[error("the conversation {0:?} does not exist: `list_conversations` returns those that do")]
    Unknown(String),
    #[error("the conversation {0:?} already exists: load it, or choose another id")]
    Exists(String),
    #[error("a conversation's id has 1 to 128 bytes and no control characters")]
    BadId,
    #[error("a conversation's title has 1 to 256 characters, and more than white space")]
    BadTitle,
    #[error(
        "a conversation can only be summarised up to the beginning of a turn, in a message of the user's"
    )]
    BadCut,
    #[error(
        "no turn begins after {0} messages, so the conversation cannot be cut there: name the \
         number of a message of the user's"
    )]
    NoTurn(u64),
    #[error("the last message cannot be read any more: send it again")]
    Unreadable,
    #[error("the history has stopped working: start callgate again")]
    Gone,
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}
