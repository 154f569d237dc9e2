//! The allowed folders, and the paths beneath them.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, readlinkat};
use rustix::io::Errno;

use super::beneath::{FOLDER, INSIDE, LOOK, NO_LINKS, READ, only_file, open_beneath};
use super::error_text::{FileKind, errno_text};
use super::name::shown_name;

/// The longest path that the system accepts, without the terminating NUL.
pub(super) const LONGEST_PATH: usize = 4095;
/// How many links a path may contain, as in the kernel.
const MOST_LINKS: usize = 40;

/// The folders that the file tools may use, each opened once. Even if they are replaced later, the
/// tools stay in the folders that were opened.
#[derive(Debug)]
pub struct AllowedFolders {
    /// The folder in which relative paths begin.
    cwd: PathBuf,
    roots: Vec<AllowedFolder>,
}

#[derive(Debug)]
pub(super) struct AllowedFolder {
    handle: OwnedFd,
    /// Its names: as it was configured, and with links resolved.
    names: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum AllowedFoldersError {
    #[error("the file tools have no allowed folder: allow one, for example the project's")]
    None,
    #[error("{0} is not absolute: give the working folder by its whole path")]
    Relative(PathBuf),
    #[error("the allowed folder {path} cannot be opened: {error}: create it, or allow another")]
    Open { path: PathBuf, error: io::Error },
    #[error(
        "the file tools need openat2, which this system does not permit ({0}): use Linux 5.6 or \
         later, and a sandbox that lets it through"
    )]
    NoOpenat2(io::Error),
}

impl AllowedFolders {
    /// Opens each of `roots`. A relative one starts at `cwd`, and so do relative paths in the
    /// tools' inputs.
    pub fn open(cwd: &Path, roots: &[PathBuf]) -> Result<Self, AllowedFoldersError> {
        if !cwd.is_absolute() {
            return Err(AllowedFoldersError::Relative(cwd.to_owned()));
        }
        if roots.is_empty() {
            return Err(AllowedFoldersError::None);
        }
        let roots =
            roots.iter().map(|root| AllowedFolder::open(&cwd.join(root))).collect::<Result<_, _>>();
        Ok(Self { cwd: normal_path(cwd), roots: roots? })
    }

