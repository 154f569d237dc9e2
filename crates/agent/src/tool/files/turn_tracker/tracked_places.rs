//! Where files are tracked.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::SnapshotLimits;
use crate::tool::files::{AllowedFolders, HiddenFiles};

pub(super) struct TrackedPlaces {
    pub(super) roots: AllowedFolders,
    pub(super) hidden: HiddenFiles,
    pub(super) limits: SnapshotLimits,
    /// Files of our own. They are never tracked, nor is what begins with their paths.
    pub(super) private: Vec<PathBuf>,
}

impl TrackedPlaces {
    /// Returns true for our own files: a database, and what lies beside it under its name.
    pub(super) fn is_private(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        self.private.iter().any(|own| path.starts_with(own.as_os_str().as_bytes()))
    }

    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .roots
            .each()
            .filter_map(|root| Some(root.real_path().ok()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names.dedup();
        names
    }
}
