//! One at a time: who works on a conversation, in this process or another.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use callgate_link::file::Lock;
use callgate_store::Hash;
use rustix::process::geteuid;
use sha2::{Digest, Sha256};

use super::error::HistoryError;

/// The folder of the locks, beside the file.
const FOLDER: &str = "locks";

/// The locks of all conversations.
pub(super) enum Locks {
    /// A file for each, so that other processes see them.
    Folder(PathBuf),
    /// For conversations that no other process can see.
    Memory(Taken),
}

type Taken = Arc<Mutex<HashSet<String>>>;

/// Says that somebody works on a conversation, until it is dropped or its process dies.
#[derive(Debug)]
pub(super) enum Token {
    File { _lock: Lock },
    Memory { taken: Taken, conversation: String },
}

impl Locks {
    pub(super) fn beside(file: &Path) -> Self {
        Self::Folder(file.parent().unwrap_or(Path::new("")).join(FOLDER))
    }

    pub(super) fn in_memory() -> Self {
        Self::Memory(Taken::default())
    }

    /// Takes the lock of a conversation; nothing when somebody else has it.
    pub(super) fn take(&self, conversation: &str) -> Result<Option<Token>, HistoryError> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name(conversation));
                let failed =
                    |source| HistoryError::Lock { path: path.clone(), source: Arc::new(source) };
                make(folder).map_err(failed)?;
                let lock = Lock::take(&path).map_err(failed)?;
                Ok(lock.map(|lock| Token::File { _lock: lock }))
            }
            Self::Memory(taken) => {
                let conversation = conversation.to_owned();
                let is_free = all(taken).insert(conversation.clone());
                Ok(is_free.then(|| Token::Memory { taken: Arc::clone(taken), conversation }))
            }
        }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if let Self::Memory { taken, conversation } = self {
            all(taken).remove(conversation);
        }
    }
}

fn all(taken: &Taken) -> std::sync::MutexGuard<'_, HashSet<String>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An id may have any characters and be longer than a file's name.
fn name(conversation: &str) -> String {
    let mut hash = [0; 32];
    hash.copy_from_slice(&Sha256::digest(conversation.as_bytes()));
    format!("{}.lock", Hash(hash))
}

fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let metadata = fs::symlink_metadata(folder)?;
    if metadata.is_dir() && metadata.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not in a folder of ours"))
}
