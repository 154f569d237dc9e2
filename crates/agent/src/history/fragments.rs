//! Fragments: what was shown of an answer and of the results of its tools before the messages are
//! whole. They are stored in the form of messages.

use super::error::HistoryError;
use super::mender::INTERRUPTED;
use super::stored_message;
use crate::message::{Block, ChatMessage, Role, StoredToolResult, append_text, append_thought};
use crate::tool::raw_json;

/// What is about to be shown of a round.
#[derive(Debug, Default)]
pub struct MessageFragments {
    pub(crate) answer: Vec<Block>,
    /// Results of its tools, and what the user says meanwhile.
    pub(crate) said: Vec<Block>,
    /// The results that its tools gave the front end.
    results: Vec<StoredToolResult>,
}

impl MessageFragments {
    pub fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.said.is_empty()
    }

    /// Returns about how many bytes they have.
    pub(super) fn size(&self) -> usize {
        let results = self.results.iter().map(|kept| kept.result.get().len());
        self.answer.iter().chain(&self.said).map(Block::size).chain(results).sum()
    }

    pub fn append_text(&mut self, piece: &str) {
        append_text(&mut self.answer, piece);
    }

    pub fn append_thought(&mut self, piece: &str) {
        append_thought(&mut self.answer, piece);
    }

    /// Appends the result of a tool call, with what the front end gets.
    pub fn append_result(&mut self, told: Block, result: Option<StoredToolResult>) {
        self.said.push(told);
        self.results.extend(result);
    }

    pub(super) fn bodies(self) -> Result<Vec<String>, HistoryError> {
        let Self { answer, said, results } = self;
        let messages = [ChatMessage::assistant(answer), ChatMessage::user(said)];
        let parts = messages.iter().filter(|message| !message.content.is_empty());
        let body = |message: &ChatMessage| stored_message::encode_message(message, &results);
        parts.map(|part| body(part).map_err(stored_message::unwritable_message)).collect()
    }
}

/// The fragments of a round, put together again.
#[derive(Debug, Default)]
pub(super) struct JoinedFragments(MessageFragments);

impl JoinedFragments {
    /// Adds the next stored fragment. One that cannot be read is left out.
    pub(super) fn add_fragment(&mut self, body: &str) {
        let Some(read) = stored_message::parse_message(body) else { return };
        let all = &mut self.0;
        all.results.extend(stored_message::parse_results(body));
        if read.message.role == Role::User {
            return all.said.extend(read.message.content);
        }
        for block in read.message.content {
            match block {
                Block::Text { text } => all.append_text(&text),
                // Fragments are stored before the signature of a thought has come, so it is shown
                // again but not sent again.
                Block::Thinking { thinking, .. } => all.append_thought(&thinking),
                block => all.answer.push(block),
            }
        }
    }

    /// Returns the messages of the round, in which everything without an end is marked as
    /// interrupted.
    pub(super) fn into_interrupted(self) -> (Vec<ChatMessage>, Vec<StoredToolResult>) {
        let MessageFragments { mut answer, said, mut results } = self.0;
        let (mut told, rest): (Vec<Block>, Vec<Block>) =
            said.into_iter().partition(Block::is_result);
        let ended = told.len();
        let mut has_calls = false;
        for block in &answer {
            let Block::ToolUse { id, .. } = block else { continue };
            has_calls = true;
            let is_its = |told: &Block| matches!(told, Block::ToolResult { tool_use_id, .. } if tool_use_id == id);
            if !told[..ended].iter().any(is_its) {
                let (told_now, result) = interrupted_call(id);
                told.push(told_now);
                results.push(result);
            }
        }
        // With calls the model reads in their results that it was interrupted.
        if !has_calls && !answer.is_empty() {
            answer.push(Block::Interrupted);
        }
        // Behind the results: the API refuses a message in which anything precedes them.
        told.extend(rest);
        let messages = [ChatMessage::assistant(answer), ChatMessage::user(told)];
        (messages.into_iter().filter(|message| !message.content.is_empty()).collect(), results)
    }
}

/// Returns what the model and the front end get for a call of which nobody knows how it ended.
fn interrupted_call(id: &str) -> (Block, StoredToolResult) {
    let told = Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: INTERRUPTED.into(),
        is_error: true,
    };
    let result = raw_json(&serde_json::json!({
        "error": "interrupted: it is unknown whether the call finished",
        "interrupted": true,
    }));
    (told, StoredToolResult { tool_use_id: id.to_owned(), result })
}
