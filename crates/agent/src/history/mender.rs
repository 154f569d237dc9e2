//! Turns any list of messages into one that a model's API accepts.
//!
//! What the API refuses once it refuses forever, because every request sends the same messages
//! again. So nothing is sent that was not mended: each tool use is followed by its result, each
//! result belongs to a tool use, nothing is empty, and the first message is the user's. Mending a
//! mended list changes nothing.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use super::sendable::{from_assistant, from_user};
use crate::message::estimate::{message_tokens, messages_tokens};
use crate::message::message_list::MessageList;
use crate::message::mode_note::ModeNote;
use crate::message::{Block, ChatMessage, Role};

/// The result that the model reads for a tool use that has none.
pub(super) const INTERRUPTED: &str = "interrupted: it is unknown whether the call finished. Find out \
    what it has done before you call it again";
/// What the model reads after an answer of its own that was cut off.
const CUT_OFF: &str = "[Your answer was cut off here. Go on exactly where it stopped and repeat \
    nothing of it, unless the user wants something else.]";

/// What the model reads in place of a tool's result that its provider refuses.
const LEFT_OUT: &str =
    "[The tool has run. Its result is left out, because it cannot be sent to you.]";

/// Returns the messages without the model's thoughts, which a model may refuse when anything
/// before them has changed: the system prompt, the tools, or the messages. A mended list stays
/// mended, as no answer consists of thoughts alone.
pub fn without_thoughts(messages: &[Arc<ChatMessage>]) -> Vec<Arc<ChatMessage>> {
    let without = |message: &Arc<ChatMessage>| {
        if !message.content.iter().any(Block::is_thought) {
            return Arc::clone(message);
        }
        let rest = message.content.iter().filter(|block| !block.is_thought());
        Arc::new(ChatMessage { role: message.role, content: rest.cloned().collect() })
    };
    messages.iter().map(without).collect()
}

/// Returns what the model reads in place of a block that its provider refuses.
fn left_out(block: Block) -> Option<Block> {
    let Block::ToolResult { tool_use_id, .. } = block else { return None };
    Some(Block::ToolResult { tool_use_id, content: LEFT_OUT.into(), is_error: false })
}

/// Collects messages in order, in the form that the API accepts.
#[derive(Debug, Default)]
pub(super) struct Mender {
    messages: MessageList,
    mode_note: Option<ModeNote>,
    /// For each message, the number after the last stored message that is part of it.
    ends: Vec<u64>,
    /// The ids of all tool uses.
    ids: HashSet<String>,
    /// The ids of the last answer's tool uses that have no result yet.
    open: Vec<String>,
    /// How many of the first messages were measured, and their tokens. The last message may still
    /// grow, so it is not among them.
    measured: (usize, u64),
    /// The number of the message that is being read.
    number: u64,
    /// Whether a message that was once sent is missing. The thoughts after it are dropped, because
    /// they are signed for all that came before.
    has_gap: bool,
}

impl Mender {
    pub(super) fn messages(&self) -> &MessageList {
        &self.messages
    }

    pub(super) fn mode_note(&self) -> Option<ModeNote> {
        self.mode_note
    }

    pub(super) fn tokens(&mut self) -> u64 {
        let Some(last) = self.messages.last() else { return 0 };
        let (count, tokens) = self.measured;
        let before = self.messages.len() - 1;
        let tokens = tokens + messages_tokens(self.messages.iter_from(count).take(before - count));
        self.measured = (before, tokens);
        tokens + message_tokens(last)
    }

