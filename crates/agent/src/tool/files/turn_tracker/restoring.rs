//! Puts back what a turn changed: each path on its own, beneath the allowed folders, and through no
//! link.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use callgate_wire::session::UntouchedFile;
use rustix::fs::{AtFlags, Mode, Stat, fchmod, mkdirat, renameat, statat, symlinkat, unlinkat};
use rustix::io::Errno;
use uuid::Uuid;

use super::path_state::{FoundPath, PathChange, PathState};
use crate::tool::files::beneath::{open_child_file, open_lookup_folder};
use crate::tool::files::draft::FileDraft;
use crate::tool::files::error_text::{FileKind, cannot_text, errno_text};
use crate::tool::files::target::WriteTarget;
use crate::tool::files::{AllowedFolders, CancelFlag, MAX_FILE};

#[derive(Default)]
pub(crate) struct UndoPlan {
    pub(crate) changes: Vec<PathChange>,
    pub(crate) left: Vec<UntouchedFile>,
}

/// Compares what is there with what the turn left. What is already as before is not in the plan.
pub(super) fn plan_undo(roots: &AllowedFolders, changes: Vec<PathChange>) -> UndoPlan {
    let mut plan = UndoPlan { changes: Vec::new(), left: Vec::new() };
    for change in changes {
        let reason = match FoundPath::at(roots, &change.path, MAX_FILE) {
            Err(reason) => reason,
            Ok(now) if now.is_like(&change.before) => continue,
            Ok(now) => {
                let Some(reason) = undo_refusal(&change, &now) else {
                    plan.changes.push(change);
                    continue;
                };
                reason.to_owned()
            }
        };
        // A folder in which something else lies by now simply stays.
        if change.is_shown() {
            plan.left.push(UntouchedFile { path: change.path, reason });
        }
    }
    plan
}

fn undo_refusal(change: &PathChange, now: &FoundPath) -> Option<&'static str> {
    let is_as_left = match (&change.after.state, &now.state) {
        // The permissions of a folder matter to nobody's work.
        (PathState::Folder { .. }, PathState::Folder { .. }) => true,
        _ => now.is_like(&change.after),
    };
    match &change.before {
        _ if !is_as_left => Some("it has changed since the turn ended"),
        FoundPath { state: PathState::File { .. }, content: None } => {
            Some("its earlier content is too large and was not kept")
        }
        FoundPath { state: PathState::Special, .. } => Some("it was not a regular file before"),
        _ => None,
    }
}

/// Undoes the changes. The error says what could not be put back, and what was put back before.
pub(super) fn undo_changes(roots: &AllowedFolders, changes: &[PathChange]) -> Result<(), String> {
    let depth = |change: &&PathChange| Path::new(&change.path).components().count();
    let was = |change: &&PathChange| change.before.state != PathState::Absent;
    let (mut back, mut away): (Vec<_>, Vec<_>) = changes.iter().partition(was);
    // What was created goes first, so that a folder can become a file again.
    away.sort_by_key(|change| std::cmp::Reverse(depth(change)));
    // Folders before the files that lie in them.
    back.sort_by_key(|change| (change.before.is_file(), depth(change)));
    for (done, change) in away.into_iter().chain(back).enumerate() {
        put_back(roots, change).map_err(|reason| {
            let text = cannot_text("put back", &change.path, reason);
            format!("{text} (put back before it: {done} of {})", changes.len())
        })?;
    }
    Ok(())
}

