//! `write_file`: writes a whole file.

use callgate_link::sync::lock;
use callgate_mask::text::counted_noun;
use serde_json::json;

use super::draft::{FileDraft, add_loss_note};
use super::error_text::cannot_text;
use super::input::FileToolInput;
use super::name::shown_name;
use super::seen_files::Replacement;
use super::target::WriteTarget;
use super::{CancelFlag, FileContext};
use crate::tool::CallOutcome;

pub(super) fn write_file(
    context: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let (path, text) = (input.text("path")?, input.text("content")?);
    let (is_new, note) = write_content(context, input, path, text, stop)
        .map_err(|reason| cannot_text("write", path, reason))?;
    let (bytes, lines) = (text.len() as u64, text.lines().count() as u64);
    let did = if is_new { "created" } else { "replaced" };
    let size = format!("{}, {}", counted_noun(bytes, "byte"), counted_noun(lines, "line"));
    Ok(add_loss_note(
        json!({ "path": path, "created": is_new, "bytes": bytes, "lines": lines }),
        format!("{did} {} ({size})", shown_name(path.as_bytes())),
        note,
    ))
}

/// Returns an error if the file cannot be written, before anybody is asked.
pub(super) fn check_write(context: &FileContext, input: &FileToolInput) -> Result<(), String> {
    let (path, text) = (input.text("path")?, input.text("content")?);
    let found = || {
        check_size(text.len(), context)?;
        let place = context.locate_file(path)?;
        if !place.exists()? {
            return Ok(());
        }
        let target = WriteTarget::find(&place, false)?;
        context.seen.check_replaceable(&input.conversation, &place, &target, Replacement::Whole)
    };
    found().map_err(|reason| cannot_text("write", path, reason))
}

/// Writes the file. Returns whether it is new, and what it has lost.
fn write_content(
    context: &FileContext,
    input: &FileToolInput,
    path: &str,
    text: &str,
    stop: &CancelFlag,
) -> Result<(bool, Option<String>), String> {
    check_size(text.len(), context)?;
    let place = context.locate_file(path)?;
    // Held from the look at the file to the rename, so that none of our edits gets in between. A
    // thread that panicked with it has left no file half written.
    let _writing = lock(&context.writing);
    let target = WriteTarget::find(&place, true)?;
    context.seen.check_replaceable(&input.conversation, &place, &target, Replacement::Whole)?;
    let mut draft = FileDraft::new(&target)?;
    draft.write(text.as_bytes(), stop)?;
    stop.check_unset()?;
    let note = draft.publish(&target)?;
    let is_new = target.old.is_none();
    // Only now: folders that were made for a write that failed are removed.
    target.keep_folders();
    context.seen.note_seen(&input.conversation, &place, context.seen.mark(text.as_bytes()));
    Ok((is_new, note))
}

pub(super) fn check_size(bytes: usize, context: &FileContext) -> Result<(), String> {
    let most = context.limits.max_file;
    if bytes as u64 > most {
        return Err(format!("it would have {bytes} bytes, and {most} are allowed: write less"));
    }
    Ok(())
}
