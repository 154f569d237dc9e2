//! The socket of the first contract, for programs that know no other address. It lies in a folder
//! that all users share, so nothing depends on it and nobody else's is ever touched.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tokio::net::UnixListener;

use super::listen;

/// A socket that is removed when this is dropped, unless another has taken its place.
#[derive(Debug)]
pub(super) struct LegacySocket {
    path: PathBuf,
    identity: (u64, u64),
}

impl LegacySocket {
    /// Serves `path` if it is free. Returns why it is not in words for a person.
    pub(super) fn serve(path: &Path) -> Result<(Self, UnixListener), String> {
        let refused = |why: &str| {
            format!("{} is not served, which only old clients need: {why}", path.display())
        };
        let us = geteuid().as_raw();
        if let Ok(owner) = fs::symlink_metadata(path).map(|found| found.uid())
            && owner != us
        {
            return Err(refused(&format!("it belongs to user {owner} and was left alone")));
        }
        let listener = listen(path).map_err(|error| refused(&error.to_string()))?;
        let found = fs::symlink_metadata(path).map_err(|error| refused(&error.to_string()))?;
        Ok((Self { path: path.to_owned(), identity: identity(&found) }, listener))
    }
}

impl Drop for LegacySocket {
    fn drop(&mut self) {
        // No lock keeps another daemon of this user from the path.
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity) {
            fs::remove_file(&self.path).ok();
        }
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}
