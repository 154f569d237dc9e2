//! The editor of the input: several lines, moved through by character, word and line. Pure.

use callgate_mask::text::{boundary_before, one_line};

use crate::key_decoder::KeyStroke;
use crate::styled_text::{ChatPage, TAB, char_width, column_width};

/// The longest text that can be typed or pasted, in bytes.
const LONGEST_INPUT: usize = 1024 * 1024;

/// A text that somebody types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LineEditor {
    text: String,
    /// A position between two characters.
    cursor: usize,
    /// Whether the last pasted character was a carriage return, so that a line feed after it is
    /// ignored.
    is_after_return: bool,
}

impl LineEditor {
    /// Creates an editor with a text, at its end.
    pub(crate) fn with_text(text: String) -> Self {
        Self { cursor: text.len(), text, is_after_return: false }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Empties the editor and returns its text.
    pub(crate) fn take_text(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Replaces what is between `start` and the cursor.
    pub(crate) fn replace_from(&mut self, start: usize, with: &str) {
        self.text.replace_range(start..self.cursor, with);
        self.cursor = start + with.len();
    }

    pub(crate) fn insert(&mut self, c: char) {
        if self.text.len() < LONGEST_INPUT {
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
    }

    /// Handles a key that edits or moves. Returns false for any other key, and for a key that would
    /// leave the first or the last line.
    pub(crate) fn handle_key(&mut self, key: KeyStroke) -> bool {
        let is_return = key == KeyStroke::Pasted('\r');
        let was_return = std::mem::replace(&mut self.is_after_return, is_return);
        match key {
            KeyStroke::Pasted('\n') if was_return => {}
            KeyStroke::Pasted('\r') | KeyStroke::LineFeed | KeyStroke::ModifiedEnter => {
                self.insert('\n');
            }
            KeyStroke::Char(c) | KeyStroke::Pasted(c) => self.insert(c),
            KeyStroke::Backspace => self.remove_from(self.previous_boundary()),
            KeyStroke::Delete | KeyStroke::Ctrl('d') => {
                let from = self.cursor;
                self.cursor = self.next_boundary();
                self.remove_from(from);
            }
            KeyStroke::AltBackspace | KeyStroke::Ctrl('w') => self.remove_from(self.word_before()),
            KeyStroke::Ctrl('u') => self.remove_from(self.line_start()),
            KeyStroke::Ctrl('k') => {
                let from = self.cursor;
                self.cursor = self.line_end();
                self.remove_from(from);
            }
            KeyStroke::Left | KeyStroke::Ctrl('b') => self.cursor = self.previous_boundary(),
            KeyStroke::Right | KeyStroke::Ctrl('f') => self.cursor = self.next_boundary(),
            KeyStroke::WordLeft | KeyStroke::Alt('b') => self.cursor = self.word_before(),
            KeyStroke::WordRight | KeyStroke::Alt('f') => self.cursor = self.word_after(),
            KeyStroke::Home | KeyStroke::Ctrl('a') => self.cursor = self.line_start(),
            KeyStroke::End | KeyStroke::Ctrl('e') => self.cursor = self.line_end(),
            KeyStroke::Up | KeyStroke::Ctrl('p') => return self.move_up(),
            KeyStroke::Down | KeyStroke::Ctrl('n') => return self.move_down(),
            _ => return false,
        }
        true
    }

    /// Returns the rows of the text after `prompt`, and the row and column of the cursor.
    pub(crate) fn rows(&self, page: &ChatPage, prompt: &str) -> (Vec<String>, (usize, usize)) {
        // In the narrowest windows the text is worth more than what stands before it.
        let prompt = if column_width(prompt) + 2 > page.width { "" } else { prompt };
        let indent = " ".repeat(column_width(prompt));
        let room = page.width.saturating_sub(indent.len()).max(2);
        let (mut rows, mut place) = (Vec::new(), (0, 0));
        let mut start = 0;
        for line in self.text.split('\n') {
            let end = start + line.len();
            let shown = shown_line(line);
            let cursor = (start..=end).contains(&self.cursor);
            // As it is shown: a tab takes several columns.
            let before = cursor.then(|| shown_length(&line[..self.cursor - start]));
            let (wrapped, found) = wrap_at_columns(&shown, room, before);
            if let Some((row, column)) = found {
                place = (rows.len() + row, indent.len() + column);
            }
            rows.extend(wrapped);
            start = end + 1;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            row.insert_str(0, if number == 0 { prompt } else { &indent });
        }
        (rows, place)
    }

    fn remove_from(&mut self, from: usize) {
        self.text.replace_range(from..self.cursor, "");
        self.cursor = from;
    }

    /// The cursor never stands inside what a reader sees as one character, such as an emoji with
    /// its selector.
    fn previous_boundary(&self) -> usize {
        let last = self.text[..self.cursor].chars().next_back();
        last.map_or(0, |last| boundary_before(&self.text, self.cursor - last.len_utf8()))
    }

    fn next_boundary(&self) -> usize {
        let rest = self.text[self.cursor..].char_indices().skip(1);
        let mut ends = rest.map(|(at, _)| self.cursor + at);
        ends.find(|end| boundary_before(&self.text, *end) == *end).unwrap_or(self.text.len())
    }

    fn word_before(&self) -> usize {
        let before = self.text[..self.cursor].trim_end_matches(|c: char| !c.is_alphanumeric());
        before.trim_end_matches(char::is_alphanumeric).len()
    }

    fn word_after(&self) -> usize {
        let after = self.text[self.cursor..].trim_start_matches(|c: char| !c.is_alphanumeric());
        self.text.len() - after.trim_start_matches(char::is_alphanumeric).len()
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn move_up(&mut self) -> bool {
        let start = self.line_start();
        let is_first = start == 0;
        if !is_first {
            let above = self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
            self.cursor = self.same_column(start, above, start - 1);
        }
        !is_first
    }

    fn move_down(&mut self) -> bool {
        let end = self.line_end();
        let is_last = end == self.text.len();
        if !is_last {
            let below = self.text[end + 1..].find('\n').map_or(self.text.len(), |at| end + 1 + at);
            self.cursor = self.same_column(self.line_start(), end + 1, below);
        }
        !is_last
    }

    /// Returns the position in the line from `start` to `end` that has the cursor's column.
    fn same_column(&self, line: usize, start: usize, end: usize) -> usize {
        let column: usize =
            char_widths(&self.text[line..self.cursor]).map(|(_, width)| width).sum();
        let mut used = 0;
        let beyond = char_widths(&self.text[start..end]).find(|(_, width)| {
            used += width;
            used > column
        });
        let at = beyond.map_or(end, |(at, _)| start + at);
        boundary_before(&self.text, at).max(start)
    }
}

/// Returns where each character of a line is, and how many columns it takes.
fn char_widths(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let next = line.chars().skip(1).map(Some).chain([None]);
    line.char_indices().zip(next).map(|((at, c), next)| match c {
        '\t' => (at, TAB.len()),
        c => (at, char_width(c, next)),
    })
}

fn shown_line(line: &str) -> String {
    one_line(&line.replace('\t', TAB)).into_owned()
}

fn shown_length(line: &str) -> usize {
    shown_line(line).chars().count()
}

/// Splits a line at the columns, and finds the place of its character with the number `cursor`.
fn wrap_at_columns(
    line: &str,
    room: usize,
    cursor: Option<usize>,
) -> (Vec<String>, Option<(usize, usize)>) {
    let (mut rows, mut used, mut place) = (vec![String::new()], 0, None);
    for (number, (at, width)) in char_widths(line).enumerate() {
        let c = line[at..].chars().next();
        if used + width > room {
            rows.push(String::new());
            used = 0;
        }
        if cursor == Some(number) {
            place = Some((rows.len() - 1, used));
        }
        if let Some(row) = rows.last_mut() {
            row.extend(c);
        }
        used += width;
    }
    if cursor.is_some() && place.is_none() {
        // The cursor at the end of a full row is on the next one.
        if used >= room {
            rows.push(String::new());
            used = 0;
        }
        place = Some((rows.len() - 1, used));
    }
    (rows, place)
}

#[cfg(test)]
mod tests;
