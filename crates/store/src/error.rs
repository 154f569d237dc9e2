//! The errors of the store.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// An error of the store. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or its folder could not be made or looked at.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried, as in "cannot create the folder".
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("there is no ledger at {0} yet: `callgate up` begins one")]
    Missing(PathBuf),
    #[error("{0} is not a file; it was left alone: move it away or use another path")]
    NotAFile(PathBuf),
    #[error("{0} is not a database; it was left alone: move it away or use another path")]
    NotADatabase(PathBuf),
    #[error(
        "{0} is the database of another program; it was left alone: move it away or use another \
         path"
    )]
    OtherProgram(PathBuf),
    #[error(
        "{path} belongs to user {theirs}, not to user {ours}: run callgate as that user or use \
         another path"
    )]
    Foreign { path: PathBuf, theirs: u32, ours: u32 },
    #[error(
        "{path} was written by a newer callgate (its layout is version {found}, known is {known}): \
         update callgate"
    )]
    Newer {
        path: PathBuf,
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The file was written by an earlier callgate, and whoever only reads cannot change that.
    #[error(
        "{path} was written by an older callgate (its layout is version {found}, wanted is \
         {known}): start `callgate up` once, which brings it up to date"
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    /// The file cannot be written, or was opened for reading.
    #[error("cannot write to {0}: it is read-only; look at its permissions and its folder's")]
    ReadOnly(PathBuf),
    #[error("no space left for {0}: nothing was written; make room and try again")]
    Full(PathBuf),
    /// Another process has kept the file locked for too long.
    #[error("another process keeps {0} locked: wait for it or end it, then try again")]
    Busy(PathBuf),
    #[error("{path} is damaged ({reason}): keep a copy, then move it away to begin a new one")]
    Damaged { path: PathBuf, reason: String },
    /// The folder is on a file system on which several processes cannot share the file.
    #[error("{0} cannot be used in WAL mode (a network file system?): use a path on a local disk")]
    NoWal(PathBuf),
    /// The chain is broken, so that nothing may be removed from it.
    #[error(
        "the ledger is broken at entry {seq}: {why}; nothing was removed, as it may be evidence: \
         keep the file, and move it away to begin a new one"
    )]
    Broken {
        /// The first entry that does not fit.
        seq: u64,
        why: ChainFault,
    },
    /// What was to be written is not an entry.
    #[error("entry {index} of those to be written is refused: {why}")]
    Refused {
        /// Which of them, counted from 0.
        index: usize,
        /// What is wrong with it; never its content.
        why: &'static str,
    },
    /// What was to be kept beside the ledger is too long.
    #[error("cannot keep {what}: it is longer than {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    /// SQLite refused for another reason.
    #[error("cannot {doing} {path}: {source}")]
    Sqlite { doing: &'static str, path: PathBuf, source: rusqlite::Error },
}

/// What is wrong with an entry of a broken chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// The content and the hash do not belong together, or the one before it was replaced.
    #[error("it was changed, or the entry before it was replaced")]
    Changed,
    /// The entry is not there, but later ones are or were.
    #[error("it is missing")]
    Missing,
    #[error("all before it is missing, and no pruning has removed it")]
    NoAnchor,
    /// The mark of the chain's end and the last entry do not belong together.
    #[error("the mark of the ledger's end has another hash for it")]
    OtherMark,
    #[error("it has another hash than the head that was noted: the ledger was written anew")]
    OtherThanNoted,
    #[error("it cannot be read: the file is damaged")]
    Unreadable,
}

impl StoreError {
    /// Returns true if the file cannot be made or written where it should be, as in a home that is
    /// read-only.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Self::ReadOnly(_) => true,
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ),
            _ => false,
        }
    }

    /// Refuses a text that is longer than `limit` bytes; `what` names it in the error.
    pub(crate) fn check_length(what: &'static str, text: &str, limit: usize) -> Result<(), Self> {
        if text.len() > limit { Err(Self::TooLong { what, limit }) } else { Ok(()) }
    }

    pub(crate) fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { action, path: path.to_owned(), source: source.into() }
    }

    /// Makes an error of SQLite's; `doing` completes "cannot ...".
    pub(crate) fn sqlite(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase(path),
            Some(ErrorCode::ReadOnly) => Self::ReadOnly(path),
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(&path, &source),
            _ if is_misread(&source) => Self::damaged(&path, &source),
            _ => Self::Sqlite { doing, path, source },
        }
    }

    fn damaged(path: &Path, reason: &rusqlite::Error) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Returns true if a column holds something that no version of callgate writes.
pub(crate) fn is_misread(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..)
    )
}