    /// Returns how many stored messages are part of the first `count` of
    /// [`messages`](Self::messages).
    pub(super) fn end_of(&self, count: usize) -> u64 {
        count.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    /// Returns the number of the last stored message that is part of the message at `index`.
    pub(super) fn number_of(&self, index: usize) -> Option<u64> {
        self.ends.get(index)?.checked_sub(1)
    }

    /// Takes the summary that replaces all messages below `upto`.
    pub(super) fn begin_with_summary(&mut self, upto: u64, summary: ChatMessage) {
        self.push(upto.saturating_sub(1), summary, false);
    }

    /// Takes the next message. The thoughts of an `aged` one are dropped.
    pub(super) fn push(&mut self, number: u64, message: ChatMessage, aged: bool) {
        self.number = number;
        let is_left_out = message.content.iter().any(|block| matches!(block, Block::LeftOut));
        match message.role {
            // Its results are replaced and not dropped, because the API wants one for each call.
            Role::User if is_left_out => {
                self.add_question(message.content.into_iter().filter_map(left_out).collect());
            }
            _ if is_left_out => {}
            Role::User => self.add_question(message.content),
            Role::Assistant => self.add_answer(message.content, aged || self.has_gap),
        }
    }

    /// Notes that a message, or a part of one, cannot be read.
    pub(super) fn note_unreadable(&mut self) {
        self.has_gap = true;
    }

    /// Adds a result to every tool use of the last answer that has none.
    pub(super) fn close_tool_uses(&mut self) {
        let open = std::mem::take(&mut self.open);
        let results: Vec<Block> = open
            .into_iter()
            .map(|tool_use_id| Block::ToolResult {
                tool_use_id,
                content: INTERRUPTED.into(),
                is_error: true,
            })
            .collect();
        if !results.is_empty() {
            let end = self.end_of(self.messages.len());
            self.put_results(results, end);
        }
    }

    fn add_question(&mut self, content: Vec<Block>) {
        let (mut results, mut others) = (Vec::new(), Vec::new());
        for block in content.into_iter().filter(from_user) {
            let Block::ToolResult { tool_use_id, .. } = &block else {
                others.push(block);
                continue;
            };
            if let Some(at) = self.open.iter().position(|id| id == tool_use_id) {
                self.open.remove(at);
                results.push(block);
            }
        }
        if results.is_empty() && others.is_empty() {
            return;
        }
        // Without results as well, so that there is a message of the user to which the rest is
        // added.
        self.put_results(results, self.number + 1);
        self.mode_note = others.iter().rev().find_map(ModeNote::from_block).or(self.mode_note);
        if let Some(last) = self.messages.last_mut() {
            Arc::make_mut(last).content.extend(others);
        }
    }

    /// Adds results to the last message after its other results, or to a new one.
    fn put_results(&mut self, results: Vec<Block>, end: u64) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => {
                // A copy if a request still holds the message: what was sent does not change.
                let content = &mut Arc::make_mut(last).content;
                let at = content.iter().take_while(|block| block.is_result()).count();
                content.splice(at..at, results);
                self.end_at(end);
            }
            _ => self.put(ChatMessage::user(results), end),
        }
    }

    fn add_answer(&mut self, content: Vec<Block>, is_aged: bool) {
        // The API refuses a conversation that begins with an answer.
        if self.messages.is_empty() {
            return;
        }
        self.close_tool_uses();
        let is_cut = content.iter().any(|block| matches!(block, Block::Interrupted));
        let mut kept = Vec::new();
        let mut open = Vec::new();
        for block in content {
            if !from_assistant(&block) || is_aged && block.is_thought() {
                continue;
            }
            if let Block::ToolUse { id, .. } = &block {
                // The API refuses a conversation in which two calls have one id.
                if !self.ids.insert(id.clone()) {
                    continue;
                }
                open.push(id.clone());
            }
            kept.push(block);
        }
        while kept.pop_if(|last| last.is_thought()).is_some() {}
        if !kept.is_empty() {
            self.open = open;
            self.put_answer(kept);
        }
        if is_cut {
            self.add_question(vec![Block::text(CUT_OFF)]);
        }
    }

    fn put_answer(&mut self, kept: Vec<Block>) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => {
                Arc::make_mut(last).content.extend(kept);
                self.end_at(self.number + 1);
            }
            _ => self.put(ChatMessage::assistant(kept), self.number + 1),
        }
    }

    fn put(&mut self, message: ChatMessage, end: u64) {
        self.messages.push(Arc::new(message));
        self.ends.push(end);
    }

    fn end_at(&mut self, end: u64) {
        if let Some(last) = self.ends.last_mut() {
            *last = end;
        }
    }
}
