//! The identity of a store's file, by which its removal or replacement is noticed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::StoreError;

/// The identity of the file that a store has opened. Whatever is written to a file that was removed
/// or replaced is lost, so this is checked before every write that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn for_path(path: &Path) -> Result<Self, StoreError> {
        let metadata =
            fs::metadata(path).map_err(|error| StoreError::io("cannot find", path, error))?;
        Ok(Self { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error if the file is gone or was replaced.
    pub fn check_unchanged(&self) -> Result<(), StoreError> {
        if Self::for_path(&self.path)? == *self {
            return Ok(());
        }
        let why = io::Error::other("another file is there now; start callgate again");
        Err(StoreError::io("cannot write to", &self.path, why))
    }
}
