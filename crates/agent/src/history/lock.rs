//! The locks of conversations, on which one process works at a time.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use callgate_link::file::{is_at, open_own, try_lock};
use callgate_link::sync::lock;
use callgate_store::{Sha256Hash, Store};
use rustix::process::geteuid;

use super::error::HistoryError;

/// The folder of the lock files, beside the database.
const FOLDER: &str = "locks";
const EXTENSION: &str = "lock";
/// How many unlocked files are kept open. Taking one of them again costs no look into the folder.
const MOST_SPARE: usize = 8;
/// How often a file is created again that somebody removes before it is locked.
const MOST_TRIES: usize = 100;

pub(super) enum ConversationLocks {
    /// A file for each conversation, so that other processes see the locks.
    Folder(PathBuf, SpareLockFiles),
    /// A set of ids, for conversations that no other process can see.
    Memory(TakenLocks),
}

type TakenLocks = Arc<Mutex<HashSet<String>>>;
/// The files of the most recently used conversations, open and not locked. The last one comes last.
type SpareLockFiles = Arc<Mutex<VecDeque<LockFile>>>;

/// The lock of a conversation, held until it is dropped or the process dies.
#[derive(Debug)]
pub(super) enum ConversationLock {
    File { file: Option<LockFile>, spare: SpareLockFiles, is_passing: bool },
    Memory { taken: TakenLocks, conversation: String },
}

/// The lock file of a conversation. It is created when somebody works on the conversation, and
/// removed with it. Only the holder of the lock removes the file, and whoever gets the lock checks
/// that the file is still there, because a lock on a removed file excludes nobody.
#[derive(Debug)]
pub(super) struct LockFile {
    conversation: String,
    path: PathBuf,
    file: File,
}

impl ConversationLocks {
    pub(super) fn beside(file: &Path) -> Self {
        Self::Folder(folder_beside(file), SpareLockFiles::default())
    }

    pub(super) fn in_memory() -> Self {
        Self::Memory(TakenLocks::default())
    }

    /// Takes the lock of a conversation. Returns `None` if somebody else has it.
    pub(super) fn take_lock(
        &self,
        conversation: &str,
    ) -> Result<Option<ConversationLock>, HistoryError> {
        match self {
            Self::Folder(folder, spare) => {
                let taken = take_file(folder, spare, conversation).map_err(|source| {
                    let path = folder.join(lock_file_name(conversation));
                    HistoryError::Lock { path, source: Arc::new(source) }
                })?;
                let locked = |file| ConversationLock::File {
                    file: Some(file),
                    spare: Arc::clone(spare),
                    is_passing: false,
                };
                Ok(taken.map(locked))
            }
            Self::Memory(taken) => {
                let conversation = conversation.to_owned();
                let is_free = lock(taken).insert(conversation.clone());
                Ok(is_free
                    .then(|| ConversationLock::Memory { taken: Arc::clone(taken), conversation }))
            }
        }
    }

    /// Removes the lock files of conversations that are not in `store` and that nobody works on.
    /// They are left by killed processes that had stored nothing yet.
    pub(super) fn sweep(&self, store: &Store) -> Result<(), HistoryError> {
        let Self::Folder(folder, _) = self else { return Ok(()) };
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let files: Vec<PathBuf> = files.filter(|path| is_lock(path)).collect();
        // Mostly nothing is left over, which the count shows without a look at each conversation.
        if files.len() as u64 <= store.count_conversations()? {
            return Ok(());
        }
        let mut known = HashSet::new();
        store.each_conversation(|id| {
            known.insert(folder.join(lock_file_name(id)));
        })?;
        for path in files.into_iter().filter(|path| !known.contains(path)) {
            let opened = LockFile::open_with(OpenOptions::new().write(true), path, "");
            // A file that cannot be opened or locked belongs to somebody else.
            if let Ok(file) = opened.and_then(|file| Ok(try_lock(&file.file)?.then_some(file))) {
                file.iter().for_each(LockFile::remove);
            }
        }
        Ok(())
    }
}

