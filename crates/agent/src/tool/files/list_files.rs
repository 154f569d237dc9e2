//! `list_files`: lists the entries of a folder.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, readlinkat, statat};
use rustix::io::Errno;
use serde::Serialize;
use serde_json::json;

use super::error_text::{FileKind, cannot_text, errno_text, io_text};
use super::input::FileToolInput;
use super::name::shown_name;
use super::{CancelFlag, FileContext};
use crate::tool::CallOutcome;

pub(super) const MOST_SHOWN: usize = 1000;
/// How many entries of a folder are read; fewer in tests, which create as many.
pub(super) const MOST_READ: usize = if cfg!(test) { 3000 } else { 100_000 };

#[derive(Debug, Serialize)]
struct FolderEntry {
    /// Its name in the form in which it is shown.
    name: String,
    #[serde(rename = "type")]
    kind: FileKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

pub(super) fn list_files(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let path = input.optional_text("path")?.unwrap_or(".");
    let (entries, more, are_all) =
        list_entries(context, path, stop).map_err(|reason| cannot_text("list", path, reason))?;
    let mut text =
        format!("{}: {}\n", shown_name(path.as_bytes()), entry_count_text(entries.len()));
    for entry in &entries {
        text.push_str(&entry_line(entry));
    }
    let mut shown_all = entries.len();
    if text.len() > context.limits.max_result {
        shown_all = cut_lines(&mut text, context.limits.max_result);
    }
    let hidden = more + entries.len() - shown_all;
    if hidden > 0 {
        let least = if are_all { "" } else { "at least " };
        text = format!("{text}[{least}{hidden} more: find one by its name with search_files]\n");
    }
    let files: Vec<String> = entries.iter().map(short_name).collect();
    let result = json!({
        "path": path,
        "files": files,
        "entries": entries,
        "more": more,
        // If this is set, `more` is only the least number.
        "truncated": !are_all,
    });
    Ok(CallOutcome::done(&result, text))
}

fn entry_count_text(entries: usize) -> String {
    match entries {
        0 => "empty".to_owned(),
        1 => "1 entry".to_owned(),
        entries => format!("{entries} entries"),
    }
}

/// Cuts the list after a whole line, and returns how many entries are left.
fn cut_lines(text: &mut String, most: usize) -> usize {
    let end = text[..text.floor_char_boundary(most)].rfind('\n').map_or(0, |at| at + 1);
    text.truncate(end);
    text.lines().count().saturating_sub(1)
}

/// Formats an entry for the front end: a folder has a slash after its name.
fn short_name(entry: &FolderEntry) -> String {
    let slash = if entry.kind == FileKind::Folder { "/" } else { "" };
    format!("{}{slash}", entry.name)
}

fn entry_line(entry: &FolderEntry) -> String {
    let about = match (entry.kind, entry.size, &entry.target) {
        (FileKind::File, Some(size), _) => format!(" ({size} bytes)"),
        (FileKind::Link, _, Some(target)) => format!(" (link to {target})"),
        (FileKind::Folder | FileKind::File, ..) => String::new(),
        (kind, ..) => format!(" ({kind:?})").to_lowercase(),
    };
    format!("{}{about}\n", short_name(entry))
}

/// Returns the entries to show, the number of others that were read, and whether all were read.
fn list_entries(
    context: &FileContext,
    path: &str,
    stop: &CancelFlag,
) -> Result<(Vec<FolderEntry>, usize, bool), String> {
    let place = context.roots.locate(path)?;
    let folder = place.open_folder().map_err(|errno| match errno {
        Errno::NOTDIR => "it is not a folder: use read_file for a file".to_owned(),
        errno => errno_text(errno),
    })?;
    let copy = folder.try_clone().map_err(|error| io_text(&error))?;
    let (names, are_all) = sorted_names(copy).map_err(errno_text)?;
    let shown = names.iter().take(MOST_SHOWN);
    let mut entries = Vec::with_capacity(shown.len());
    for (name, kind) in shown {
        stop.check_unset()?;
        entries.push(folder_entry(&folder, name, *kind));
    }
    // Of a folder that was not read completely, one more entry was seen than was taken.
    let more = names.len().saturating_sub(MOST_SHOWN) + usize::from(!are_all);
    Ok((entries, more, are_all))
}

/// Returns the sorted names in a folder with the types that the folder reports, and whether these
/// are all.
pub(super) fn sorted_names(folder: OwnedFd) -> Result<(Vec<(CString, FileKind)>, bool), Errno> {
    let (mut names, mut are_all) = (Vec::new(), true);
    for entry in Dir::new(folder)? {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        if names.len() == MOST_READ {
            are_all = false;
            break;
        }
        names.push((entry.file_name().to_owned(), entry.file_type().into()));
    }
    names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok((names, are_all))
}

/// Returns the details of an entry. If it has vanished, they are what its folder reported.
fn folder_entry(folder: &OwnedFd, name: &CStr, kind: FileKind) -> FolderEntry {
    // Not followed: a link must not tell the type and the size of what is outside.
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let kind = stat.as_ref().map_or(kind, FileKind::from_stat);
    let size =
        stat.filter(|_| kind == FileKind::File).and_then(|stat| stat.st_size.try_into().ok());
    let target =
        (kind == FileKind::Link).then(|| readlinkat(folder, name, Vec::new()).ok()).flatten();
    let target = target.map(|target| shown_name(target.to_bytes()).into_owned());
    FolderEntry { name: shown_name(name.to_bytes()).into_owned(), kind, size, target }
}
