//! Splits a command into pieces for display: what the rules took each of them for.

use callgate_wire::desk::{CommandSegment, SegmentStyle};

use super::lists;
use crate::steps;

/// The most pieces of one command; what follows is one more piece.
pub const MOST_SEGMENTS: usize = 4_000;
/// How the placeholder of a hidden secret begins.
const HIDDEN: &str = "[hidden ";
/// The longest placeholder, in characters.
const LONGEST_HIDDEN: usize = 80;
/// How an invisible character begins that is shown by its number, and how it ends.
const INVISIBLE: (&str, char) = ("⟨U+", '⟩');

/// Splits a command into pieces. `text` is the command as people see it: masked, with invisible
/// characters made visible. The texts of the pieces, joined, are `text`.
pub fn split_into_segments(text: &str) -> Vec<CommandSegment> {
    let chars: Vec<char> = text.chars().collect();
    let hidden = hidden_in(&chars);
    // A placeholder is one word, as the text is that it hides.
    let read: String =
        chars.iter().zip(&hidden).map(|(c, is_hidden)| if *is_hidden { 'x' } else { *c }).collect();
    // Beyond the budget nothing is painted, and the rest is shown as not understood.
    let (paint, _) = steps::run_with_budget(steps::READING, || lists::paint_text(&read));
    let style = |at: usize| {
        if hidden[at] {
            return SegmentStyle::Hidden;
        }
        let is_blank = chars[at].is_ascii_whitespace();
        let unread = if is_blank { SegmentStyle::Word } else { SegmentStyle::Unclear };
        paint.style(at).unwrap_or(unread)
    };
    let mut segments: Vec<CommandSegment> = Vec::new();
    let mut breaks = paint.breaks.iter().copied().peekable();
    for (at, c) in chars.iter().enumerate() {
        let begins_line = breaks.next_if_eq(&at).is_some();
        // Whatever follows the last piece is appended to it, because the pieces have to be the
        // whole text.
        let is_full = segments.len() > MOST_SEGMENTS;
        match segments.last_mut().filter(|last| is_full || last.style == style(at)) {
            Some(last) if is_full || !begins_line => last.text.push(*c),
            _ => {
                let is_last = segments.len() == MOST_SEGMENTS;
                let style = if is_last { SegmentStyle::Unclear } else { style(at) };
                let text = c.to_string();
                segments.push(CommandSegment { text, style, breaks: begins_line });
            }
        }
    }
    segments
}

/// Returns for each character whether it belongs to a placeholder or to the number of an invisible
/// character.
fn hidden_in(chars: &[char]) -> Vec<bool> {
    let mut hidden = vec![false; chars.len()];
    let mut at = 0;
    while at < chars.len() {
        let length = hidden_length(&chars[at..]);
        hidden[at..at + length].fill(true);
        at += length.max(1);
    }
    hidden
}

/// Returns how many characters at the beginning are a placeholder or the number of an invisible
/// character.
fn hidden_length(rest: &[char]) -> usize {
    let begins = |with: &str| with.chars().enumerate().all(|(at, c)| rest.get(at) == Some(&c));
    let ends = |with: char| {
        rest.iter().take(LONGEST_HIDDEN).position(|c| *c == with).map_or(0, |end| end + 1)
    };
    match rest.first() {
        Some('[') if begins(HIDDEN) => ends(']'),
        Some('⟨') if begins(INVISIBLE.0) => ends(INVISIBLE.1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