impl ConversationLock {
    /// Sets whether the file is removed when this is dropped, because nothing of the conversation
    /// is stored.
    pub(super) fn set_passing(&mut self, passing: bool) {
        if let Self::File { is_passing, .. } = self {
            *is_passing = passing;
        }
    }
}

impl Drop for ConversationLock {
    fn drop(&mut self) {
        match self {
            Self::File { file, spare, is_passing } => {
                let Some(file) = file.take() else { return };
                // While it is still locked, so that nobody takes the lock of a file that is about
                // to go.
                if *is_passing {
                    file.remove();
                } else if file.file.unlock().is_ok() {
                    // A file that cannot be unlocked is closed, which unlocks it too.
                    put_back(spare, file);
                }
            }
            Self::Memory { taken, conversation } => {
                lock(taken).remove(conversation);
            }
        }
    }
}

impl LockFile {
    /// Opens the lock file of a conversation. Creates it and its folder if necessary.
    fn open(folder: &Path, conversation: &str) -> io::Result<Self> {
        create_folder(folder)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        Self::open_with(&mut options, folder.join(lock_file_name(conversation)), conversation)
    }

    fn open_with(options: &mut OpenOptions, path: PathBuf, conversation: &str) -> io::Result<Self> {
        let file = open_own(options, &path)?;
        Ok(Self { conversation: conversation.to_owned(), path, file })
    }

    fn remove(&self) {
        // A new file of this name belongs to somebody else.
        if self.is_in_place() {
            // A file that stays is locked by the next process, like any other.
            fs::remove_file(&self.path).ok();
        }
    }

    /// Returns true if it is still the file that others find. A lock on a removed file excludes
    /// nobody.
    fn is_in_place(&self) -> bool {
        is_at(&self.file, &self.path)
    }
}

fn take_file(
    folder: &Path,
    spare: &SpareLockFiles,
    conversation: &str,
) -> io::Result<Option<LockFile>> {
    // In a block, because `put_back` takes the same lock.
    let mut kept = {
        let mut spare = lock(spare);
        let at = spare.iter().position(|file| file.conversation == conversation);
        at.and_then(|at| spare.remove(at))
    };
    // A kept file is tried once; if it was removed meanwhile, a new one is opened.
    for _ in 0..MOST_TRIES {
        let file = match kept.take() {
            Some(file) => file,
            None => LockFile::open(folder, conversation)?,
        };
        if !try_lock(&file.file)? {
            put_back(spare, file);
            return Ok(None);
        }
        // The last holder may have removed the file, and somebody else created a new one.
        if file.is_in_place() {
            return Ok(Some(file));
        }
    }
    Err(io::Error::other("somebody removes its file again and again"))
}

/// Keeps a file open for the next time, in place of the least recently used one.
fn put_back(spare: &SpareLockFiles, file: LockFile) {
    let mut spare = lock(spare);
    spare.retain(|other| other.conversation != file.conversation);
    if spare.len() >= MOST_SPARE {
        spare.pop_front();
    }
    spare.push_back(file);
}

/// Returns the name of the lock file: a hash, because an id may have any characters and be longer
/// than a file name.
fn lock_file_name(conversation: &str) -> String {
    format!("{}.{EXTENSION}", Sha256Hash::hash_bytes(conversation.as_bytes()))
}

fn is_lock(path: &Path) -> bool {
    let is_hash = |stem: &str| stem.parse::<Sha256Hash>().is_ok();
    path.extension().is_some_and(|extension| extension == EXTENSION)
        && path.file_stem().and_then(OsStr::to_str).is_some_and(is_hash)
}

/// Returns the folder of the lock files for all processes that share a database.
pub(super) fn folder_beside(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(FOLDER)
}

pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // A link could lead to a folder in which others remove the files.
    let metadata = fs::symlink_metadata(folder)?;
    if metadata.is_dir() && metadata.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not in a folder of ours"))
}

#[cfg(test)]
mod tests;
