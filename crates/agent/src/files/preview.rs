//! Computes what a write or an edit would change, before anybody allows it.

use callgate_mask::{mask_text, text};
use memchr::memchr_iter;
use rustix::io::Errno;

use super::edit_file::{MOST_DIFF, TextEdit, cut};
use super::error_text::errno_text;
use super::hunks::unified;
use super::input::FileToolInput;
use super::read_file::{check_text, whole};
use super::write_file::names_a_file;
use super::{CancelFlag, FileContext};

/// The size of the largest file, before and after the change, for which a diff is made.
const MOST_COMPARED: usize = 1024 * 1024;
/// Separates the two texts while their secrets are masked; neither contains a NUL.
const BETWEEN: &str = "\n\0\n";

/// The contents of a file before and after a change.
pub(super) struct PreviewedChange {
    old: String,
    new: String,
}

/// Computes what a call would change. An error says why that is impossible; the tool itself would
/// fail with it, too.
pub(super) type PreviewFunction =
    fn(&FileContext, &FileToolInput, &CancelFlag) -> Result<PreviewedChange, String>;

/// Returns what a call would change as a unified diff with secrets masked; `None` if that cannot be
/// computed or the texts are too large.
pub(super) fn diff(input: &FileToolInput, change: PreviewedChange) -> Option<String> {
    let PreviewedChange { old, new } = change;
    if new.len() > MOST_COMPARED || new.contains('\0') {
        return None;
    }
    // Both are masked at once, so that a secret that replaces another is seen as a change.
    let masked = mask_text(&[&old, BETWEEN, &new].concat()).into_shown();
    let (old, new) = masked.split_once(BETWEEN)?;
    let path = mask_text(input.text("path").ok()?).into_shown();
    let diff = unified(&path, old, old.len(), new, &[0], MOST_DIFF);
    Some(cut(text::visible(&diff).into_owned()))
}

/// Returns the first line that differs, counted from 1; `None` if none does, or if the file is new
/// or empty.
pub(super) fn first_line(change: &PreviewedChange) -> Option<u64> {
    let PreviewedChange { old, new } = change;
    let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    let lines = memchr_iter(b'\n', &old.as_bytes()[..same]).count() as u64;
    (!old.is_empty() && old != new).then_some(lines + 1)
}

pub(super) fn write_file(
    context: &FileContext,
    input: &FileToolInput,
    _: &CancelFlag,
) -> Result<PreviewedChange, String> {
    let (path, new) = (input.text("path")?, input.text("content")?);
    let old = current(context, path)?.unwrap_or_default();
    Ok(PreviewedChange { old, new: new.to_owned() })
}

pub(super) fn edit_file(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<PreviewedChange, String> {
    let edit = TextEdit::of(input)?;
    let old = current(context, input.text("path")?)?.ok_or("it does not exist")?;
    let new = edit.applied(&old, stop)?;
    Ok(PreviewedChange { old, new })
}

/// Returns the current contents of the file, or `None` if it does not exist.
fn current(context: &FileContext, path: &str) -> Result<Option<String>, String> {
    let place = context.roots.locate(path)?;
    names_a_file(path)?;
    match place.kind() {
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno_text(errno)),
        Ok(_) => {}
    }
    let (file, _) = place.file()?;
    let bytes = whole(file, MOST_COMPARED as u64)?.ok_or("it is too large to be compared")?;
    check_text(&bytes, bytes.len() as u64).map(|text| Some(text.to_owned()))
}