    /// Returns the allowed folder of `path` and the path beneath it. `..` is resolved lexically, as
    /// in the rules that judged the path.
    pub(super) fn locate(&self, path: &str) -> Result<FileLocation<'_>, String> {
        if path.contains('\0') {
            return Err("the path contains a NUL, which no path can contain".to_owned());
        }
        if path.len() > LONGEST_PATH {
            return Err(errno_text(Errno::NAMETOOLONG));
        }
        if path == "~" || path.starts_with("~/") {
            return Err("`~` is not expanded here: give the whole path, or `./~` for a name that \
                        begins so"
                .to_owned());
        }
        let place =
            self.locate_absolute(&self.absolute(path)).ok_or_else(|| self.outside_refusal())?;
        // Its handle still works, and without this check all files in it would only seem to be
        // missing.
        if fstat(&place.root.handle).is_ok_and(|stat| stat.st_nlink == 0) {
            return Err("the allowed folder was removed: ask the user to restart".into());
        }
        Ok(place)
    }

    /// Returns why `path` cannot be used, if it leads out of the allowed folders, lexically or
    /// through a link, or is not a valid path.
    pub(super) fn leads_out(&self, path: &str) -> Option<String> {
        match self.locate(path).map(|place| place.kind()) {
            Err(reason) => Some(reason),
            Ok(Err(errno @ Errno::XDEV)) => Some(errno_text(errno)),
            Ok(_) => None,
        }
    }

    pub(super) fn each(&self) -> impl Iterator<Item = FileLocation<'_>> {
        self.roots.iter().map(|root| FileLocation { roots: self, root, rest: PathBuf::new() })
    }

    /// Returns the allowed folders that are in no other, each with its real path. A file in nested
    /// folders would otherwise be found twice.
    pub(super) fn outermost(&self) -> Vec<(PathBuf, FileLocation<'_>)> {
        let mut starts: Vec<(PathBuf, FileLocation<'_>)> = Vec::new();
        for root in self.each() {
            let Ok(start) = root.real_path() else { continue };
            if !starts.iter().any(|(other, _)| start.starts_with(other)) {
                starts.retain(|(other, _)| !other.starts_with(&start));
                starts.push((start, root));
            }
        }
        starts
    }

    /// Returns the path from the working folder on, if it lies there.
    pub(super) fn in_working_folder(&self, path: &Path) -> Option<String> {
        let known = self.roots.iter().flat_map(|root| &root.names);
        let real = known.filter(|name| self.cwd.starts_with(name)).count();
        let cwd = fs::canonicalize(&self.cwd).ok().filter(|_| real > 0);
        let rest = path.strip_prefix(cwd?).ok()?.to_str()?;
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    /// Returns the lexically resolved path, as the rules see it.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        normal_path(&self.cwd.join(path))
    }

    /// Returns the same for an absolute path without `..`, such as the target of a link.
    fn locate_absolute(&self, path: &Path) -> Option<FileLocation<'_>> {
        let known = self.roots.iter().flat_map(|root| root.names.iter().map(move |n| (root, n)));
        known
            .filter_map(|(root, name)| Some((root, path.strip_prefix(name).ok()?)))
            .min_by_key(|(_, rest)| rest.components().count())
            .map(|(root, rest)| FileLocation { roots: self, root, rest: rest.to_owned() })
    }

    fn outside_refusal(&self) -> String {
        let names: Vec<_> = self
            .roots
            .iter()
            .filter_map(|root| root.names.first())
            .map(|name| shown_name(name.as_os_str().as_encoded_bytes()))
            .collect();
        format!("it is outside the allowed folders: stay in {}", names.join(", "))
    }
}

impl AllowedFolder {
    fn open(path: &Path) -> Result<Self, AllowedFoldersError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // By its name and through links, because the user has named it. Everything after this is
        // beneath the handle.
        let handle = openat(CWD, path, flags, Mode::empty()).map_err(|errno| {
            AllowedFoldersError::Open { path: path.to_owned(), error: errno.into() }
        })?;
        // There is no weaker replacement, so a missing system call is reported at the start.
        openat2(handle.as_fd(), ".", flags, Mode::empty(), ResolveFlags::BENEATH)
            .map_err(|errno: Errno| AllowedFoldersError::NoOpenat2(errno.into()))?;
        let mut names = vec![normal_path(path)];
        // The names only select a handle: what is found is beneath it in any case.
        names.extend(fs::canonicalize(path).ok().filter(|real| *real != names[0]));
        Ok(Self { handle, names })
    }
}

/// A path beneath an allowed folder, whether or not it exists.
#[derive(Debug, Clone)]
pub(super) struct FileLocation<'a> {
    pub(super) roots: &'a AllowedFolders,
    pub(super) root: &'a AllowedFolder,
    /// The path from the root; empty for the root itself.
    pub(super) rest: PathBuf,
}

/// A path without links: the folders that exist, and the names that do not.
#[derive(Debug)]
pub(super) struct ResolvedPath<'a> {
    pub(super) root: &'a AllowedFolder,
    pub(super) there: PathBuf,
    pub(super) missing: Vec<OsString>,
}

impl<'a> FileLocation<'a> {
    /// Opens a regular file for reading, and nothing else.
    pub(super) fn open_file(&self) -> Result<(File, Stat), String> {
        // Opening a device can have effects, so its type is checked first.
        let seen = self.open(LOOK).map_err(errno_text)?;
        let kind = FileKind::from_stat(&fstat(&seen).map_err(errno_text)?);
        if kind != FileKind::File {
            return Err(kind.refusal().to_owned());
        }
        only_file(self.open(READ).map_err(errno_text)?)
    }

