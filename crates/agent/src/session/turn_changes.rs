//! What a turn changed in the folders: noted before each call, told at its end, and shown on
//! request.

pub(super) mod undo;

use callgate_store::{StoredTurn, now_ms};
use callgate_wire::session::{SessionEvent, TurnChanges, TurnDiff, tool_kind};
use callgate_wire::tool_act::{OWN_AGENT, ToolKind};
use serde_json::value::RawValue;

use super::SessionShared;
use crate::failure::RequestFailure;
use crate::tool::ToolSpec;
use crate::tool::files::{PathChange, RecordedTurn, TurnMark, TurnTracker};

/// Notes what a call that is about to run may change. `spec` is `None` for a tool of an engine.
pub(super) async fn note_call(
    shared: &SessionShared,
    mark: TurnMark,
    tool: &str,
    input: &RawValue,
    spec: Option<&ToolSpec>,
) {
    let Some(tracker) = &shared.options.changes else { return };
    let kind = ToolKind::for_tool(OWN_AGENT, tool);
    // What only reads, asks or talks to the desktop changes no file.
    let is_harmless = spec.is_some_and(|spec| spec.is_read_only || spec.kind == tool_kind::READ)
        || kind.asks_a_person()
        || matches!(kind, ToolKind::Note | ToolKind::Plan | ToolKind::Todo | ToolKind::Undo);
    if is_harmless {
        return;
    }
    // First: what killed processes left is compared with the files as they are before this call.
    if tracker.is_unused() {
        store_recovered(shared).await;
    }
    // Of other tools nobody knows for sure which files they change.
    let is_own_write = spec.is_some() && kind.changes_files();
    let noted = if is_own_write {
        let path: Option<WrittenPath> = serde_json::from_str(input.get()).ok();
        let Some(WrittenPath { path }) = path else { return };
        tracker.note_write(mark, path).await
    } else {
        tracker.snapshot(mark).await
    };
    if let Err(reason) = noted {
        shared.options.log.warn(&format!("cannot note what {tool} may change: {reason}"));
    }
}

#[derive(serde::Deserialize)]
struct WrittenPath {
    path: String,
}

/// Ends a turn: stores what it changed, and returns the event for the front end.
pub(super) async fn finish_turn(shared: &SessionShared, mark: &TurnMark) -> Option<SessionEvent> {
    let tracker = shared.options.changes.as_ref()?;
    match tracker.finish(mark).await {
        Ok(recorded) => store_turn(shared, recorded?).await,
        Err(reason) => {
            shared.options.log.warn(&format!("cannot find out what a turn has changed: {reason}"));
            None
        }
    }
}

/// Stores what the turns of processes that were killed changed.
pub(super) async fn store_recovered(shared: &SessionShared) {
    let Some(tracker) = &shared.options.changes else { return };
    let mut recovered = tracker.recover().await;
    for turn in std::mem::take(&mut recovered.turns) {
        store_turn(shared, turn).await;
    }
    // Only now: until its turns are stored, a pack is all that is known of them.
    recovered.remove_left();
}

async fn store_turn(shared: &SessionShared, recorded: RecordedTurn) -> Option<SessionEvent> {
    let RecordedTurn { conversation, message, unknown, changes } = recorded;
    let files = changes.iter().filter(|change| change.is_shown()).count() as u64;
    let mut told = TurnChanges { turn: None, files, undone: false, unknown: unknown.clone() };
    if files > 0 {
        let turn = StoredTurn { message, at_ms: now_ms(), files, unknown, ..StoredTurn::default() };
        let changes = changes.into_iter().map(PathChange::into_stored).collect();
        match shared.options.history.add_turn_changes(&conversation, turn, changes).await {
            Ok(turn) => told.turn = turn,
            Err(error) => {
                shared.options.log.warn(&format!("cannot store what a turn has changed: {error}"));
            }
        }
    }
    Some(SessionEvent::TurnChanges(told))
}

pub(super) async fn changed_turns(shared: &SessionShared, conversation: &str) -> Vec<StoredTurn> {
    store_recovered(shared).await;
    match shared.options.history.changed_turns(conversation).await {
        Ok(turns) => turns,
        Err(error) => {
            shared.options.log.warn(&format!("cannot read what turns have changed: {error}"));
            Vec::new()
        }
    }
}

pub(super) fn changes_event(turn: &StoredTurn) -> SessionEvent {
    SessionEvent::TurnChanges(TurnChanges {
        turn: Some(turn.turn),
        files: turn.files,
        undone: turn.undone,
        unknown: turn.unknown.clone(),
    })
}

pub(super) async fn answer_turn_diff(
    shared: &SessionShared,
    conversation: String,
    turn: Option<u64>,
) -> Result<TurnDiff, RequestFailure> {
    let (tracker, found, changes) = find_turn(shared, &conversation, turn).await?;
    Ok(TurnDiff {
        conversation_id: conversation,
        turn: found.turn,
        message: found.message,
        ended_at: u64::try_from(found.at_ms).unwrap_or_default(),
        undone: found.undone,
        unknown: found.unknown,
        files: tracker.shown_changes(changes).await,
    })
}

/// Finds a turn, or the last one that was not undone, and what it changed.
pub(super) async fn find_turn<'a>(
    shared: &'a SessionShared,
    conversation: &str,
    turn: Option<u64>,
) -> Result<(&'a TurnTracker, StoredTurn, Vec<PathChange>), RequestFailure> {
    let none = |text: &str| RequestFailure::permanent("not_found", text);
    let tracker = shared.options.changes.as_ref();
    let tracker = tracker.ok_or_else(|| none("this runtime does not record what turns change"))?;
    let turns = changed_turns(shared, conversation).await;
    let is_wanted = |known: &StoredTurn| match turn {
        Some(turn) => known.turn == turn,
        None => !known.undone,
    };
    let found = turns.into_iter().rfind(is_wanted);
    let found = found.ok_or_else(|| match turn {
        Some(_) => none("no turn with this number has changed a file, or that is too long ago"),
        None => none("no turn of this conversation has changed a file that is not undone"),
    })?;
    let changes = shared.options.history.turn_changes(found.turn).await?;
    Ok((tracker, found, changes.into_iter().filter_map(PathChange::from_stored).collect()))
}
