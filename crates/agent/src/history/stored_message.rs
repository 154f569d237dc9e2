//! Messages as they are stored: the JSON of the Messages API, read leniently. A tool's result also
//! has a member `result`, which holds what the front end received.

use std::borrow::Cow;

use callgate_store::{NewMessage, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::HistoryError;
use crate::message::{Block, ChatMessage, Role, StoredToolResult};

/// A stored message, and whether all of it could be read.
pub(super) struct ParsedMessage {
    pub(super) message: ChatMessage,
    pub(super) is_whole: bool,
}

/// Parses a message. Unknown or damaged blocks are left out. A newer version may have stored other
/// ones, and the rest of the conversation must not be lost because of them.
pub(super) fn parse_message(text: &str) -> Option<ParsedMessage> {
    let StoredMessage { role, content } = serde_json::from_str(text).ok()?;
    let known: Vec<Block> = content.iter().filter_map(|raw| parse_block(raw)).collect();
    let is_whole = known.len() == content.len();
    Some(ParsedMessage { message: ChatMessage { role, content: known }, is_whole })
}

/// Parses the stored results that the tools of a message gave the front end.
pub(super) fn parse_results(text: &str) -> Vec<StoredToolResult> {
    let Ok(StoredMessage { content, .. }) = serde_json::from_str(text) else { return Vec::new() };
    let blocks = content.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok());
    let kept = blocks.filter_map(|StoredResult { tool_use_id, result }| {
        Some(StoredToolResult { tool_use_id, result: result? })
    });
    kept.collect()
}

/// Returns what the user and the model say in a stored message: no thoughts, calls or results.
pub(super) fn said_text(text: &str) -> String {
    let Ok(StoredMessage { content, .. }) = serde_json::from_str(text) else {
        return String::new();
    };
    let blocks = content.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok());
    let said = blocks.filter(|block: &SaidBlock| block.r#type == "text").map(|block| block.text);
    said.collect::<Vec<_>>().join("\n")
}

/// Serialises a message, with the results that its tools gave the front end.
pub(super) fn encode_message(
    message: &ChatMessage,
    results: &[StoredToolResult],
) -> serde_json::Result<String> {
    let beside = |block: &Block| match block {
        Block::ToolResult { tool_use_id, .. } => {
            let kept = results.iter().find(|kept| kept.tool_use_id == *tool_use_id);
            kept.map(|kept| kept.result.as_ref())
        }
        _ => None,
    };
    let content = &message.content;
    let content =
        content.iter().map(|block| StoredBlock { block, result: beside(block) }).collect();
    serde_json::to_string(&MessageWriter { role: message.role, content })
}

/// Serialises messages for the store, with the results that their tools gave the front end.
pub(super) fn all_written(
    messages: &[ChatMessage],
    results: &[StoredToolResult],
    begins_turn: bool,
) -> Result<Vec<NewMessage>, HistoryError> {
    let new = |(at, message): (usize, &ChatMessage)| {
        let body = encode_message(message, results).map_err(unwritable_message)?;
        Ok(NewMessage { body, begins: begins_turn && at == 0 })
    };
    messages.iter().enumerate().map(new).collect()
}

pub(super) fn unwritable_message(error: serde_json::Error) -> HistoryError {
    let error = StoreError::Io {
        action: "cannot write a message as JSON for",
        path: "the history".into(),
        source: error.into(),
    };
    error.into()
}

#[derive(Serialize)]
struct MessageWriter<'a> {
    role: Role,
    content: Vec<StoredBlock<'a>>,
}

#[derive(Serialize)]
struct StoredBlock<'a> {
    #[serde(flatten)]
    block: &'a Block,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct StoredMessage<'a> {
    role: Role,
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct BlockTag<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

#[derive(Deserialize)]
struct SaidBlock<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    text: String,
}

#[derive(Deserialize)]
struct StoredToolUse {
    id: String,
    name: String,
    input: Box<RawValue>,
}

/// The stored result of a tool for the front end.
#[derive(Deserialize)]
struct StoredResult {
    tool_use_id: String,
    result: Option<Box<RawValue>>,
}

fn parse_block(raw: &RawValue) -> Option<Block> {
    let tag: BlockTag<'_> = serde_json::from_str(raw.get()).ok()?;
    if tag.r#type != "tool_use" {
        return serde_json::from_str(raw.get()).ok();
    }
    // Serde cannot keep raw JSON inside a tagged enum.
    let StoredToolUse { id, name, input } = serde_json::from_str(raw.get()).ok()?;
    Some(Block::ToolUse { id, name, input })
}
