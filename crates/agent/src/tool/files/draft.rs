//! A new version of a file, which replaces it completely or not at all.
//!
//! The draft is written under a private name in the same folder and then renamed. Nothing is synced
//! to the disk: after a kill there is the old file or the new one; after a power failure, either. A
//! kill in the middle leaves the draft behind, as `.callgate-….tmp`.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Gid, Mode, Stat, Uid, fchmod, fchown, renameat, unlinkat};
use serde_json::Value;
use uuid::Uuid;

use super::beneath::{create_file, open_child_file};
use super::error_text::{errno_text, io_text};
use super::target::WriteTarget;
use super::{CancelFlag, attributes};
use crate::tool::CallOutcome;

/// How many bytes are written between two checks whether anybody still waits.
const PIECE: usize = 1024 * 1024;

/// A draft in a folder. It is removed if it is dropped without [`FileDraft::publish`].
pub(super) struct FileDraft<'a> {
    folder: BorrowedFd<'a>,
    name: OsString,
    file: File,
    is_published: bool,
    lost: Vec<String>,
}

impl<'a> FileDraft<'a> {
    /// Creates a draft for `target`, with the mode, the extended attributes and, if the system
    /// permits it, the owner of the existing file. The mode of a new file follows the umask.
    pub(super) fn new(target: &'a WriteTarget) -> Result<Self, String> {
        let folder = target.folder.as_fd();
        let name = OsString::from(format!(".callgate-{}.tmp", Uuid::new_v4().simple()));
        // Nobody may read a draft who may not read the file that it replaces, whose mode it gets
        // later.
        let mode = if target.old.is_some() { 0o600 } else { 0o666 };
        let file = create_file(folder, &name, mode).map_err(errno_text)?;
        let mut draft = Self { folder, name, file, is_published: false, lost: Vec::new() };
        if let Some(old) = &target.old {
            draft.take_after(old)?;
            draft.lost = draft.take_attributes(target)?;
        }
        Ok(draft)
    }

    /// Copies the extended attributes, and returns the names of those that could not be copied.
    fn take_attributes(&self, target: &WriteTarget) -> Result<Vec<String>, String> {
        match open_child_file(self.folder, &target.name) {
            Ok((old, _)) => attributes::copy_attributes(&old, &self.file),
            // The attributes of a file that can be written but not read are not copied.
            Err(_) => Ok(vec!["those of a file that cannot be read".to_owned()]),
        }
    }

    fn take_after(&self, old: &Stat) -> Result<(), String> {
        // The owner first: until it is right the mode is 0600, and no other group can read the
        // draft.
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        if fchown(&self.file, Some(owner), Some(group)).is_err() {
            // Only the superuser can change the owner; the group may still be one of ours.
            fchown(&self.file, None, Some(group)).ok();
        }
        attributes::remove_access_list(&self.file)?;
        self.set_mode(old.st_mode)
    }

    pub(super) fn set_mode(&self, mode: u32) -> Result<(), String> {
        // As with any write, the setuid and setgid bits do not survive.
        fchmod(&self.file, Mode::from_raw_mode(mode & 0o1777)).map_err(errno_text)
    }

    pub(super) fn write(&mut self, content: &[u8], stop: &CancelFlag) -> Result<(), String> {
        for piece in content.chunks(PIECE) {
            stop.check_unset()?;
            self.file.write_all(piece).map_err(|error| io_text(&error))?;
        }
        Ok(())
    }

    /// Replaces `target` with the draft. Returns what the old file had and the new one does not
    /// have, if anything.
    pub(super) fn publish(mut self, target: &WriteTarget) -> Result<Option<String>, String> {
        renameat(self.folder, &*self.name, self.folder, &*target.name).map_err(errno_text)?;
        self.is_published = true;
        let links = target.old.as_ref().map_or(1, |old| old.st_nlink);
        Ok(describe_losses(links.saturating_sub(1), &self.lost))
    }
}

pub(super) fn describe_losses(other_names: u64, attributes: &[String]) -> Option<String> {
    let mut losses = Vec::new();
    if other_names > 0 {
        losses.push(format!(
            "the file had {other_names} other name(s) (hard links), which still have the old content"
        ));
    }
    if !attributes.is_empty() {
        losses.push(format!("extended attributes were not kept: {}", attributes.join(", ")));
    }
    (!losses.is_empty()).then(|| losses.join("; "))
}

/// Adds what was lost to the result of a tool.
pub(super) fn add_loss_note(mut result: Value, text: String, note: Option<String>) -> CallOutcome {
    let Some(note) = note else { return CallOutcome::done(&result, text) };
    let text = format!("{text}\n[{note}]");
    if let Some(members) = result.as_object_mut() {
        members.insert("note".to_owned(), note.into());
    }
    CallOutcome::done(&result, text)
}

impl Drop for FileDraft<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // The error that caused the drop is the one to report.
            unlinkat(self.folder, &*self.name, AtFlags::empty()).ok();
        }
    }
}
