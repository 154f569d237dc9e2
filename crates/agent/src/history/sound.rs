//! Whether a part of a message is one that a model's API takes, looked at by itself.

use super::mend::Fault;
use crate::message::{Block, Source};

/// The longest name of a tool, in characters.
const LONGEST_NAME: usize = 200;
/// The kinds of picture, and how each begins in base64.
const PICTURES: [(&str, &str); 4] = [
    ("image/jpeg", "/9j/"),
    ("image/png", "iVBORw0KGgo"),
    ("image/gif", "R0lGOD"),
    ("image/webp", "UklGR"),
];

/// Whether the user may say it.
pub(super) fn of_user(block: &Block) -> Result<(), Fault> {
    match block {
        Block::Text { text } => words(text),
        Block::Image { source } => picture(source),
        Block::Document { source, .. } => document(source),
        Block::ToolResult { .. } => Ok(()),
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolUse { .. } => {
            Err(Fault::OtherRole)
        }
    }
}

/// Whether the model may have said it.
pub(super) fn of_assistant(block: &Block) -> Result<(), Fault> {
    match block {
        Block::Text { text } => words(text),
        Block::Thinking { signature: mark, .. } | Block::RedactedThinking { data: mark } => {
            or(!mark.is_empty(), Fault::Unsigned)
        }
        Block::ToolUse { id, name, input } => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            let has_id = !id.is_empty() && id.bytes().all(is_plain);
            let has_name = (1..=LONGEST_NAME).contains(&name.chars().count());
            or(has_id && has_name && input.get().starts_with('{'), Fault::BadUse)
        }
        Block::Image { .. } | Block::Document { .. } | Block::ToolResult { .. } => {
            Err(Fault::OtherRole)
        }
    }
}

/// Whether it is a thought of the model's.
pub(super) fn is_thought(block: &Block) -> bool {
    matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
}

fn words(text: &str) -> Result<(), Fault> {
    or(!text.trim().is_empty(), Fault::NoText)
}

/// The API looks at the bytes, so they have to be of the kind that is named.
fn picture(source: &Source) -> Result<(), Fault> {
    let Source::Base64 { media_type, data } = source;
    let is_known = |(kind, start): &(&str, &str)| kind == media_type && data.starts_with(start);
    or(is_base64(data) && PICTURES.iter().any(is_known), Fault::BadPicture)
}

fn document(source: &Source) -> Result<(), Fault> {
    let Source::Base64 { media_type, data } = source;
    or(media_type == "application/pdf" && is_base64(data), Fault::BadPicture)
}

fn is_base64(data: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    !data.is_empty() && data.len().is_multiple_of(4) && data.bytes().all(is_digit)
}

fn or(is_right: bool, fault: Fault) -> Result<(), Fault> {
    if is_right { Ok(()) } else { Err(fault) }
}
