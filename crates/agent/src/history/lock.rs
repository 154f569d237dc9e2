//! One at a time: who works on a conversation, in this process or another.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_link::file::{open_own, try_lock};
use callgate_store::{ChainHash, Store};
use rustix::process::geteuid;
use sha2::{Digest, Sha256};

use super::error::HistoryError;

/// The folder of the locks, beside the file.
const FOLDER: &str = "locks";
const EXTENSION: &str = "lock";
/// How many files are kept open while nobody works on their conversations.
const MOST_SPARE: usize = 8;
/// How often a file is made that somebody removes before it is locked.
const MOST_TRIES: usize = 100;

/// The locks of all conversations.
pub(super) enum ConversationLocks {
    /// A file for each, so that other processes see them.
    Folder(PathBuf, SpareLockFiles),
    /// For conversations that no other process can see.
    Memory(TakenLocks),
}

type TakenLocks = Arc<Mutex<HashSet<String>>>;
/// The files of the conversations that were worked on last, open and not locked; the last one
/// comes last.
type SpareLockFiles = Arc<Mutex<VecDeque<LockFile>>>;

/// Says that somebody works on a conversation, until it is dropped or its process dies.
#[derive(Debug)]
pub(super) enum ConversationLock {
    File { file: Option<LockFile>, spare: SpareLockFiles, is_passing: bool },
    Memory { taken: TakenLocks, conversation: String },
}

/// A file that stands for a conversation. It is made when somebody works on the conversation, and
/// removed with it. Whoever removes it has the lock, and whoever gets the lock makes sure that the
/// file is still there: a lock on a file that was removed keeps nobody out.
#[derive(Debug)]
pub(super) struct LockFile {
    conversation: String,
    path: PathBuf,
    file: File,
    /// Which file it is.
    identity: (u64, u64),
}

impl ConversationLocks {
    pub(super) fn beside(file: &Path) -> Self {
        Self::Folder(folder_beside(file), SpareLockFiles::default())
    }

    pub(super) fn in_memory() -> Self {
        Self::Memory(TakenLocks::default())
    }

    /// Takes the lock of a conversation; nothing when somebody else has it.
    pub(super) fn take(
        &self,
        conversation: &str,
    ) -> Result<Option<ConversationLock>, HistoryError> {
        match self {
            Self::Folder(folder, spare) => {
                let taken = take_file(folder, spare, conversation).map_err(|source| {
                    let path = folder.join(name(conversation));
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
                let is_free = all(taken).insert(conversation.clone());
                Ok(is_free
                    .then(|| ConversationLock::Memory { taken: Arc::clone(taken), conversation }))
            }
        }
    }
}

impl ConversationLocks {
    /// Removes the files of conversations that are not in `store` and that nobody works on. They
    /// stay behind when a process is killed that had kept nothing of a conversation yet.
    pub(super) fn sweep(&self, store: &Store) -> Result<(), HistoryError> {
        let Self::Folder(folder, _) = self else { return Ok(()) };
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let files: Vec<PathBuf> = files.filter(|path| is_lock(path)).collect();
        if files.len() as u64 <= store.count_conversations()? {
            return Ok(());
        }
        let mut known = HashSet::new();
        store.each_conversation(|id| {
            known.insert(folder.join(name(id)));
        })?;
        for path in files.into_iter().filter(|path| !known.contains(path)) {
            let opened = LockFile::open_with(OpenOptions::new().write(true), path, "");
            // Whatever cannot be opened or locked is somebody else's to remove.
            if let Ok(file) = opened.and_then(|file| Ok(try_lock(&file.file)?.then_some(file))) {
                file.iter().for_each(LockFile::remove);
            }
        }
        Ok(())
    }
}

impl ConversationLock {
    /// Says whether the file is to be removed when this is dropped: nothing is kept of the
    /// conversation.
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
                if *is_passing {
                    file.remove();
                } else if file.file.unlock().is_ok() {
                    // One that cannot be unlocked is closed, which unlocks it too.
                    put_back(spare, file);
                }
            }
            Self::Memory { taken, conversation } => {
                all(taken).remove(conversation);
            }
        }
    }
}

impl LockFile {
    /// Opens the file of a conversation, and makes it and its folder if they are not there.
    fn open(folder: &Path, conversation: &str) -> io::Result<Self> {
        make(folder)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        Self::open_with(&mut options, folder.join(name(conversation)), conversation)
    }

    fn open_with(options: &mut OpenOptions, path: PathBuf, conversation: &str) -> io::Result<Self> {
        let file = open_own(options, &path)?;
        let identity = identity(&file.metadata()?);
        Ok(Self { conversation: conversation.to_owned(), path, file, identity })
    }

    /// Removes the file, which is locked, from its folder.
    fn remove(&self) {
        if self.is_in_place() {
            // One that stays is found and locked by whoever comes next, as any other.
            fs::remove_file(&self.path).ok();
        }
    }

    /// Returns true if it is still the file that others find. One that a hand has removed locks
    /// nobody out.
    fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity)
    }
}

fn take_file(
    folder: &Path,
    spare: &SpareLockFiles,
    conversation: &str,
) -> io::Result<Option<LockFile>> {
    let mut kept = {
        let mut spare = all(spare);
        let at = spare.iter().position(|file| file.conversation == conversation);
        at.and_then(|at| spare.remove(at))
    };
    for _ in 0..MOST_TRIES {
        let file = match kept.take() {
            Some(file) => file,
            None => LockFile::open(folder, conversation)?,
        };
        if !try_lock(&file.file)? {
            put_back(spare, file);
            return Ok(None);
        }
        // Whoever had the lock may have removed the file, and somebody else made a new one.
        if file.is_in_place() {
            return Ok(Some(file));
        }
    }
    Err(io::Error::other("somebody removes its file again and again"))
}

/// Keeps a file for the next time, in place of the one that was not used for longest.
fn put_back(spare: &SpareLockFiles, file: LockFile) {
    let mut spare = all(spare);
    spare.retain(|other| other.conversation != file.conversation);
    if spare.len() >= MOST_SPARE {
        spare.pop_front();
    }
    spare.push_back(file);
}

fn all<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an id may have any characters and be longer than a file's name.
fn name(conversation: &str) -> String {
    let mut hash = [0; 32];
    hash.copy_from_slice(&Sha256::digest(conversation.as_bytes()));
    format!("{}.{EXTENSION}", ChainHash(hash))
}

/// Returns true if a path has the name of a lock's file.
fn is_lock(path: &Path) -> bool {
    let is_hash = |stem: &str| stem.parse::<ChainHash>().is_ok();
    path.extension().is_some_and(|extension| extension == EXTENSION)
        && path.file_stem().and_then(OsStr::to_str).is_some_and(is_hash)
}

/// Returns the folder of the locks for all who share a file.
pub(super) fn folder_beside(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(FOLDER)
}

/// Makes the folder, if it is not there.
pub(super) fn make(folder: &Path) -> io::Result<()> {
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

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests;
