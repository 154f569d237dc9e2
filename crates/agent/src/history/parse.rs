//! Messages as they are stored: the JSON of the Messages API, read leniently. A tool's result also
//! has a member `result`, which holds what the front end received.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::{Block, KeptResult, Message, Role};

/// A message, and whether all of it could be read.
pub(super) struct Read {
    pub(super) message: Message,
    pub(super) is_whole: bool,
}

/// Reads a message. A part of it that is unknown or damaged is left out.
pub(super) fn message(text: &str) -> Option<Read> {
    let Envelope { role, content } = serde_json::from_str(text).ok()?;
    let known: Vec<Block> = content.iter().filter_map(|raw| block(raw)).collect();
    let is_whole = known.len() == content.len();
    Some(Read { message: Message { role, content: known }, is_whole })
}

/// Reads what the tools in a message gave the front end, as far as that was kept.
pub(super) fn results(text: &str) -> Vec<KeptResult> {
    let Ok(Envelope { content, .. }) = serde_json::from_str(text) else { return Vec::new() };
    content.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok()).filter_map(kept).collect()
}

fn kept(block: Beside) -> Option<KeptResult> {
    Some(KeptResult { tool_use_id: block.tool_use_id, result: block.result? })
}

/// Writes a message, with what its tools gave the front end.
pub(super) fn written(message: &Message, results: &[KeptResult]) -> serde_json::Result<String> {
    let beside = |block: &Block| match block {
        Block::ToolResult { tool_use_id, .. } => {
            let kept = results.iter().find(|kept| kept.tool_use_id == *tool_use_id);
            kept.map(|kept| kept.result.as_ref())
        }
        _ => None,
    };
    let content = &message.content;
    let content = content.iter().map(|block| Part { block, result: beside(block) }).collect();
    serde_json::to_string(&Written { role: message.role, content })
}

#[derive(Serialize)]
struct Written<'a> {
    role: Role,
    content: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    block: &'a Block,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    role: Role,
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ToolUse {
    id: String,
    name: String,
    input: Box<RawValue>,
}

/// What stands in a message beside what the model was told of a tool.
#[derive(Deserialize)]
struct Beside {
    tool_use_id: String,
    #[serde(default)]
    result: Option<Box<RawValue>>,
}

fn block(raw: &RawValue) -> Option<Block> {
    let tag: Tag<'_> = serde_json::from_str(raw.get()).ok()?;
    if tag.r#type != "tool_use" {
        return serde_json::from_str(raw.get()).ok();
    }
    // What is inside an enum that is told by its tag cannot be kept as it came.
    let ToolUse { id, name, input } = serde_json::from_str(raw.get()).ok()?;
    Some(Block::ToolUse { id, name, input })
}
