//! Computes what a write or an edit would change, before anybody allows it.

use callgate_mask::{mask_text, text};
use callgate_wire::desk::{ChangedLine, ContentChange};
use callgate_wire::tool_act::{EditChange, ToolAct};
use memchr::memchr_iter;
use serde_json::{Map, Value};

use super::beneath::read_whole_file;
use super::edit_file::{MOST_DIFF, TextEdit, cut_diff};
use super::hunks::unified_diff;
use super::read_file::check_text;
use super::{CancelFlag, FileContext};
use crate::gate::ChangePreview;

/// The size of the largest file, before and after the change, for which a diff is made.
const MOST_COMPARED: usize = 1024 * 1024;
/// The most lines of a diff on a card.
const MOST_LINES: usize = 60_000;
/// Separates the two texts while their secrets are masked; neither contains a NUL.
const BETWEEN: &str = "\n\0\n";

pub(super) struct PreviewedChange {
    path: String,
    old: String,
    new: String,
}

impl PreviewedChange {
    /// Computes what a call of a tool, ours or an engine's own, would change. Returns `None` if it
    /// changes no file, or would fail.
    pub(super) fn from_call(
        context: &FileContext,
        tool: &str,
        input: &Map<String, Value>,
        stop: &CancelFlag,
    ) -> Option<Self> {
        let (path, old, new) = match ToolAct::from_call("", tool, input) {
            ToolAct::Write(file, new) => {
                let old = current_content(context, file.path()?).ok()?.unwrap_or_default();
                (file.path()?, old, new?.to_owned())
            }
            ToolAct::Edit(file, EditChange::Texts(changes)) => {
                let old = current_content(context, file.path()?).ok()??;
                let new = changes.iter().try_fold(old.clone(), |text, change| {
                    TextEdit(*change).edited_text(&text, stop).ok()
                });
                (file.path()?, old, new?)
            }
            _ => return None,
        };
        Some(Self { path: path.to_owned(), old, new })
    }

    pub(super) fn between(path: &str, old: &str, new: &str) -> Self {
        Self { path: path.to_owned(), old: old.to_owned(), new: new.to_owned() }
    }

    /// Returns the change as people see it, or `None` if it is too large.
    pub(super) fn to_preview(&self) -> Option<ChangePreview> {
        if self.new.len() > MOST_COMPARED || self.new.contains('\0') {
            return None;
        }
        // Both are masked at once, so that a secret that replaces another is seen as a change.
        let masked = mask_text(&[&self.old, BETWEEN, &self.new].concat()).into_shown();
        let (old, new) = masked.split_once(BETWEEN)?;
        let (old, new) = (text::visible_text(old), text::visible_text(new));
        let path = mask_text(&self.path).into_shown();
        // As a replacement of the whole text: the places of the edit are not those in the masked
        // text.
        let diff = unified_diff(&path, &old, old.len(), &new, &[0], MOST_DIFF);
        // One more shows that there are too many.
        let lines: Vec<ChangedLine> = text::diff_lines(&old, &new).take(MOST_LINES + 1).collect();
        let is_shown = (1..=MOST_LINES).contains(&lines.len());
        let change = is_shown.then(|| ContentChange { lines, ..ContentChange::default() });
        Some(ChangePreview { diff: cut_diff(diff), change })
    }

    /// Returns the first line that differs, counted from 1; `None` if none does, or if the file is
    /// new or empty.
    pub(super) fn first_line(&self) -> Option<u64> {
        let Self { old, new, .. } = self;
        let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        let lines = memchr_iter(b'\n', &old.as_bytes()[..same]).count() as u64;
        (!old.is_empty() && old != new).then_some(lines + 1)
    }
}

/// Returns the current contents of the file, or `None` if it does not exist.
fn current_content(context: &FileContext, path: &str) -> Result<Option<String>, String> {
    let place = context.locate_file(path)?;
    if !place.exists()? {
        return Ok(None);
    }
    let (file, _) = place.open_file()?;
    let bytes =
        read_whole_file(file, MOST_COMPARED as u64)?.ok_or("it is too large to be compared")?;
    check_text(&bytes, bytes.len() as u64).map(|text| Some(text.to_owned()))
}
