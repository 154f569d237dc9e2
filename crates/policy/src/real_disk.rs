//! The disk of this machine, as verdicts see it.

use std::fs::{self, DirEntry, FileType};
use std::io::ErrorKind;

use callgate_rules::{Disk, DiskEntry};

/// The disk of this machine. A look at it may block, for example on a network that is gone, so it
/// is not for a thread that must not wait.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn entry(&self, path: &str) -> DiskEntry {
        // One call tells whether it is a link and where it leads.
        match fs::read_link(path) {
            Ok(target) => DiskEntry::Link(target.to_string_lossy().into_owned()),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                DiskEntry::Missing
            }
            // It is not a link; or we may not look, and then the agent cannot go there either.
            Err(_) => DiskEntry::Present,
        }
    }

    fn links_in(&self, folder: &str) -> Vec<String> {
        names_in(folder, FileType::is_symlink)
    }

    fn folders_in(&self, folder: &str) -> Vec<String> {
        names_in(folder, FileType::is_dir)
    }

    fn exists(&self, path: &str) -> bool {
        // A link that leads nowhere is there, too.
        fs::symlink_metadata(path).is_ok()
    }

    fn is_folder(&self, path: &str) -> bool {
        fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }
}

fn names_in(folder: &str, is_kind: fn(&FileType) -> bool) -> Vec<String> {
    let is_it = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| is_kind(&kind));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().filter(is_it);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
pub(crate) mod tests;
