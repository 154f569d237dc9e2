//! Which file a store works on, and whether others still find it under its name.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::StoreError;

/// The file that a store has opened. What is written to a file that was removed or replaced since
/// is lost, so it is checked before anything is done that has to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Notes which file is at `path`.
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        let metadata =
            fs::metadata(path).map_err(|error| StoreError::io("cannot find", path, error))?;
        Ok(Self { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() })
    }

    /// Where it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error if the file is gone, or if another one is in its place.
    pub fn check(&self) -> Result<(), StoreError> {
        if Self::of(&self.path)? == *self {
            return Ok(());
        }
        let why = io::Error::other("another file is there now; start callgate again");
        Err(StoreError::io("cannot write to", &self.path, why))
    }
}
