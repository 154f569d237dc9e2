//! What a front end is shown of a stored message.

#[cfg(test)]
mod tests;

use callgate_wire::session::MAX_LINE;
use serde_json::value::{RawValue, to_raw_value};

use crate::message::Block;
use crate::message::mode_note::ModeNote;
use crate::tool::error_json;

/// The longest content of one message: a line, less what surrounds the content.
const LONGEST: usize = MAX_LINE - 16 * 1024;

/// Returns the content of a message so that it fits into a line. The largest blocks are replaced by
/// a note if necessary.
pub(super) fn fitting_content(blocks: &[Block]) -> Option<Box<RawValue>> {
    let told: Vec<Block>;
    let mut blocks = blocks;
    // The text about the mode is for the model; the user has not said it.
    if blocks.iter().any(|block| ModeNote::from_block(block).is_some()) {
        told =
            blocks.iter().filter(|block| ModeNote::from_block(block).is_none()).cloned().collect();
        blocks = &told;
    }
    let whole = to_raw_value(blocks).ok()?;
    let size = whole.get().len();
    if size <= LONGEST {
        return Some(whole);
    }
    let shown = to_raw_value(&shorten_blocks(blocks, size)).ok()?;
    if shown.get().len() <= LONGEST {
        return Some(shown);
    }
    to_raw_value(&[Block::text(left_out_note("message", size))]).ok()
}

/// Replaces as many of the largest blocks as necessary by notes.
fn shorten_blocks(blocks: &[Block], mut size: usize) -> Vec<Block> {
    let mut shown = blocks.to_vec();
    let mut order: Vec<(usize, usize)> = blocks.iter().map(json_length).zip(0..).collect();
    // The largest first, so that as few blocks as possible are replaced.
    order.sort_unstable_by(|one, other| other.cmp(one));
    for (bytes, at) in order {
        if size <= LONGEST {
            break;
        }
        shown[at] = in_place_of(&blocks[at]);
        size = (size + json_length(&shown[at])).saturating_sub(bytes);
    }
    shown
}

fn json_length(block: &Block) -> usize {
    to_raw_value(block).map_or(0, |json| json.get().len())
}

/// Returns a note in place of a block. Tool calls and results stay what they are.
fn in_place_of(block: &Block) -> Block {
    match block {
        Block::Image { source } => Block::text(left_out_note("picture", source.size())),
        Block::Document { source, .. } => Block::text(left_out_note("document", source.size())),
        Block::Text { text } => Block::text(left_out_note("text", text.len())),
        Block::Thinking { thinking, .. } => Block::text(left_out_note("thought", thinking.len())),
        Block::RedactedThinking { data } => Block::text(left_out_note("thought", data.len())),
        Block::Interrupted | Block::LeftOut => block.clone(),
        Block::ToolUse { id, name, input } => {
            let input = error_json(&left_out_note("tool's input", input.get().len()));
            Block::ToolUse { id: id.clone(), name: name.clone(), input }
        }
        Block::ToolResult { tool_use_id, content, is_error } => Block::ToolResult {
            tool_use_id: tool_use_id.clone(),
            content: left_out_note("tool's result", content.size()).into(),
            is_error: *is_error,
        },
    }
}

fn left_out_note(what: &str, bytes: usize) -> String {
    format!("[a {what} of {bytes} bytes is not shown here]")
}
