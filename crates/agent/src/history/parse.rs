//! Messages as they are kept: the JSON of the Messages API, read with patience.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::{Block, Message, Role};

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

fn block(raw: &RawValue) -> Option<Block> {
    let tag: Tag<'_> = serde_json::from_str(raw.get()).ok()?;
    if tag.r#type != "tool_use" {
        return serde_json::from_str(raw.get()).ok();
    }
    // What is inside an enum that is told by its tag cannot be kept as it came.
    let ToolUse { id, name, input } = serde_json::from_str(raw.get()).ok()?;
    Some(Block::ToolUse { id, name, input })
}
