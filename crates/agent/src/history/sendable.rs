//! Which blocks of a message a model's API accepts, each block by itself.

use crate::message::{Block, MediaSource};
use crate::tool::is_name_character;

/// The longest name of a tool, in characters. Names that a provider refuses are replaced when a
/// request is sent.
const LONGEST_NAME: usize = 200;
/// The accepted kinds of picture, and how each begins in base64.
const PICTURES: [(&str, &str); 4] = [
    ("image/jpeg", "/9j/"),
    ("image/png", "iVBORw0KGgo"),
    ("image/gif", "R0lGOD"),
    ("image/webp", "UklGR"),
];

/// Returns true if the block may occur in a message of the user.
pub(super) fn from_user(block: &Block) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::Image { source } => is_picture(source),
        Block::Document { source, .. } => is_document(source),
        Block::ToolResult { .. } => true,
        Block::Thinking { .. }
        | Block::RedactedThinking { .. }
        | Block::ToolUse { .. }
        | Block::Interrupted
        | Block::LeftOut => false,
    }
}

/// Returns true if the block may occur in a message of the model.
pub(super) fn from_assistant(block: &Block) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::Thinking { signature: mark, .. } | Block::RedactedThinking { data: mark } => {
            !mark.is_empty()
        }
        Block::ToolUse { id, name, input } => {
            let has_id = !id.is_empty() && id.chars().all(is_name_character);
            let has_name = (1..=LONGEST_NAME).contains(&name.chars().count());
            has_id && has_name && input.get().starts_with('{')
        }
        Block::Image { .. }
        | Block::Document { .. }
        | Block::ToolResult { .. }
        | Block::Interrupted
        | Block::LeftOut => false,
    }
}

/// Returns true if the bytes are of the named kind, which the API checks.
fn is_picture(source: &MediaSource) -> bool {
    let MediaSource::Base64 { media_type, data } = source;
    let is_known = |(kind, start): &(&str, &str)| kind == media_type && data.starts_with(start);
    is_base64(data) && PICTURES.iter().any(is_known)
}

fn is_document(source: &MediaSource) -> bool {
    let MediaSource::Base64 { media_type, data } = source;
    media_type == "application/pdf" && is_base64(data)
}

fn is_base64(data: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    !data.is_empty() && data.len().is_multiple_of(4) && data.bytes().all(is_digit)
}
