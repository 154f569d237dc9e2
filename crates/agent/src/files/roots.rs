//! The allowed folders, and which of them a path lies in.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::beneath::Place;
use super::name::shown;
use super::why::why;

/// The longest path that the system takes, without the NUL at its end.
pub(super) const LONGEST_PATH: usize = 4095;

/// The folders that the file tools may touch, each opened once. Whatever is later put in their
/// place, the tools stay in the folders that were opened.
#[derive(Debug)]
pub struct Roots {
    /// The folder in which relative paths begin.
    cwd: PathBuf,
    roots: Vec<Root>,
}

/// One allowed folder.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) handle: OwnedFd,
    /// The names by which it is known: as it was given, and without links.
    names: Vec<PathBuf>,
}

/// Why the allowed folders cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// There is none.
    #[error("no folder is allowed to the file tools: allow one, for example the project's")]
    None,
    /// The folder of relative paths is itself relative.
    #[error("{0} is not absolute: give the working folder by its whole path")]
    Relative(PathBuf),
    /// One of them cannot be opened.
    #[error("the allowed folder {path} cannot be opened: {error}: create it, or allow another")]
    Open {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The kernel cannot keep a path inside a folder.
    #[error(
        "the file tools need openat2, which this system does not permit ({0}): use Linux 5.6 or \
         later, and a sandbox that lets it through"
    )]
    NoOpenat2(io::Error),
}

impl Roots {
    /// Opens each of `roots`; a relative one begins at `cwd`, and so do the relative paths that
    /// the tools are given.
    pub fn open(cwd: &Path, roots: &[PathBuf]) -> Result<Self, RootsError> {
        if !cwd.is_absolute() {
            return Err(RootsError::Relative(cwd.to_owned()));
        }
        if roots.is_empty() {
            return Err(RootsError::None);
        }
        let roots = roots.iter().map(|root| Root::open(&cwd.join(root))).collect::<Result<_, _>>();
        Ok(Self { cwd: normal(cwd), roots: roots? })
    }

    /// Where `path` is: beneath which handle, and how it goes on from there. `..` is resolved by
    /// the letters of the path, as the rules do that have judged it.
    pub(super) fn locate(&self, path: &str) -> Result<Place<'_>, String> {
        if path.contains('\0') {
            return Err("the path has a NUL, which no path can have".to_owned());
        }
        if path.len() > LONGEST_PATH {
            return Err(why(Errno::NAMETOOLONG));
        }
        if path == "~" || path.starts_with("~/") {
            return Err("`~` is not expanded here: give the whole path, or `./~` for a name that \
                        begins so"
                .to_owned());
        }
        let place = self.beneath(&self.absolute(path)).ok_or_else(|| self.outside())?;
        if fstat(&place.root.handle).is_ok_and(|stat| stat.st_nlink == 0) {
            return Err("the allowed folder was removed meanwhile: ask the user to restart".into());
        }
        Ok(place)
    }

    /// Returns why `path` cannot be used, if it leads out of the allowed folders by its letters or
    /// by a link, or can be no path at all.
    pub(super) fn leads_out(&self, path: &str) -> Option<String> {
        match self.locate(path).map(|place| place.kind()) {
            Err(reason) => Some(reason),
            Ok(Err(errno @ Errno::XDEV)) => Some(why(errno)),
            Ok(_) => None,
        }
    }

    /// The path by its letters, as the rules see it.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        normal(&self.cwd.join(path))
    }

    /// The same for an absolute path without `..`, as a link may hold it.
    pub(super) fn beneath(&self, path: &Path) -> Option<Place<'_>> {
        let known = self.roots.iter().flat_map(|root| root.names.iter().map(move |n| (root, n)));
        known
            .filter_map(|(root, name)| Some((root, path.strip_prefix(name).ok()?)))
            .min_by_key(|(_, rest)| rest.components().count())
            .map(|(root, rest)| Place { roots: self, root, rest: rest.to_owned() })
    }

    fn outside(&self) -> String {
        let names: Vec<_> = self
            .roots
            .iter()
            .filter_map(|root| root.names.first())
            .map(|name| shown(name.as_os_str().as_encoded_bytes()))
            .collect();
        format!("it is outside of the allowed folders: stay in {}", names.join(", "))
    }
}

impl Root {
    fn open(path: &Path) -> Result<Self, RootsError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| RootsError::Open { path: path.to_owned(), error: errno.into() })?;
        // Nothing weaker stands in for it, so it is better to know now.
        openat2(handle.as_fd(), ".", flags, Mode::empty(), ResolveFlags::BENEATH)
            .map_err(|errno: Errno| RootsError::NoOpenat2(errno.into()))?;
        let mut names = vec![normal(path)];
        // The names only say which handle is meant: what is found is beneath it in any case.
        names.extend(fs::canonicalize(path).ok().filter(|real| *real != names[0]));
        Ok(Self { handle, names })
    }
}

/// An absolute path without `.`, `..` and double slashes, by its letters.
pub(super) fn normal(path: &Path) -> PathBuf {
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
