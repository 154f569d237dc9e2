//! What answers changed in files: told below each, shown by `/diff` and put back by `/undo`.

use std::time::Duration;

use callgate_mask::text::counted_noun;
use callgate_wire::desk::CardContent;
use callgate_wire::session::{SessionCommand, TurnChanges, TurnDiff, TurnUndone};

use super::ChatCore;
use crate::tool_result::diff_rows;

impl ChatCore {
    /// Says how many files an answer changed.
    pub(super) fn files_changed(&mut self, changes: &TurnChanges) {
        let TurnChanges { files, undone, unknown, .. } = changes;
        self.transcript.end_answer(&self.page);
        if *files > 0 {
            let next = if *undone {
                "which was undone"
            } else {
                "/diff shows the changes, /undo puts the files back"
            };
            self.show_note(&format!("Changed {}: {next}.", counted_noun(*files, "file")));
        }
        if let Some(unknown) = unknown {
            self.show_note(&format!("Note: {unknown}."));
        }
    }

    pub(super) fn diff_came(&mut self, diff: TurnDiff) {
        let text = CardContent::Patch { files: diff.files }.text();
        // Not the largest number: one row beyond the limit is drawn to see whether there is more.
        self.transcript.add_rows(diff_rows(&text, usize::MAX - 1, &self.page));
        if let Some(unknown) = diff.unknown {
            self.show_note(&format!("Note: {unknown}."));
        }
    }

    pub(super) fn undo_command(&mut self, now: Duration, rest: &str) {
        let partial = match rest {
            "" => false,
            "rest" => true,
            _ => {
                return self.show_note(
                    "/undo puts all files back; /undo rest puts back those that it can.",
                );
            }
        };
        let conversation_id = self.conversation.clone();
        self.start_turn(now, SessionCommand::UndoTurn { conversation_id, turn: None, partial });
    }

    /// Says which files were put back. The conversation still has the answer.
    pub(super) fn files_put_back(&mut self, undone: &TurnUndone) {
        let restored = counted_noun(undone.restored.len(), "file");
        self.show_note(&format!(
            "Put back {restored}. The conversation is as before: see /rewind."
        ));
        for left in &undone.left {
            self.show_note(&format!("{} was left as it is: {}.", left.path, left.reason));
        }
    }
}
