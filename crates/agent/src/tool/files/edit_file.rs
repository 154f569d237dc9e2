//! `edit_file`: replaces a text in a file.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsFd;

use callgate_link::sync::lock;
use callgate_wire::tool_act::TextChange;
use memchr::memchr_iter;
use memchr::memmem::Finder;
use rustix::fs::{Stat, fstat};
use serde_json::json;

use super::beneath::{open_child_file, read_whole_file};
use super::draft::{FileDraft, add_loss_note};
use super::error_text::{FileKind, cannot_text, errno_text, io_text};
use super::hunks::{replace_places, unified_diff};
use super::input::FileToolInput;
use super::name::shown_name;
use super::read_file::check_text;
use super::roots::FileLocation;
use super::seen_files::Replacement;
use super::target::WriteTarget;
use super::write_file::check_size;
use super::{CancelFlag, FileContext};
use crate::tool::CallOutcome;

/// How many places an error lists if the text occurs more than once.
const MOST_PLACES: usize = 20;
/// How many places are searched between two checks whether anybody still waits.
const CHECK_EVERY: usize = 4096;
/// The limit of the diff, in bytes.
pub(super) const MOST_DIFF: usize = 64 * 1024;

pub(super) struct TextEdit<'a>(pub(super) TextChange<'a>);

pub(super) fn edit_file(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let path = input.text("path")?;
    let edit = TextEdit::from_input(input)?;
    let changed = make_edit(context, input, &edit, stop);
    let (count, diff, note) = changed.map_err(|reason| cannot_text("edit", path, reason))?;
    let times = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    Ok(add_loss_note(
        json!({ "path": path, "replacements": count, "diff": diff }),
        format!("edited {} in {times}\n{diff}", shown_name(path.as_bytes())),
        note,
    ))
}

/// Returns an error if the edit cannot be made, before anybody is asked.
pub(super) fn check_edit(context: &FileContext, input: &FileToolInput) -> Result<(), String> {
    let path = input.text("path")?;
    let edit = TextEdit::from_input(input)?;
    let found = || {
        edit.check_texts()?;
        let place = context.locate_file(path)?;
        let (_, original) = read_original(context, input, &place)?;
        edit.edit_original(context, &original, &CancelFlag::default()).map(drop)
    };
    found().map_err(|reason| cannot_text("edit", path, reason))
}

/// Reads the file that is to be changed, unless it has changed since the model read it.
fn read_original(
    context: &FileContext,
    input: &FileToolInput,
    place: &FileLocation<'_>,
) -> Result<(WriteTarget, OriginalFile), String> {
    let target = WriteTarget::find(place, false)?;
    if target.old.is_none() {
        return Err("it does not exist: create it with write_file".to_owned());
    }
    context.seen.check_replaceable(&input.conversation, place, &target, Replacement::Part)?;
    let original = OriginalFile::read(&target, context.limits.max_file)?;
    Ok((target, original))
}

/// Makes the edit. Returns in how many places, the diff, and what the file has lost.
fn make_edit(
    context: &FileContext,
    input: &FileToolInput,
    edit: &TextEdit<'_>,
    stop: &CancelFlag,
) -> Result<(usize, String, Option<String>), String> {
    let path = input.text("path")?;
    edit.check_texts()?;
    let place = context.locate_file(path)?;
    // Held from the first look to the rename, so that two of our edits do not undo each other. A
    // thread that panicked with it has left no file half written.
    let _writing = lock(&context.writing);
    let (target, original) = read_original(context, input, &place)?;
    let (text, places, edited) = edit.edit_original(context, &original, stop)?;
    let mut draft = FileDraft::new(&target)?;
    draft.write(edited.as_bytes(), stop)?;
    stop.check_unset()?;
    // Last, right before the rename: a change in between goes unnoticed.
    original.is_still_there(&target)?;
    let note = draft.publish(&target)?;
    // A model that has not read the file knows only a part of it.
    if context.seen.has(&input.conversation, &place) {
        context.seen.note_seen(&input.conversation, &place, context.seen.mark(edited.as_bytes()));
    }
    let diff = unified_diff(path, text, edit.0.old.len(), edit.0.new, &places, MOST_DIFF);
    Ok((places.len(), cut_diff(diff), note))
}

pub(super) fn cut_diff(mut diff: String) -> String {
    if diff.len() > MOST_DIFF {
        diff.truncate(diff.floor_char_boundary(MOST_DIFF));
        diff.push_str("\n[the diff was cut]\n");
    }
    diff
}

pub(super) struct OriginalFile {
    file: File,
    stat: Stat,
    bytes: Vec<u8>,
}

impl OriginalFile {
    pub(super) fn read(target: &WriteTarget, most: u64) -> Result<Self, String> {
        let (file, stat) = open_child_file(target.folder.as_fd(), &target.name)?;
        // The file stays open, so that its inode is not given to another before the rename.
        let copy = file.try_clone().map_err(|error| io_text(&error))?;
        let bytes = read_whole_file(copy, most)?
            .ok_or_else(|| format!("it has more than {most} bytes, the limit for an edit"))?;
        Ok(Self { file, stat, bytes })
    }

