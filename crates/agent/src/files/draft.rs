//! A new version of a file, which takes its place whole or not at all.
//!
//! It is written under a private name in the same folder and then renamed. Nothing is synced to
//! the disk: a process that is killed leaves the old file or the new one, a machine that loses its
//! power may leave either. A kill in the middle leaves the draft behind, as `.callgate-….tmp`.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Gid, Mode, Stat, Uid, fchmod, fchown, renameat, unlinkat};
use uuid::Uuid;

use super::Stop;
use super::beneath::create;
use super::target::Target;
use super::why::{why, why_io};

/// How much is written before it is asked whether anybody still waits.
const PIECE: usize = 1024 * 1024;

/// A draft in a folder; dropped without [`Draft::publish`], it is removed.
pub(super) struct Draft<'a> {
    folder: BorrowedFd<'a>,
    name: OsString,
    file: File,
    is_published: bool,
}

impl<'a> Draft<'a> {
    /// Starts one for `target`, with the mode and, where the system permits it, the owner of the
    /// file that is there. A new file gets what the umask leaves.
    pub(super) fn new(target: &'a Target) -> Result<Self, String> {
        let folder = target.folder.as_fd();
        let name = OsString::from(format!(".callgate-{}.tmp", Uuid::new_v4().simple()));
        let mode = if target.old.is_some() { 0o600 } else { 0o666 };
        let file = create(folder, &name, mode).map_err(why)?;
        let draft = Self { folder, name, file, is_published: false };
        if let Some(old) = &target.old {
            draft.take_after(old)?;
        }
        Ok(draft)
    }

    fn take_after(&self, old: &Stat) -> Result<(), String> {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        if fchown(&self.file, Some(owner), Some(group)).is_err() {
            // Only the superuser can give a file away; the group may still be one of ours.
            fchown(&self.file, None, Some(group)).ok();
        }
        // As with any write, the bits that lend the owner's rights do not survive.
        fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o1777)).map_err(why)
    }

    pub(super) fn write(&mut self, content: &[u8], stop: &Stop) -> Result<(), String> {
        for piece in content.chunks(PIECE) {
            stop.check()?;
            self.file.write_all(piece).map_err(|error| why_io(&error))?;
        }
        Ok(())
    }

    /// Puts it in the place of `target`.
    pub(super) fn publish(mut self, target: &Target) -> Result<(), String> {
        renameat(self.folder, &*self.name, self.folder, &*target.name).map_err(why)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // The error that brought us here is the one to tell.
            unlinkat(self.folder, &*self.name, AtFlags::empty()).ok();
        }
    }
}
