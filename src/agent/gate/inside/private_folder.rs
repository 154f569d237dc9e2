//! A private folder for the sockets of a desk in this process.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_approval::asker::fresh_id;
use callgate_approval::daemon::lock_path;
use callgate_link::file::FileLock;

use crate::config::process_surroundings;

/// What the name of such a folder begins with.
const PREFIX: &str = "callgate-agent-";
/// The longest path of a folder in which a socket's path is short enough.
const LONGEST: usize = 60;
/// A younger folder may be one that another process is just setting up.
const YOUNG: Duration = Duration::from_mins(1);

/// A folder that only its owner can enter; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Makes one in the folder of this login, else in the folder for temporary files. Folders of
    /// processes that were killed are removed.
    pub(crate) fn new() -> io::Result<Self> {
        let of_login = process_surroundings().runtime_folder();
        let of_login = of_login.filter(|folder| folder.as_os_str().len() < LONGEST);
        let made = of_login.and_then(|folder| Self::within(&folder).ok());
        made.map_or_else(|| Self::within(&std::env::temp_dir()), Ok)
    }

    pub(crate) fn within(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        remove_dead_folders(folder);
        let path = folder.join(format!("{PREFIX}{}", fresh_id()));
        // An existing file or folder is an error.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // An error means that somebody else has removed it.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Removes the folders of processes that were killed, which nobody has locked, or not yet.
fn remove_dead_folders(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_named_so = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named_so && is_left(&entry.path()) {
            // An error means that another sweep was quicker.
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

fn is_left(folder: &Path) -> bool {
    // The folder for temporary files is everybody's, so others may have put such names there.
    let us = rustix::process::geteuid().as_raw();
    let is_ours = fs::symlink_metadata(folder).is_ok_and(|it| it.is_dir() && it.uid() == us);
    let lock = lock_path(&folder.join("ask.sock"));
    // A process that was killed at once has left no lock.
    let made = fs::symlink_metadata(&lock).or_else(|_| fs::symlink_metadata(folder));
    let age = made.and_then(|it| it.modified());
    let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG));
    is_ours && is_old && matches!(FileLock::try_lock(&lock), Ok(Some(_)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_folder_whose_process_was_killed_before_it_had_a_lock_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = |name: &str| home.path().join(format!("{PREFIX}{name}"));
        for name in ["old", "young"] {
            fs::create_dir(folder(name)).unwrap();
        }
        let before = SystemTime::now() - 2 * YOUNG;
        File::open(folder("old")).unwrap().set_modified(before).unwrap();
        let made = PrivateFolder::within(home.path()).unwrap();
        assert!(!folder("old").exists());
        assert!(folder("young").exists() && made.path().exists());
    }
}
