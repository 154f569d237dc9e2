//! The socket of the first contract, for programs that know no other address. It lies in a folder
//! that all users share, so nothing depends on it and nobody else's is ever touched.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use rustix::process::geteuid;

use super::door::Door;

/// Serves `path` if it is free; warns if it is not.
pub(super) fn open(path: &Path, warn: &Arc<dyn Fn(&str) + Send + Sync>) -> Option<Door> {
    let owner = fs::symlink_metadata(path).map(|found| found.uid());
    let opened = match owner {
        Ok(owner) if owner != geteuid().as_raw() => {
            Err(format!("it belongs to user {owner} and was left alone"))
        }
        _ => Door::open(path, Arc::clone(warn)).map_err(|error| error.to_string()),
    };
    opened
        .map_err(|why| {
            let path = path.display();
            warn(&format!("{path} is not served, which only old clients need: {why}"));
        })
        .ok()
}
