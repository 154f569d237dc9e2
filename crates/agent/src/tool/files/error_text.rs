//! Why something could not be done, and what to do next.

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::name::shown_name;

/// The limit, in bytes, of a path in an error.
const LONGEST_PATH: usize = 300;

pub(super) fn cannot_text(what: &str, path: &str, reason: impl std::fmt::Display) -> String {
    let end = path.floor_char_boundary(LONGEST_PATH);
    let more = if end < path.len() { "…" } else { "" };
    format!("cannot {what} {}{more}: {reason}", shown_name(&path.as_bytes()[..end]))
}

/// Describes a system error in the words of a file tool.
pub(super) fn errno_text(errno: Errno) -> String {
    let known = match errno {
        Errno::NOENT => "it does not exist: look with list_files or search_files",
        Errno::XDEV => "a link leads out of the allowed folders: name a file inside them",
        Errno::LOOP => "its links form a loop, or one is a link of a process: name the file itself",
        Errno::ACCESS | Errno::PERM => "the system does not permit it: ask the user",
        Errno::NOTDIR => "a part of the path is not a folder: look with list_files",
        Errno::ISDIR => "it is a folder: use list_files",
        Errno::NAMETOOLONG => "the name or path is too long: use a shorter one",
        Errno::NOSYS => {
            "this system has no openat2, without which a path cannot be kept inside the allowed \
             folders: Linux 5.6 or later is needed, and a sandbox that permits it"
        }
        Errno::AGAIN => "folders on its path are being moved all the time: try again later",
        Errno::ROFS => "it lies on a read-only file system",
        Errno::NOSPC | Errno::DQUOT => "the disk is full: free some space first",
        Errno::FBIG => "the file would be larger than the system permits",
        Errno::MFILE | Errno::NFILE => "too many files are open: try again later",
        Errno::NXIO | Errno::NODEV => "it is not a regular file",
        Errno::STALE => "it changed in the meantime: try again",
        _ => return format!("{}", std::io::Error::from(errno)),
    };
    known.to_owned()
}

/// [`errno_text`] for an error of the standard library.
pub(super) fn io_text(error: &std::io::Error) -> String {
    Errno::from_io_error(error).map_or_else(|| error.to_string(), errno_text)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileKind {
    File,
    Folder,
    Link,
    Fifo,
    Socket,
    Device,
    Other,
}

impl FileKind {
    pub(super) fn from_stat(stat: &Stat) -> Self {
        FileType::from_raw_mode(stat.st_mode).into()
    }

    /// Describes why only a regular file can be used.
    pub(super) fn refusal(self) -> &'static str {
        match self {
            Self::File => "it is a file",
            Self::Folder => "it is a folder: use list_files",
            // Links were followed before, so one that is found here has come in between.
            Self::Link => "it is a link that changed in the meantime: try again",
            Self::Fifo => "it is a FIFO: only regular files are read and written",
            Self::Socket => "it is a socket: only regular files are read and written",
            Self::Device => "it is a device: only regular files are read and written",
            Self::Other => "it is not a regular file, and only those are read and written",
        }
    }
}

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Self::Device,
            FileType::Unknown => Self::Other,
        }
    }
}
