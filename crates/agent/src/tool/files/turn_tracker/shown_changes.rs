//! The changes of a turn as people see them: line by line, with secrets masked.

use callgate_mask::text::{counted_noun, visible_text};
use callgate_wire::desk::{FileOperation, PatchedFile};

use super::path_state::{FoundPath, PathChange, PathState};
use crate::tool::files::AllowedFolders;
use crate::tool::files::preview::PreviewedChange;

/// How many bytes of texts are compared in one diff; masking takes time.
const MOST_COMPARED: usize = 2 * 1024 * 1024;
/// How many bytes the lines of one diff have, about, with what JSON adds to each line.
const MOST_SHOWN: usize = 192 * 1024;
const LINE_COST: usize = 48;
const TOO_MUCH: &str = "too much to be shown here";

struct DiffRoom {
    compared: usize,
    shown: usize,
}

/// Returns the changes of files, in order. A file that was moved is one change.
pub(super) fn patched_files(roots: &AllowedFolders, changes: &[PathChange]) -> Vec<PatchedFile> {
    let mut room = DiffRoom { compared: MOST_COMPARED, shown: MOST_SHOWN };
    let mut taken = vec![false; changes.len()];
    let mut files = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        if !change.is_shown() || taken[at] {
            continue;
        }
        let moved = (0..changes.len()).find(|&to| !taken[to] && is_moved(change, &changes[to]));
        if let Some(to) = moved {
            taken[to] = true;
            files.push((change, Some(&changes[to])));
        } else if !changes.iter().any(|from| is_moved(from, change)) {
            files.push((change, None));
        }
    }
    files.into_iter().map(|(change, moved)| shown_file(roots, change, moved, &mut room)).collect()
}

/// Returns true if the file that one change removes is the one that another creates.
fn is_moved(from: &PathChange, to: &PathChange) -> bool {
    // Empty files are all the same, and no sign of a move.
    let is_content = |found: &FoundPath| found.content.as_ref().is_some_and(|c| !c.is_empty());
    from.after.state == PathState::Absent
        && to.before.state == PathState::Absent
        && is_content(&from.before)
        && from.before.content == to.after.content
}

fn shown_file(
    roots: &AllowedFolders,
    change: &PathChange,
    moved: Option<&PathChange>,
    room: &mut DiffRoom,
) -> PatchedFile {
    let after = moved.map_or(&change.after, |moved| &moved.after);
    let operation = match (&change.before.state, &after.state) {
        (PathState::Absent | PathState::Folder { .. }, _) => FileOperation::Add,
        (_, PathState::Absent | PathState::Folder { .. }) => FileOperation::Delete,
        _ => FileOperation::Update,
    };
    let mut notes: Vec<String> = mode_note(&change.before, after).into_iter().collect();
    let path = shown_path(roots, &change.path);
    let changes = match (text_or_kind(&change.before), text_or_kind(after)) {
        (Ok(old), Ok(new)) if old != new => {
            let lines = changed_lines(&path, old, new, room);
            if lines.is_none() {
                notes.push(TOO_MUCH.to_owned());
            }
            lines.into_iter().collect()
        }
        (Ok(_), Ok(_)) => Vec::new(),
        (old, new) => {
            let words = |note: Result<&str, String>| note.err();
            match (words(old), words(new)) {
                (Some(old), Some(new)) if old != new => notes.push(format!("{old} → {new}")),
                (Some(note), _) | (None, Some(note)) => notes.push(note),
                (None, None) => {}
            }
            Vec::new()
        }
    };
    PatchedFile {
        operation,
        path,
        moved_to: moved.map(|moved| shown_path(roots, &moved.path)),
        note: (!notes.is_empty()).then(|| visible_text(&notes.join(", ")).into_owned()),
        changes,
    }
}

/// Returns a path from the working folder on, if it lies there.
fn shown_path(roots: &AllowedFolders, path: &str) -> String {
    let name = roots.in_working_folder(path.as_ref());
    // A name that begins with `~` would read like a path in a home.
    name.filter(|name| !name.starts_with('~')).unwrap_or_else(|| path.to_owned())
}

/// Returns the text of what is at a path, or what it is instead, in words.
fn text_or_kind(found: &FoundPath) -> Result<&str, String> {
    match (&found.state, &found.content) {
        (PathState::Absent | PathState::Folder { .. }, _) => Ok(""),
        (PathState::Link { target }, _) => Err(format!("a link to {target}")),
        (PathState::File { .. }, Some(content)) => match str::from_utf8(content) {
            Ok(text) if !text.contains('\0') => Ok(text),
            _ => Err(format!("binary, {}", counted_noun(content.len(), "byte"))),
        },
        (PathState::File { size, .. }, None) => {
            Err(format!("{}, not kept", counted_noun(*size, "byte")))
        }
        (PathState::Special, _) => Err("not a regular file".to_owned()),
    }
}

fn changed_lines(
    path: &str,
    old: &str,
    new: &str,
    room: &mut DiffRoom,
) -> Option<callgate_wire::desk::ContentChange> {
    room.compared = room.compared.checked_sub(old.len() + new.len())?;
    let preview = PreviewedChange::between(path, old, new).to_preview()?;
    let change = preview.change?;
    let cost = change.lines.iter().map(|line| line.text.len() + LINE_COST).sum();
    room.shown = room.shown.checked_sub(cost)?;
    Some(change)
}

fn mode_note(before: &FoundPath, after: &FoundPath) -> Option<String> {
    let (PathState::File { mode: old, .. }, PathState::File { mode: new, .. }) =
        (&before.state, &after.state)
    else {
        return None;
    };
    let is_executable = |mode: &u32| mode & 0o111 != 0;
    match (is_executable(old), is_executable(new)) {
        _ if old == new => None,
        (false, true) => Some("becomes executable".to_owned()),
        (true, false) => Some("is no longer executable".to_owned()),
        _ => Some(format!("permissions {old:o} → {new:o}")),
    }
}
