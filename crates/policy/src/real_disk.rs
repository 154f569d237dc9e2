//! The disk of this machine, as verdicts see it.

use std::fs;
use std::io::ErrorKind;

use callgate_rules::{Disk, DiskEntry, FolderListing};

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

    fn list(&self, folder: &str, most: usize) -> FolderListing {
        let mut listing = FolderListing::default();
        for entry in fs::read_dir(folder).into_iter().flatten().take(most) {
            listing.read_count += 1;
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let names = if kind.is_symlink() {
                &mut listing.links
            } else if kind.is_dir() {
                &mut listing.folders
            } else {
                continue;
            };
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        listing
    }

    fn exists(&self, path: &str) -> bool {
        // A link that leads nowhere is there, too.
        fs::symlink_metadata(path).is_ok()
    }

    fn is_folder(&self, path: &str) -> bool {
        fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }
}

#[cfg(test)]
pub(crate) mod tests;
