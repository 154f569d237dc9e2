//! Estimates how many tokens a text or a message takes, rather too high than too low: a provider
//! refuses a request that is longer than it was thought to be. Pure.

use std::sync::Arc;

use crate::engine::EngineCall;
use crate::message::{Block, ChatMessage, MediaSource};
use crate::tool::ToolSpec;

/// The estimated number of tokens of an image.
const PICTURE: u64 = 1600;
/// The estimated size of a document's page in bytes, and its number of tokens. A document has at
/// least one page.
const PAGE_BYTES: u64 = 50_000;
const PAGE: u64 = 3000;
/// The estimated overhead of a message, and of each of its parts, in tokens.
const FRAME: u64 = 8;

pub(crate) fn messages_tokens<'a>(messages: impl IntoIterator<Item = &'a Arc<ChatMessage>>) -> u64 {
    messages.into_iter().map(|message| message_tokens(message)).sum()
}

/// Estimates the number of tokens that an engine reads of a call. Each tool takes this many more
/// than its description and schema.
pub(crate) fn call_tokens(call: &EngineCall, per_tool: u64) -> u64 {
    let tool = |tool: &ToolSpec| {
        text_tokens(&tool.description) + text_tokens(tool.input_schema.get()) + per_tool
    };
    messages_tokens(call.messages.iter())
        + text_tokens(&call.system)
        + call.tools.iter().map(tool).sum::<u64>()
}

pub(crate) fn message_tokens(message: &ChatMessage) -> u64 {
    message.content.iter().map(|block| block_tokens(block) + FRAME).sum::<u64>() + FRAME
}

fn block_tokens(block: &Block) -> u64 {
    match block {
        Block::Text { text } => text_tokens(text),
        Block::Image { .. } => PICTURE,
        Block::Document { source: MediaSource::Base64 { data, .. }, .. } => {
            (data.len() as u64 / PAGE_BYTES + 1) * PAGE
        }
        Block::Thinking { thinking, signature } => text_tokens(thinking) + text_tokens(signature),
        Block::RedactedThinking { data } => text_tokens(data),
        Block::Interrupted | Block::LeftOut => 0,
        Block::ToolUse { id, name, input } => {
            text_tokens(id) + text_tokens(name) + text_tokens(input.get())
        }
        Block::ToolResult { tool_use_id, content, .. } => {
            text_tokens(tool_use_id)
                + text_tokens(&content.text)
                + PICTURE * content.images.len() as u64
        }
    }
}

/// Estimates the number of tokens of a text: two for seven bytes.
pub(crate) fn text_tokens(text: &str) -> u64 {
    (text.len() as u64).saturating_mul(2).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::strict::read;

    #[test]
    fn a_token_is_three_and_a_half_bytes_and_a_picture_has_many() {
        let size = |text: &str| messages_tokens(&shared(text));
        assert_eq!(size(""), 0);
        assert_eq!(size(&format!("u {}", "x".repeat(7000))), 2016);
        assert_eq!(size("u [png]"), 1616);
        assert!(size("a # ?x #r") > 24 && size("u !x") > 16);
        let data = "A".repeat(120_000);
        let source = MediaSource::Base64 { media_type: "application/pdf".to_owned(), data };
        let pages = ChatMessage::user(vec![Block::Document { source, title: None }]);
        assert_eq!(message_tokens(&pages), 9016);
    }

    fn shared(text: &str) -> Vec<Arc<ChatMessage>> {
        read(text).into_iter().map(Arc::new).collect()
    }
}
