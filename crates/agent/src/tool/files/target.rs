//! The file that is about to be written: its opened folder, and its name in it.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Access, AtFlags, Mode, Stat, accessat, mkdirat, statat, unlinkat};
use rustix::io::Errno;

use super::beneath::open_lookup_folder;
use super::error_text::{FileKind, errno_text};
use super::roots::FileLocation;

/// How many folders may be created for one file.
const MOST_MADE: usize = 256;

/// The place of a file that exists or will be created.
pub(super) struct WriteTarget {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    pub(super) old: Option<Stat>,
    /// Folders that were created for it, each with its parent. They are removed if nothing is
    /// written in the end.
    made: Vec<(OwnedFd, OsString)>,
}

impl WriteTarget {
    /// Finds the file at `place`, following links. Creates missing folders if `makes_folders` is
    /// set.
    pub(super) fn find(place: &FileLocation<'_>, makes_folders: bool) -> Result<Self, String> {
        let chased = place.follow_links().map_err(errno_text)?;
        let mut missing = chased.missing.clone();
        let (folder, name) = if let Some(name) = missing.pop() {
            (&*chased.there, name)
        } else if let (Some(folder), Some(name)) = (chased.there.parent(), chased.there.file_name())
        {
            (folder, name.to_owned())
        } else {
            // A `..` at the end of a link may also lead out.
            chased.folder(&chased.there).map_err(errno_text)?;
            return Err(FileKind::Folder.refusal().to_owned());
        };
        if !missing.is_empty() && !makes_folders {
            return Err(errno_text(Errno::NOENT));
        }
        if missing.len() > MOST_MADE {
            return Err(format!("more than {MOST_MADE} folders would have to be created for it"));
        }
        let folder = chased.folder(folder).map_err(errno_text)?;
        let mut target = Self { folder, name, old: None, made: Vec::new() };
        for name in &missing {
            target.enter(name).map_err(errno_text)?;
        }
        target.old = target.check_old_file()?;
        Ok(target)
    }

    /// Returns the target for a file that replaces whatever has this name, by its metadata.
    pub(super) fn for_entry(folder: OwnedFd, name: &OsStr, old: Option<Stat>) -> Self {
        Self { folder, name: name.to_owned(), old, made: Vec::new() }
    }

    /// Creates a folder, unless it exists by now, and opens it.
    fn enter(&mut self, name: &OsStr) -> Result<(), Errno> {
        // The umask takes away what the user does not want to give.
        let is_new = match mkdirat(&self.folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(errno),
        };
        // Somebody may have put a link in its place, which is not followed.
        let inner = open_lookup_folder(self.folder.as_fd(), name)?;
        let outer = std::mem::replace(&mut self.folder, inner);
        if is_new {
            self.made.push((outer, name.to_owned()));
        }
        Ok(())
    }

    fn check_old_file(&self) -> Result<Option<Stat>, String> {
        let stat = match self.stat() {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno_text(errno)),
        };
        let kind = FileKind::from_stat(&stat);
        if kind != FileKind::File {
            return Err(kind.refusal().to_owned());
        }
        // Somebody privileged may write to every file, so the mode counts as well.
        let is_locked = stat.st_mode & 0o222 == 0;
        let may_write = accessat(&self.folder, &*self.name, Access::WRITE_OK, AtFlags::EACCESS);
        if is_locked || may_write.is_err() {
            return Err("it is read-only: ask the user before you change its mode".to_owned());
        }
        Ok(Some(stat))
    }

    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        statat(&self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Keeps the created folders, because something is in them.
    pub(super) fn keep_folders(mut self) {
        self.made.clear();
    }
}

impl Drop for WriteTarget {
    fn drop(&mut self) {
        // The innermost first, because only an empty folder can be removed.
        for (outer, name) in self.made.iter().rev() {
            // Somebody may have put something into it; then it stays.
            unlinkat(outer, &**name, AtFlags::REMOVEDIR).ok();
        }
    }
}