    pub(super) fn open_folder(&self) -> Result<OwnedFd, Errno> {
        self.open(FOLDER)
    }

    pub(super) fn kind(&self) -> Result<FileKind, Errno> {
        Ok(FileKind::from_stat(&fstat(self.open(LOOK)?)?))
    }

    pub(super) fn exists(&self) -> Result<bool, String> {
        match self.kind() {
            Err(Errno::NOENT) => Ok(false),
            found => found.map(|_| true).map_err(errno_text),
        }
    }

    /// Returns the absolute path with its links resolved, whether or not it exists.
    pub(super) fn real_path(&self) -> Result<PathBuf, Errno> {
        let chased = self.follow_links()?;
        // The last name is the one without links.
        let root = chased.root.names.last().ok_or(Errno::NOENT)?;
        Ok(chased.missing.iter().fold(root.join(&chased.there), |path, name| path.join(name)))
    }

    /// Opens the folder of a path in which nothing is a link, and returns it with the last name.
    /// Fails for an allowed folder itself.
    pub(super) fn unlinked_parent(&self) -> Result<(OwnedFd, &OsStr), Errno> {
        let (Some(folder), Some(name)) = (self.rest.parent(), self.rest.file_name()) else {
            return Err(Errno::ISDIR);
        };
        let flags = LOOK | OFlags::DIRECTORY;
        Ok((open_beneath(self.root.handle.as_fd(), folder, flags, NO_LINKS)?, name))
    }

    fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        match open_beneath(self.root.handle.as_fd(), &self.rest, flags, INSIDE) {
            // The kernel treats every absolute link as one that leads out.
            Err(Errno::XDEV) => {
                let chased = self.follow_links()?;
                if !chased.missing.is_empty() {
                    return Err(Errno::NOENT);
                }
                open_beneath(chased.root.handle.as_fd(), &chased.there, flags, INSIDE)
            }
            opened => opened,
        }
    }

    /// Follows the links in the path without the kernel, including absolute ones that lead into an
    /// allowed folder. The result is just another path to try: the kernel resolves it beneath its
    /// root like any other.
    pub(super) fn follow_links(&self) -> Result<ResolvedPath<'a>, Errno> {
        let mut root = self.root;
        let mut there = PathBuf::new();
        let mut left: VecDeque<OsString> = self.rest.iter().map(OsStr::to_owned).collect();
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            // From the root each time, so that the kernel checks the whole path so far.
            let folder =
                open_beneath(root.handle.as_fd(), &there, LOOK | OFlags::DIRECTORY, INSIDE)?;
            match link_target(folder.as_fd(), &name) {
                Ok(mut target) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Errno::LOOP);
                    }
                    if target.is_absolute() {
                        let place =
                            self.roots.locate_absolute(&normal_path(&target)).ok_or(Errno::XDEV)?;
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
        // Only a link can have brought a `..` here, and its meaning is unknown.
        if left.iter().any(|name| name == "..") {
            return Err(Errno::NOENT);
        }
        Ok(ResolvedPath { root, there, missing: left.into() })
    }
}

/// Returns the target of the link `name`; `INVAL` if it is not a link.
fn link_target(folder: BorrowedFd<'_>, name: &OsStr) -> Result<PathBuf, Errno> {
    let target = readlinkat(folder, name, Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

impl ResolvedPath<'_> {
    /// Returns the deepest folder that exists.
    pub(super) fn folder(&self, path: &Path) -> Result<OwnedFd, Errno> {
        open_beneath(self.root.handle.as_fd(), path, LOOK | OFlags::DIRECTORY, INSIDE)
    }
}

/// Resolves `.`, `..` and double slashes in an absolute path lexically.
fn normal_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => drop(out.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}