fn put_back(roots: &AllowedFolders, change: &PathChange) -> Result<(), String> {
    let place = roots.locate(&change.path)?;
    if change.before.state == PathState::Absent {
        return match place.unlinked_parent() {
            Ok((folder, name)) => remove_entry(folder.as_fd(), name),
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno_text(errno)),
        };
    }
    let (folder, name) = match place.unlinked_parent() {
        Err(Errno::NOENT) => {
            make_parents(roots, &change.path)?;
            place.unlinked_parent().map_err(errno_text)?
        }
        found => found.map_err(errno_text)?,
    };
    let old = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // A folder cannot be replaced by a rename, nor anything by a folder.
    let was_folder = matches!(change.before.state, PathState::Folder { .. });
    if old.as_ref().is_some_and(|old| (FileKind::from_stat(old) == FileKind::Folder) != was_folder)
    {
        remove_entry(folder.as_fd(), name)?;
    }
    match &change.before.state {
        PathState::File { mode, .. } => restore_file(folder, name, old, change, *mode),
        PathState::Link { target } => restore_link(folder.as_fd(), name, target),
        PathState::Folder { mode } => make_folder(folder.as_fd(), name, *mode),
        PathState::Absent | PathState::Special => Ok(()),
    }
}

/// Removes a file or a link, or a folder if it is empty.
fn remove_entry(folder: BorrowedFd<'_>, name: &OsStr) -> Result<(), String> {
    match unlinkat(folder, name, AtFlags::empty()) {
        // Systems differ in how they refuse to remove a folder like a file.
        Err(Errno::ISDIR | Errno::PERM) => match unlinkat(folder, name, AtFlags::REMOVEDIR) {
            // A folder in which something else lies by now stays.
            Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(errno) => Err(errno_text(errno)),
        },
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno_text(errno)),
    }
}

fn restore_file(
    folder: OwnedFd,
    name: &OsStr,
    old: Option<Stat>,
    change: &PathChange,
    mode: u32,
) -> Result<(), String> {
    let old = old.filter(|old| FileKind::from_stat(old) == FileKind::File);
    // Where only the mode differs, the file itself stays, with its other names.
    let is_same = change.before.content == change.after.content && old.is_some();
    if is_same && let Ok((file, _)) = open_child_file(folder.as_fd(), name) {
        return fchmod(&file, Mode::from_raw_mode(mode & 0o1777)).map_err(errno_text);
    }
    let target = WriteTarget::for_entry(folder, name, old);
    let mut draft = FileDraft::new(&target)?;
    draft.write(change.before.content.as_deref().unwrap_or_default(), &CancelFlag::default())?;
    draft.set_mode(mode)?;
    draft.publish(&target).map(drop)
}

fn restore_link(folder: BorrowedFd<'_>, name: &OsStr, target: &str) -> Result<(), String> {
    let draft = format!(".callgate-{}.tmp", Uuid::new_v4().simple());
    // A link cannot be changed, and a rename leaves no moment without one.
    symlinkat(target, folder, &draft).map_err(errno_text)?;
    renameat(folder, &draft, folder, name).map_err(|errno| {
        // The error of the rename is the one to report.
        unlinkat(folder, &draft, AtFlags::empty()).ok();
        errno_text(errno)
    })
}

/// Creates a folder, unless there is one.
fn make_folder(folder: BorrowedFd<'_>, name: &OsStr, mode: u32) -> Result<(), String> {
    match mkdirat(folder, name, Mode::from_raw_mode(mode & 0o777)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno_text(errno)),
    }
}

fn make_parents(roots: &AllowedFolders, path: &str) -> Result<(), String> {
    let mut missing = Vec::new();
    for above in Path::new(path).ancestors().skip(1) {
        let place = roots.locate(above.to_str().unwrap_or_default())?;
        match place.unlinked_parent() {
            Err(Errno::NOENT) => missing.push(above),
            Ok((folder, name)) => {
                make_folder(folder.as_fd(), name, 0o777)?;
                let mut folder = open_lookup_folder(folder.as_fd(), name).map_err(errno_text)?;
                for inner in missing.iter().rev().filter_map(|path| path.file_name()) {
                    make_folder(folder.as_fd(), inner, 0o777)?;
                    folder = open_lookup_folder(folder.as_fd(), inner).map_err(errno_text)?;
                }
                return Ok(());
            }
            Err(errno) => return Err(errno_text(errno)),
        }
    }
    Ok(())
}
