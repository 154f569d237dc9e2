//! Puts back what a turn changed, once the gate has allowed it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use callgate_link::sync::lock;
use callgate_wire::session::{TurnUndone, UntouchedFile};
use serde_json::json;

use super::find_turn;
use crate::engine::EngineToolCall;
use crate::failure::RequestFailure;
use crate::gate::ToolPermit;
use crate::message::Block;
use crate::session::SessionShared;
use crate::session::calls::tool_call::{self, CallOrigin};
use crate::tool::files::{PathChange, TurnTracker};
use crate::tool::raw_json;

/// The name under which an undo passes the gate and is recorded.
const UNDO: &str = "undo_turn";
/// The beginning of what the model reads after an undo.
const UNDONE: &str = "[The user has undone what you changed before in these files, which are as \
    they were before that: ";
/// The most files that an error and the note to the model list.
const MOST_NAMED: usize = 20;

/// The undos that the model does not know of yet, by conversation.
#[derive(Debug, Default)]
pub(in crate::session) struct UntoldUndos(Mutex<Vec<(String, String)>>);

impl UntoldUndos {
    /// Returns what the next message has to tell the model.
    pub(in crate::session) fn take_notes(&self, conversation: &str) -> Vec<Block> {
        let mut all = lock(&self.0);
        let told = all.extract_if(.., |(of, _)| of == conversation);
        told.map(|(_, text)| Block::text(text)).collect()
    }

    fn add_note(&self, conversation: &str, restored: &[String]) {
        let text = format!("{UNDONE}{}.]", first_names(restored));
        lock(&self.0).push((conversation.to_owned(), text));
    }
}

/// Returns true if a part of a message is the note to the model about an undo.
pub(in crate::session) fn is_undo_note(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text.starts_with(UNDONE))
}

/// Carries out `undo_turn`: asks the gate, and puts the files back.
pub(in crate::session) async fn undo_turn(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    turn: Option<u64>,
    partial: bool,
) -> Result<TurnUndone, RequestFailure> {
    let (tracker, found, changes) = find_turn(shared, conversation, turn).await?;
    if found.undone {
        return Err(RequestFailure::permanent("not_found", "this turn has already been undone"));
    }
    let plan = tracker.plan(changes).await;
    if !plan.left.is_empty() && !partial {
        let files: Vec<String> =
            plan.left.iter().map(|file| format!("{} ({})", file.path, file.reason)).collect();
        let text = format!(
            "nothing was put back, because some files cannot be: {}. Say `partial` to put back \
             the others",
            first_names(&files)
        );
        return Err(RequestFailure::permanent("changed", text));
    }
    let restored: Vec<String> = plan
        .changes
        .iter()
        .filter(|change| change.is_shown())
        .map(|change| change.path.clone())
        .collect();
    if !restored.is_empty() {
        let origin = CallOrigin::new(id.into(), conversation.into(), found.message);
        ask_and_restore(shared, tracker, origin, found.turn, plan.changes).await?;
        // The model would otherwise go on from files that are no longer as it knows them.
        shared.undos.add_note(conversation, &restored);
    }
    shared.options.history.mark_undone(found.turn).await?;
    let conversation_id = conversation.to_owned();
    Ok(TurnUndone { conversation_id, turn: found.turn, restored, left: plan.left })
}

async fn ask_and_restore(
    shared: &Arc<SessionShared>,
    tracker: &TurnTracker,
    origin: CallOrigin,
    turn: u64,
    changes: Vec<PathChange>,
) -> Result<(), RequestFailure> {
    let reversed = changes.iter().map(PathChange::reversed).collect();
    let files = tracker.shown_changes(reversed).await;
    let input = raw_json(&json!({ "turn": turn, "files": files }));
    let tool_id = format!("undo-{}", uuid::Uuid::new_v4());
    // As one that only reads, because the mode `plan` must not forbid what the user asks for.
    let call = EngineToolCall { id: tool_id, tool: UNDO.to_owned(), input, is_read_only: true };
    // A person wants it done, so a person may be asked in every mode.
    let permit =
        tool_call::decide_and_record(Arc::clone(shared), origin.clone(), call.clone(), true);
    match permit.await {
        ToolPermit::Allowed { input: None, because } => {
            let started = Instant::now();
            // Somebody may have taken long to decide.
            let plan = tracker.plan(changes).await;
            let restored = match &plan.left[..] {
                [] => tracker.restore(plan.changes).await,
                [UntouchedFile { path, reason }, ..] => {
                    Err(format!("nothing was put back: {path}: {reason}"))
                }
            };
            let ran = (restored.is_ok(), started.elapsed());
            tool_call::record_run(shared, &origin, &call, &because, ran).await;
            restored.map_err(|reason| RequestFailure::permanent("file", reason))
        }
        ToolPermit::Allowed { .. } => {
            Err(RequestFailure::permanent("denied", "an undo cannot be changed before it is done"))
        }
        ToolPermit::Denied { because, .. } | ToolPermit::Futile { because } => {
            Err(RequestFailure::permanent("denied", because))
        }
    }
}

fn first_names(names: &[String]) -> String {
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names[..names.len().min(MOST_NAMED)].join(", "))
}
