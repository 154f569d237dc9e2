//! Files that only their owner can read, and locks on them.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// Creates `path` with mode 0600 and writes `content`. An existing file is an error. If writing
/// fails, nothing is left behind.
pub fn create_private(path: &Path, content: &[u8]) -> io::Result<()> {
    // The mode is given at creation: a `chmod` afterwards would leave a moment for others to open
    // it.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content).inspect_err(|_| {
        // The error of the write is the one to report.
        std::fs::remove_file(path).ok();
    })
}

/// Creates a folder with mode 0700, and those above it, unless it exists.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Replaces `path` in one step by a file with mode 0600, so that no reader finds half of it and a
/// kill leaves the file before. Only one process may do so at a time.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    // In the same folder: a rename is one step only within a file system.
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    // One that a killed process has left.
    fs::remove_file(&beside).ok();
    // This fails if anything has this name by now, so that a link there is not written through.
    create_private(&beside, content)?;
    fs::rename(&beside, path)
}

/// A private file that is removed when this is dropped. One left by a process that was killed is
/// removed by [`sweep_files`].
#[derive(Debug)]
pub struct PrivateFile {
    path: PathBuf,
    /// The lock shows other processes that this one lives.
    lock: File,
}

impl PrivateFile {
    /// Creates `path` with mode 0600, locks it, and writes `content`.
    pub fn create(path: PathBuf, content: &[u8]) -> io::Result<Self> {
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        // From here on an error removes the file.
        let mut held = Self { path, lock };
        // The lock comes before the content, because a sweep takes a file that has content and no
        // lock for one that was left behind.
        held.lock.lock()?;
        held.lock.write_all(content)?;
        Ok(held)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        // An error means that somebody else has removed it.
        fs::remove_file(&self.path).ok();
    }
}

/// Opens a file of our user; one that is created gets mode 0600. A symbolic link is not followed,
/// and anything but a regular file of our user is an error.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its other end.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = options.mode(0o600).custom_flags(flags).open(path)?;
    // The open file is asked and not the path, which may lead elsewhere by now.
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.uid() == geteuid().as_raw() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file of ours"))
}

/// Opens a file of ours that has a secret, for reading. Returns `None` if there is none. If others
/// can read it, `advice` is the error: what they may know, and what to do about it.
pub fn open_secret(path: &Path, advice: &'static str) -> io::Result<Option<File>> {
    let file = match open_own(OpenOptions::new().read(true), path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let is_open = file.metadata()?.mode() & 0o077 != 0;
    if is_open {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, advice));
    }
    Ok(Some(file))
}

/// Returns true if `path` still leads to this open file, and not to another one of the same name.
pub fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let open = file.metadata().map(identity).ok();
    // A link counts as another file even if it leads here, because a replacement is what is
    // looked for.
    open.is_some() && open == fs::symlink_metadata(path).map(identity).ok()
}

/// Locks a file until it is closed; returns false if somebody else holds its lock.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// An exclusive lock, held until this is dropped: nobody else can lock the same file.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks `path`, a file made for this purpose and never removed. Returns `None` if somebody
    /// else holds the lock.
    ///
    /// If it were removed, one process could hold the lock of the old file and another that of a
    /// new one.
    pub fn try_lock(path: &Path) -> io::Result<Option<Self>> {
        let file = open_own(OpenOptions::new().write(true).create(true).truncate(false), path)?;
        Ok(try_lock(&file)?.then_some(Self { _file: file }))
    }

    /// Returns true if somebody holds the lock on `path`. Nothing is created. A free lock is taken
    /// for a moment to find that out, so a [`try_lock`](Self::try_lock) meanwhile may fail.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        match fs::symlink_metadata(path) {
            Ok(_) => Ok(Self::try_lock(path)?.is_none()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

pub fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0)
}

/// Returns the folders of a PATH in which programs are looked for. A relative one is left out: it
/// is another one wherever this is run, and would find programs in a project.
pub fn program_folders(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the program of this name in the first of these folders that has one.
pub fn find_program(name: impl AsRef<Path>, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(&name)).find(|file| is_program(file))
}

/// Removes the files in `folder` with this prefix and suffix that are ours and that nobody has
/// locked. An empty one stays: its owner may not have locked it yet.
pub fn sweep_files(folder: &Path, prefix: &str, suffix: &str) {
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
    let is_written = |file: &File| file.metadata().is_ok_and(|metadata| metadata.len() > 0);
    open_own(OpenOptions::new().read(true), path)
        .is_ok_and(|file| is_written(&file) && matches!(try_lock(&file), Ok(true)))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let refused = open_own(OpenOptions::new().read(true), &pipe).unwrap_err();
        assert_eq!(refused.to_string(), "it is not a file of ours");
        assert!(open_own(OpenOptions::new().write(true), &pipe).is_err());
        assert!(open_secret(&pipe, "keep it").is_err());
    }

    #[test]
    fn programs_are_found_in_absolute_folders_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("text"), "").unwrap();
        let program =
            OpenOptions::new().create_new(true).write(true).mode(0o700).open(path("program"));
        drop(program.unwrap());
        let folders = format!(".::bin:/nonexistent:{}", folder.path().display());
        let folders = program_folders(folders.as_ref());
        assert_eq!(folders, [Path::new("/nonexistent"), folder.path()]);
        assert_eq!(find_program("program", &folders), Some(path("program")));
        assert_eq!(find_program("text", &folders), None);
        assert_eq!(find_program("none", &folders), None);
    }
}
