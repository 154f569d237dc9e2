//! Opening what lies beneath a folder handle. The kernel resolves every path, and refuses one
//! that leads out; nothing here checks a path and then opens it by name.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, Stat, fstat, openat2, readlinkat};
use rustix::io::Errno;

use super::roots::{Root, Roots, normal};
use super::why::{Kind, why};

/// How often a path is tried while others move its folders.
const MOST_TRIES: usize = 128;
/// How many links a path may lead through, as for the kernel.
const MOST_LINKS: usize = 40;

/// Links are followed as long as they stay inside; those of processes are not.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
/// For one name in a folder that is already open.
const NO_LINKS: ResolveFlags = INSIDE.union(ResolveFlags::NO_SYMLINKS);

const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
/// A FIFO would make an ordinary open wait.
const READ: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A place beneath an allowed folder, whether or not something is there.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) roots: &'a Roots,
    pub(super) root: &'a Root,
    /// The path from the root; empty for the root itself.
    pub(super) rest: PathBuf,
}

/// A place without links on the way: the folders that are there, and the names that are not.
#[derive(Debug)]
pub(super) struct Chased<'a> {
    pub(super) root: &'a Root,
    pub(super) there: PathBuf,
    pub(super) missing: Vec<OsString>,
}

impl<'a> Place<'a> {
    /// Opens a regular file for reading, and nothing else.
    pub(super) fn file(&self) -> Result<(File, Stat), String> {
        // Opening a device can do something, so it is looked at first.
        let seen = self.open(LOOK).map_err(why)?;
        let kind = Kind::of(&fstat(&seen).map_err(why)?);
        if kind != Kind::File {
            return Err(kind.refusal().to_owned());
        }
        only_file(self.open(READ).map_err(why)?)
    }

    /// Opens a folder whose entries can be read.
    pub(super) fn folder(&self) -> Result<OwnedFd, Errno> {
        self.open(FOLDER)
    }

    /// What is there.
    pub(super) fn kind(&self) -> Result<Kind, Errno> {
        Ok(Kind::of(&fstat(self.open(LOOK)?)?))
    }

    fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        match open(self.root.handle.as_fd(), &self.rest, flags, INSIDE) {
            // The kernel takes every absolute link for one that leads out.
            Err(Errno::XDEV) => {
                let chased = self.chase()?;
                if !chased.missing.is_empty() {
                    return Err(Errno::NOENT);
                }
                open(chased.root.handle.as_fd(), &chased.there, flags, INSIDE)
            }
            opened => opened,
        }
    }

    /// Follows the links on the way by hand: absolute ones too, when they lead into an allowed
    /// folder. What comes out is only another path to try: the kernel resolves it beneath its
    /// root like every other.
    pub(super) fn chase(&self) -> Result<Chased<'a>, Errno> {
        let mut root = self.root;
        let mut there = PathBuf::new();
        let mut left: VecDeque<OsString> = self.rest.iter().map(OsStr::to_owned).collect();
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            let folder = open(root.handle.as_fd(), &there, LOOK | OFlags::DIRECTORY, INSIDE)?;
            match link(folder.as_fd(), &name) {
                Ok(mut target) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Errno::LOOP);
                    }
                    if target.is_absolute() {
                        let place = self.roots.beneath(&normal(&target)).ok_or(Errno::XDEV)?;
                        (root, there) = (place.root, PathBuf::new());
                        target = place.rest;
                    }
                    for name in target.iter().rev() {
                        left.push_front(name.to_owned());
                    }
                }
                Err(Errno::INVAL) => there.push(name),
                Err(Errno::NOENT) => {
                    left.push_front(name);
                    break;
                }
                Err(errno) => return Err(errno),
            }
        }
        // Only a link can have brought a `..` here, and what it means is unknown.
        if left.iter().any(|name| name == "..") {
            return Err(Errno::NOENT);
        }
        Ok(Chased { root, there, missing: left.into() })
    }
}

/// Where the link `name` leads; `INVAL` when it is none.
fn link(folder: BorrowedFd<'_>, name: &OsStr) -> Result<PathBuf, Errno> {
    let target = readlinkat(folder, name, Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

impl Chased<'_> {
    /// The folder that is there.
    pub(super) fn folder(&self, path: &Path) -> Result<OwnedFd, Errno> {
        open(self.root.handle.as_fd(), path, LOOK | OFlags::DIRECTORY, INSIDE)
    }
}

/// Opens a folder in `folder` that is no link, to look something up in it.
pub(super) fn step(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    open(folder, Path::new(name), LOOK | OFlags::DIRECTORY, NO_LINKS)
}

/// Opens a folder in `folder` that is no link and no other file system, to read its entries.
pub(super) fn descend(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    open(folder, Path::new(name), FOLDER, NO_LINKS | ResolveFlags::NO_XDEV)
}

/// Opens a regular file in `folder` for reading; `path` goes through no link.
pub(super) fn child(folder: BorrowedFd<'_>, path: &OsStr) -> Result<(File, Stat), String> {
    only_file(open(folder, Path::new(path), READ, NO_LINKS).map_err(why)?)
}

/// Makes a new file in `folder`.
pub(super) fn create(folder: BorrowedFd<'_>, name: &OsStr, mode: u32) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    openat2(folder, name, flags, mode, NO_LINKS).map(File::from)
}

fn only_file(opened: OwnedFd) -> Result<(File, Stat), String> {
    let stat = fstat(&opened).map_err(why)?;
    match Kind::of(&stat) {
        Kind::File => Ok((File::from(opened), stat)),
        other => Err(other.refusal().to_owned()),
    }
}

fn open(
    folder: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    for _ in 0..MOST_TRIES {
        match openat2(folder, path, flags, Mode::empty(), resolve) {
            // Somebody moved a folder while the kernel was on its way through a `..`.
            Err(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}
