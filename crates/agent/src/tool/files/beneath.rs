//! Opens what lies beneath a folder handle. The kernel resolves every path and refuses one that
//! leads out; nothing here checks a path and then opens it by name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use rustix::io::Errno;

use super::error_text::{FileKind, errno_text, io_text};

/// How often opening a path is retried while other processes move its folders.
const MOST_TRIES: usize = 128;

/// Follows links that stay inside, but not the magic links of `/proc`.
pub(super) const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
/// Resolves one name in a folder that is already open.
pub(super) const NO_LINKS: ResolveFlags = INSIDE.union(ResolveFlags::NO_SYMLINKS);

pub(super) const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
pub(super) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
/// Does not block, as an ordinary open of a FIFO would.
pub(super) const READ: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens a folder in `folder` for lookups. Does not follow a link.
pub(super) fn open_lookup_folder(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    open_beneath(folder, Path::new(name), LOOK | OFlags::DIRECTORY, NO_LINKS)
}

/// Opens a folder in `folder` to read its entries. Follows no link and enters no other file system.
pub(super) fn open_listed_folder(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    open_beneath(folder, Path::new(name), FOLDER, NO_LINKS | ResolveFlags::NO_XDEV)
}

/// Opens a regular file in `folder` for reading, following no link in `path`.
pub(super) fn open_child_file(
    folder: BorrowedFd<'_>,
    path: &OsStr,
) -> Result<(File, Stat), String> {
    only_file(open_beneath(folder, Path::new(path), READ, NO_LINKS).map_err(errno_text)?)
}

pub(super) fn create_file(folder: BorrowedFd<'_>, name: &OsStr, mode: u32) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    openat2(folder, name, flags, mode, NO_LINKS).map(File::from)
}

pub(super) fn only_file(opened: OwnedFd) -> Result<(File, Stat), String> {
    let stat = fstat(&opened).map_err(errno_text)?;
    match FileKind::from_stat(&stat) {
        FileKind::File => Ok((File::from(opened), stat)),
        other => Err(other.refusal().to_owned()),
    }
}

/// Returns the contents, unless they are larger than `most`. The reported size is only a hint:
/// files of the kernel report none, and a file may grow while it is read.
pub(super) fn read_whole_file(file: File, most: u64) -> Result<Option<Vec<u8>>, String> {
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(most)).unwrap_or_default() + 1);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| io_text(&error))?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Opens `path` beneath `folder`, and retries while other processes move its folders.
pub(super) fn open_beneath(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    for _ in 0..MOST_TRIES {
        match openat2(folder, path, flags, Mode::empty(), resolve) {
            // Somebody moved a folder while the kernel resolved a `..`.
            Err(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}
