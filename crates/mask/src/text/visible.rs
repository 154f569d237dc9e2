//! Shows characters that would be invisible, move the cursor or change the reading order.
//!
//! A character is shown by its number, as in `⟨U+202E⟩`. Two kinds of invisible characters stay
//! where ordinary text needs them. The joiners U+200C and U+200D stay between two letters of a
//! script that is spelt with them (Persian, Hindi, Sinhala, …), U+200D also after a virama and
//! between two pictures, where it makes one emoji of them. A variation selector stays right
//! after a picture (`❤️`), before U+20E3 (`1️⃣`) and in Mongolian. Tags stay in the flags of
//! England, Scotland and Wales. Nowhere do two of them stay in a row, so nothing can be written
//! with them.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::unicode::{
    is_deceptive, is_joining_letter, is_mongolian, is_overlay, is_picture, is_variation_selector,
    is_virama,
};

/// More marks than this over one letter are shown by their numbers.
const MOST_MARKS: usize = 8;

/// The flags that are spelt with tags.
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Returns `text` with everything invisible or deceptive in it shown. Newlines and tabs stay, and a
/// carriage return before a newline is left out.
pub fn visible_text(text: &str) -> Cow<'_, str> {
    show_hidden_characters(text, false)
}

/// Returns [`visible_text`] text on one line, for terminals and lists: a newline is shown as `⏎`, a
/// tab as a blank.
pub fn one_line(text: &str) -> Cow<'_, str> {
    show_hidden_characters(text, true)
}

fn show_hidden_characters(text: &str, on_one_line: bool) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut context = CharacterContext::default();
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let stays = context.keeps_char(c, rest);
        let line_break = on_one_line && matches!(c, '\n' | '\t');
        if stays && !line_break {
            continue;
        }
        out.push_str(&text[copied..at]);
        copied = at + c.len_utf8();
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            '\r' if rest.starts_with('\n') => {}
            // Writing to a string cannot fail.
            _ => drop(write!(out, "⟨U+{:04X}⟩", u32::from(c))),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// What precedes a character, as far as it matters.
#[derive(Default)]
struct CharacterContext {
    /// The character before; `None` at the start and after one that was replaced.
    before: Option<char>,
    /// Whether the character before is a variation selector after a picture.
    styled_picture: bool,
    marks: usize,
    /// How many tags of a flag are still to come.
    flag: usize,
}

impl CharacterContext {
    /// Returns true if `c`, which is followed by `rest`, stays as it is.
    fn keeps_char(&mut self, c: char, rest: &str) -> bool {
        let stays = self.allows(c, rest);
        self.marks = if is_overlay(c) { self.marks + 1 } else { 0 };
        self.styled_picture =
            stays && is_variation_selector(c) && self.before.is_some_and(is_picture);
        self.before = Some(c).filter(|_| stays);
        stays
    }

    fn allows(&mut self, c: char, rest: &str) -> bool {
        if self.flag > 0 {
            self.flag -= 1;
            return true;
        }
        if c == '\u{1f3f4}' && FLAGS.iter().any(|flag| rest.starts_with(flag)) {
            // All of them are equally long.
            self.flag = FLAGS[0].chars().count();
        }
        match c {
            '\u{200c}' | '\u{200d}' => self.allows_joiner(c, rest.chars().next()),
            _ if is_variation_selector(c) => self.allows_selector(c, rest),
            _ if is_overlay(c) => self.marks < MOST_MARKS,
            _ => !is_deceptive(c),
        }
    }

    fn allows_joiner(&self, c: char, next: Option<char>) -> bool {
        let Some(before) = self.before else { return false };
        let in_word = is_joining_letter(before) && next.is_some_and(is_joining_letter);
        let in_emoji = (is_picture(before) || self.styled_picture) && next.is_some_and(is_picture);
        in_word || (c == '\u{200d}' && (in_emoji || is_virama(before)))
    }

    fn allows_selector(&self, c: char, rest: &str) -> bool {
        let Some(before) = self.before else { return false };
        match c {
            '\u{fe0e}' | '\u{fe0f}' => {
                let is_keycap = matches!(before, '0'..='9' | '#' | '*');
                is_picture(before) || (is_keycap && rest.starts_with('\u{20e3}'))
            }
            '\u{180b}'..='\u{180f}' => is_mongolian(before),
            _ => false,
        }
    }
}
