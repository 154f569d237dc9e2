//! Sends a stored conversation as the events of a live answer.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use callgate_store::StoredTurn;
use callgate_wire::session::{PastAttachment, PastUserMessage, SessionEvent, ToolResult, ToolUse};
use serde_json::json;
use serde_json::value::RawValue;

use crate::history::{History, HistoryError, HistoryPage};
use crate::message::mode_note::ModeNote;
use crate::message::{Block, ChatMessage, MediaSource, Role, StoredToolResult};
use crate::session::attachments::attached_text;
use crate::session::calls::tool_call::announced_call;
use crate::session::turn_changes::undo::is_undo_note;
use crate::session::turn_changes::{changed_turns, changes_event};
use crate::session::{SessionShared, ToolMap};
use crate::tool::{error_json, raw_json};

/// The result of a call whose result is not on the page or was never stored.
const NO_RESULT: &str = "its result was not kept";

const CUT_OFF: &str = "this answer was interrupted here";

/// The notice before the end of a turn of which the provider refuses something.
pub(in crate::session) const CAN_LEAVE_OUT: &str = "the provider refuses a message of this \
    conversation: `leave_out` continues without that message, and nothing else is lost";

/// The notice after a message that the provider refused.
pub(in crate::session) const LEFT_OUT: &str = "the provider refused this message, so the model does \
    not read it: the conversation goes on without it";

/// Returns a page that does not begin with the results of earlier calls. It may hold one message
/// more than the limit for that.
pub(super) async fn read_whole_page(
    history: &History,
    conversation: &str,
    limit: usize,
    before: Option<u64>,
) -> Result<HistoryPage, HistoryError> {
    let mut page = history.read_page(conversation, limit, before).await?;
    let begins_late =
        page.messages.first().is_some_and(|first| first.content.iter().any(Block::is_result));
    if begins_late && page.first > 0 {
        let calls = history.read_page(conversation, 1, Some(page.first)).await?;
        page.first = calls.first;
        page.messages.splice(..0, calls.messages);
        page.results.splice(..0, calls.results);
    }
    Ok(page)
}

/// Sends the page as events of the request, as fast as the front end reads.
pub(super) async fn send_page(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    page: &HistoryPage,
) {
    let tools = shared.tools.current();
    let folder = &shared.options.folder;
    let mut turns: VecDeque<StoredTurn> = changed_turns(shared, conversation).await.into();
    // Those of earlier turns belong to other pages.
    turns.retain(|turn| turn.message >= page.first);
    let mut number = page.first;
    let mut retelling = EventRetelling { tools: &tools.by_name, folder, calls: HashMap::new() };
    for (message, results) in page.messages.iter().zip(&page.results) {
        // A page may have megabytes, and its reader may be slow.
        shared.output.wait_for_room().await;
        let mut events = retelling.message_events(message, results);
        // The changes of a turn follow its last message, so they come before the next one of the
        // user.
        if matches!(events[..], [SessionEvent::UserMessage(_), ..]) {
            while let Some(turn) = turns.pop_front_if(|turn| turn.message < number) {
                events.insert(0, changes_event(&turn));
            }
        }
        shared.output.say_all(id, events);
        number += 1;
    }
    shared.output.say_all(id, retelling.end_open_calls());
    shared.output.say_all(id, turns.iter().filter(|turn| turn.message < number).map(changes_event));
}

/// The state of the conversion of a page into events.
struct EventRetelling<'a> {
    tools: &'a ToolMap,
    folder: &'a Path,
    /// The calls without a result, with the names of their tools.
    calls: HashMap<String, String>,
}

impl EventRetelling<'_> {
    fn message_events(
        &mut self,
        message: &ChatMessage,
        results: &[StoredToolResult],
    ) -> Vec<SessionEvent> {
        let (mut events, mut is_left_out) = (Vec::new(), false);
        let mut said = PastUserMessage { message: String::new(), attachments: Vec::new() };
        for block in &message.content {
            match (message.role, block) {
                (_, Block::ToolUse { id, name, input }) => {
                    self.calls.insert(id.clone(), name.clone());
                    let (tool_id, tool_name, input) = (id.clone(), name.clone(), input.clone());
                    let call = ToolUse::new(tool_id, tool_name, input);
                    events.push(announced_call(self.tools, self.folder, call));
                }
                (_, Block::ToolResult { tool_use_id, content, is_error }) => {
                    let kept = results.iter().find(|kept| kept.tool_use_id == *tool_use_id);
                    let kept = kept.map(|kept| kept.result.clone());
                    let result = kept.unwrap_or_else(|| in_words(&content.text, *is_error));
                    events.extend(self.result(tool_use_id, result, *is_error));
                }
                (_, Block::Thinking { thinking, .. }) => {
                    events.push(SessionEvent::Thinking(thinking.clone()));
                }
                (_, Block::RedactedThinking { .. }) => {}
                (_, Block::Interrupted) => {
                    events.push(SessionEvent::notice("interrupted", CUT_OFF));
                }
                (_, Block::LeftOut) => is_left_out = true,
                // The runtime wrote these for the model: the user did not say them.
                (Role::User, block)
                    if ModeNote::from_block(block).is_some() || is_undo_note(block) => {}
                (Role::Assistant, Block::Text { text }) => {
                    events.push(SessionEvent::Token(text.clone()));
                }
                (Role::User, Block::Text { text }) => add_text(&mut said, text),
                (_, Block::Image { source }) => {
                    said.attachments.push(past_attachment(source, None));
                }
                (_, Block::Document { source, title }) => {
                    said.attachments.push(past_attachment(source, title.clone()));
                }
            }
        }
        if !said.message.is_empty() || !said.attachments.is_empty() {
            events.push(SessionEvent::UserMessage(said));
        }
        if is_left_out {
            events.push(SessionEvent::notice("left_out", LEFT_OUT));
        }
        events
    }

    fn end_open_calls(&mut self) -> Vec<SessionEvent> {
        let mut open: Vec<String> = self.calls.keys().cloned().collect();
        // A map has no order, and a page is told in the same way each time.
        open.sort();
        let result = |id: &String| self.result(id, in_words(NO_RESULT, true), true);
        open.iter().filter_map(result).collect()
    }

    fn result(&mut self, id: &str, result: Box<RawValue>, is_error: bool) -> Option<SessionEvent> {
        let (tool_id, tool_name) = self.calls.remove_entry(id)?;
        Some(SessionEvent::ToolResult(ToolResult {
            tool_id,
            tool_name,
            result,
            is_error: Some(is_error),
        }))
    }
}

fn add_text(said: &mut PastUserMessage, text: &str) {
    if let Some((name, text)) = attached_text(text) {
        let (mime, size) = ("text/plain".to_owned(), text.len() as u64);
        said.attachments.push(PastAttachment { mime, name: Some(name), size, data: None });
        return;
    }
    if !said.message.is_empty() {
        said.message.push_str("\n\n");
    }
    said.message.push_str(text);
}

fn past_attachment(source: &MediaSource, name: Option<String>) -> PastAttachment {
    let MediaSource::Base64 { media_type, data } = source;
    let size = source.size() as u64;
    PastAttachment { mime: media_type.clone(), name, size, data: Some(data.clone()) }
}

/// Returns the result for the front end when only the text for the model was stored.
fn in_words(text: &str, is_error: bool) -> Box<RawValue> {
    if is_error {
        return error_json(text);
    }
    raw_json(&json!({ "text": text }))
}
