//! The title of a conversation that nobody has named: how it began.

use callgate_mask::mask_text;

use crate::message::{Block, ChatMessage, Role, whole_word_prefix};

/// The longest such title, in characters.
pub const LONGEST_OPENING: usize = 80;

/// Returns the first words of the user's first text, with secrets masked.
pub(super) fn opening_words(messages: &[ChatMessage]) -> Option<String> {
    let said = messages.iter().filter(|message| message.role == Role::User);
    let mut texts = said.flat_map(|message| &message.content).filter_map(Block::as_text);
    let text = texts.find(|text| !text.trim().is_empty())?;
    let masked = mask_text(whole_word_prefix(text, char::is_whitespace)).into_shown();
    Some(cut_title(&masked)).filter(|title| !title.is_empty())
}

fn cut_title(text: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let words = text.split(is_gap).filter(|word| !word.is_empty());
    let mut title = String::new();
    for word in words {
        if title.len() > 4 * LONGEST_OPENING {
            break;
        }
        let gap = if title.is_empty() { "" } else { " " };
        title.extend([gap, word]);
    }
    match title.char_indices().nth(LONGEST_OPENING) {
        None => title,
        Some(_) => title.chars().take(LONGEST_OPENING - 1).chain(['…']).collect(),
    }
}
