//! What is at a path: a file, a link, a folder or nothing. Links are never followed.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{AtFlags, Stat, readlinkat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::tool::files::AllowedFolders;
use crate::tool::files::beneath::{open_child_file, read_whole_file};
use crate::tool::files::error_text::FileKind;

/// What is at a path, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum PathState {
    Absent,
    File {
        mode: u32,
        size: u64,
        /// Its inode and its modification time in nanoseconds, by which a file is compared whose
        /// content is not kept.
        stamp: [i64; 2],
    },
    Link {
        /// Its target, as it is written.
        target: String,
    },
    Folder {
        mode: u32,
    },
    /// Something that is neither compared nor put back.
    Special,
}

/// What is at a path, with the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundPath {
    pub(crate) state: PathState,
    pub(crate) content: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathChange {
    /// The absolute path, without links.
    pub(crate) path: String,
    pub(crate) before: FoundPath,
    pub(crate) after: FoundPath,
}

impl FoundPath {
    pub(crate) const ABSENT: Self = Self { state: PathState::Absent, content: None };

    /// Looks at a path beneath the allowed folders. Where a folder on the way is missing or is a
    /// link, there is nothing. A file with more than `most` bytes is not read.
    pub(super) fn at(roots: &AllowedFolders, path: &str, most: u64) -> Result<Self, String> {
        let place = roots.locate(path)?;
        match place.unlinked_parent() {
            Ok((folder, name)) => Ok(Self::in_folder(folder.as_fd(), name, most)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Self::ABSENT),
            Err(errno) => Err(errno.to_string()),
        }
    }

    pub(super) fn in_folder(folder: BorrowedFd<'_>, name: &OsStr, most: u64) -> Self {
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Self::from_stat(folder, name, &stat, most),
            Err(_) => Self::ABSENT,
        }
    }

    /// Looks at a name in a folder that has this metadata.
    pub(super) fn from_stat(folder: BorrowedFd<'_>, name: &OsStr, stat: &Stat, most: u64) -> Self {
        let mut content = None;
        let state = match FileKind::from_stat(stat) {
            FileKind::File => {
                let size = u64::try_from(stat.st_size).unwrap_or_default();
                if size <= most
                    && let Ok((file, _)) = open_child_file(folder, name)
                {
                    content = read_whole_file(file, most).ok().flatten();
                }
                // The file may have grown since its metadata was read.
                let size = content.as_ref().map_or(size, |content| content.len() as u64);
                PathState::File { mode: stat.st_mode & 0o7777, size, stamp: inode_and_time(stat) }
            }
            FileKind::Link => match readlinkat(folder, name, Vec::new()) {
                Ok(target) => match OsString::from_vec(target.into_bytes()).into_string() {
                    Ok(target) => PathState::Link { target },
                    // A target that is not UTF-8 could not be stored as JSON.
                    Err(_) => PathState::Special,
                },
                Err(_) => PathState::Special,
            },
            FileKind::Folder => PathState::Folder { mode: stat.st_mode & 0o7777 },
            _ => PathState::Special,
        };
        Self { state, content }
    }

    /// Returns true if both are the same for whoever uses the path.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.state, &other.state) {
            (
                PathState::File { mode, size, stamp },
                PathState::File { mode: other_mode, size: other_size, stamp: other_stamp },
            ) => {
                let is_same = match (&self.content, &other.content) {
                    (Some(one), Some(two)) => one == two,
                    _ => stamp == other_stamp,
                };
                mode == other_mode && size == other_size && is_same
            }
            (one, two) => one == two,
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.state, PathState::File { .. } | PathState::Link { .. })
    }
}

impl PathChange {
    /// Returns true if a person is shown it: folders appear with the files in them.
    pub(crate) fn is_shown(&self) -> bool {
        self.before.is_file() || self.after.is_file()
    }

    pub(crate) fn reversed(&self) -> Self {
        let (before, after) = (self.after.clone(), self.before.clone());
        Self { path: self.path.clone(), before, after }
    }
}

fn inode_and_time(stat: &Stat) -> [i64; 2] {
    [stat.st_ino.cast_signed(), unix_nanoseconds(stat.st_mtime, stat.st_mtime_nsec)]
}

/// Returns a time in nanoseconds since 1970.
pub(super) fn unix_nanoseconds(seconds: i64, rest: u64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest.cast_signed())
}