    /// Returns an error if somebody else has changed or replaced the file since it was read. A
    /// change between this check and the rename goes unnoticed.
    pub(super) fn is_still_there(&self, target: &WriteTarget) -> Result<(), String> {
        let changed = || "somebody else has changed it: read it again".to_owned();
        let now = target.stat().map_err(|_| changed())?;
        let is_same = FileKind::from_stat(&now) == FileKind::File
            && (now.st_dev, now.st_ino) == (self.stat.st_dev, self.stat.st_ino);
        if !is_same
            || size_and_time(&fstat(&self.file).map_err(errno_text)?) != size_and_time(&self.stat)
        {
            return Err(changed());
        }
        // A clock that ticks slowly hides a quick change.
        let mut file = &self.file;
        file.rewind().map_err(|error| io_text(&error))?;
        let mut again = Vec::with_capacity(self.bytes.len());
        let most = self.bytes.len() as u64 + 1;
        file.take(most).read_to_end(&mut again).map_err(|error| io_text(&error))?;
        if again == self.bytes { Ok(()) } else { Err(changed()) }
    }
}

fn size_and_time(stat: &Stat) -> (i64, i64, i64) {
    (stat.st_size, stat.st_mtime, stat.st_mtime_nsec.cast_signed())
}

impl<'a> TextEdit<'a> {
    pub(super) fn from_input(input: &'a FileToolInput) -> Result<Self, String> {
        let (old, new) = (input.text("oldText")?, input.text("newText")?);
        Ok(Self(TextChange { old, new, everywhere: input.flag("replaceAll")? }))
    }

    pub(super) fn edited_text(&self, text: &str, stop: &CancelFlag) -> Result<String, String> {
        self.check_texts()?;
        Ok(self.replace_places(text, &self.find_occurrences(text, stop)?))
    }

    /// Returns the text of the file, the places of the edit, and the text after it.
    fn edit_original<'b>(
        &self,
        context: &FileContext,
        original: &'b OriginalFile,
        stop: &CancelFlag,
    ) -> Result<(&'b str, Vec<usize>, String), String> {
        let text = check_text(&original.bytes, original.bytes.len() as u64)?;
        let places = self.find_occurrences(text, stop)?;
        let edited = self.replace_places(text, &places);
        check_size(edited.len(), context)?;
        Ok((text, places, edited))
    }

    fn check_texts(&self) -> Result<(), String> {
        if self.0.old.is_empty() {
            return Err("`oldText` is empty: give the text to replace, or use write_file".into());
        }
        if self.0.old == self.0.new {
            return Err("`oldText` and `newText` are the same: nothing would change".into());
        }
        Ok(())
    }

    pub(super) fn find_occurrences(
        &self,
        text: &str,
        stop: &CancelFlag,
    ) -> Result<Vec<usize>, String> {
        if self.0.everywhere {
            let mut places = Vec::new();
            for place in Finder::new(self.0.old).find_iter(text.as_bytes()) {
                if places.len() % CHECK_EVERY == 0 {
                    stop.check_unset()?;
                }
                places.push(place);
            }
            return if places.is_empty() { Err(self.absence_reason(text)) } else { Ok(places) };
        }
        let (places, are_all) = first_places(text, self.0.old, stop)?;
        match places.len() {
            0 => Err(self.absence_reason(text)),
            1 => Ok(places),
            count => {
                let more = if are_all { "" } else { "more than " };
                Err(format!(
                    "`oldText` occurs {more}{count} times ({}): give more of the text \
                     around it, or set `replaceAll`",
                    lines_of(text, &places, are_all)
                ))
            }
        }
    }

    fn absence_reason(&self, text: &str) -> String {
        let unix = |text: &str| text.replace("\r\n", "\n");
        if !unix(text).contains(&unix(self.0.old)) {
            return "`oldText` does not occur (0 times): read the file, and give the text \
                    exactly as it is"
                .to_owned();
        }
        let (ends, written) = if text.contains("\r\n") { ("CRLF", r"\r\n") } else { ("LF", r"\n") };
        format!(
            "`oldText` occurs only with other line ends: those of the file are {ends}, so \
             write `{written}`"
        )
    }

    fn replace_places(&self, text: &str, places: &[usize]) -> String {
        replace_places(text, 0..text.len(), self.0.old.len(), self.0.new, places)
    }
}

/// Returns the first places of `old`, including overlapping ones, and whether these are all.
///
/// A repetitive text may occur at each of its bytes, and finding each occurrence takes time
/// proportional to the length of the text, so they are not all counted.
fn first_places(text: &str, old: &str, stop: &CancelFlag) -> Result<(Vec<usize>, bool), String> {
    let finder = Finder::new(old);
    let (mut places, mut from) = (Vec::new(), 0);
    while let Some(at) = finder.find(&text.as_bytes()[from..]) {
        stop.check_unset()?;
        if places.len() == MOST_PLACES {
            return Ok((places, false));
        }
        places.push(from + at);
        from += at + 1;
    }
    Ok((places, true))
}

fn lines_of(text: &str, places: &[usize], are_all: bool) -> String {
    let (mut lines, mut line, mut from) = (Vec::<String>::new(), 1, 0);
    for place in places {
        line += memchr_iter(b'\n', &text.as_bytes()[from..*place]).count();
        from = *place;
        lines.push(line.to_string());
    }
    lines.dedup();
    let more = if are_all { "" } else { ", …" };
    format!("lines {}{more}", lines.join(", "))
}
