//! `write_file`: writes a whole file.

use std::sync::PoisonError;

use serde_json::json;

use super::draft::{FileDraft, noted};
use super::input::FileToolInput;
use super::name::shown;
use super::target::WriteTarget;
use super::why::cannot;
use super::{CancelFlag, FileContext};
use crate::tool::CallOutcome;

pub(super) fn write_file(
    cabinet: &FileContext,
    input: &FileToolInput,
    stop: &CancelFlag,
) -> Result<CallOutcome, String> {
    let (path, content) = (input.text("path")?, input.text("content")?);
    let (is_new, note) =
        write(cabinet, path, content, stop).map_err(|why| cannot("write", path, why))?;
    let (bytes, lines) = (content.len(), content.lines().count());
    let did = if is_new { "created" } else { "replaced" };
    Ok(noted(
        json!({ "path": path, "created": is_new, "bytes": bytes, "lines": lines }),
        format!("{did} {} ({bytes} bytes, {lines} lines)", shown(path.as_bytes())),
        note,
    ))
}

/// Writes the file. Returns whether it is new, and what it has lost.
fn write(
    cabinet: &FileContext,
    path: &str,
    content: &str,
    stop: &CancelFlag,
) -> Result<(bool, Option<String>), String> {
    check_size(content.len(), cabinet)?;
    let place = cabinet.roots.locate(path)?;
    names_a_file(path)?;
    // A thread that broke off while it held the lock has left no file half written.
    let _writing = cabinet.writing.lock().unwrap_or_else(PoisonError::into_inner);
    let target = WriteTarget::find(&place, true)?;
    let mut draft = FileDraft::new(&target)?;
    draft.write(content.as_bytes(), stop)?;
    stop.check()?;
    let note = draft.publish(&target)?;
    let is_new = target.old.is_none();
    target.keep();
    Ok((is_new, note))
}

/// Returns true if the path ends in `/`, which means a folder whether or not it exists.
pub(super) fn names_a_file(path: &str) -> Result<(), String> {
    if path.is_empty() || path.ends_with('/') {
        return Err("it names no file: give the path of a file".to_owned());
    }
    Ok(())
}

pub(super) fn check_size(bytes: usize, cabinet: &FileContext) -> Result<(), String> {
    let most = cabinet.limits.max_file;
    if bytes as u64 > most {
        return Err(format!("it would have {bytes} bytes, and {most} are allowed: write less"));
    }
    Ok(())
}
