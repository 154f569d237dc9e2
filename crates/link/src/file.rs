//! Files that only their owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Creates `path` with mode 0600 and writes `content`; an existing file is an error. When the
/// writing fails nothing is left behind.
pub fn create_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content).inspect_err(|_| {
        // The write's own error is the one to tell.
        std::fs::remove_file(path).ok();
    })
}

/// A private file that lives as long as this: it is removed when this is dropped, and one left by
/// a process that was killed is removed by [`sweep`].
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    /// The lock on it tells others that we live.
    lock: File,
}

impl Held {
    /// Creates `path` with mode 0600, locks it, and writes `content`.
    pub fn create(path: PathBuf, content: &[u8]) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let mut held = Self { path, lock: file };
        flock(&held.lock, FlockOperation::LockExclusive)?;
        held.lock.write_all(content)?;
        Ok(held)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // An error means that somebody else has removed it.
        fs::remove_file(&self.path).ok();
    }
}

/// Says that we are there, for as long as it is held: nobody else can hold a lock on the same file.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock on `path`, a file made for this and never removed; nothing when somebody
    /// else holds it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        // What stands at this name may be somebody's link to another file.
        let file = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.uid() != geteuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is not a file of ours",
            ));
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns true if somebody holds the lock on `path`. Nothing is created.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(Self::take(path)?.is_none()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Removes the files in `folder` that begin and end so, are ours, and are held by nobody. An
/// empty one stays: whoever is making it may not have locked it yet.
pub fn sweep(folder: &Path, prefix: &str, suffix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_named_so =
            name.to_str().is_some_and(|n| n.starts_with(prefix) && n.ends_with(suffix));
        if is_named_so && is_left(&entry.path()) {
            // An error means that another sweep was quicker.
            fs::remove_file(entry.path()).ok();
        }
    }
}

fn is_left(path: &Path) -> bool {
    let is_ours = fs::symlink_metadata(path).is_ok_and(|metadata| {
        metadata.is_file() && metadata.len() > 0 && metadata.uid() == geteuid().as_raw()
    });
    let open = || OpenOptions::new().read(true).open(path).ok();
    let is_free = |file: File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
    is_ours && open().is_some_and(is_free)
}
