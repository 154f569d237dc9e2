//! Draws below what a terminal shows already, without a full-screen mode: what is final scrolls
//! away as ordinary output, and the rows below it are drawn anew. Pure: it returns what to write.

use std::fmt::Write as _;

use crate::styled_text::column_width;

/// What the screen shows from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenFrame {
    /// The rows that will not change again.
    pub final_rows: Vec<String>,
    /// The rows below them, at least one.
    pub live_rows: Vec<String>,
    /// The row and the column of the cursor in the live rows.
    pub cursor: (usize, usize),
}

/// The part of the screen that may change.
#[derive(Debug, Default)]
pub struct InlineScreen {
    rows: Vec<String>,
    cursor: (usize, usize),
}

impl InlineScreen {
    /// Returns what to write so that the terminal shows this frame. Only rows that differ are
    /// written. The live rows must be fewer than the terminal has.
    pub fn draw(&mut self, frame: ScreenFrame) -> String {
        let ScreenFrame { final_rows, live_rows, cursor } = frame;
        let old = std::mem::take(&mut self.rows);
        let new = || final_rows.iter().chain(&live_rows);
        let same = old.iter().zip(new()).take_while(|(old, new)| old == new).count();
        let total = final_rows.len() + live_rows.len();
        let target = final_rows.len() + cursor.0;
        let mut out = String::new();
        let mut at = self.cursor.0;
        if same < old.len() || same < total {
            if same < old.len() || old.is_empty() {
                move_rows(&mut out, at, same);
                out.push('\r');
            } else {
                // A line feed begins the new rows: only that scrolls at the end of the screen.
                move_rows(&mut out, at, old.len() - 1);
                out.push_str("\r\n");
            }
            out.push_str("\u{1b}[J");
            let rest: Vec<&str> = new().skip(same).map(String::as_str).collect();
            out.push_str(&rest.join("\r\n"));
            // Where only old rows were erased, nothing was written that moved the cursor.
            at = if same < total { total - 1 } else { same };
        }
        let is_moved = !out.is_empty() || (target, cursor.1) != (at, self.cursor.1);
        if is_moved {
            move_rows(&mut out, at, target);
            out.push('\r');
            // A terminal takes a count of 0 for 1.
            if cursor.1 > 0 {
                move_cursor(&mut out, cursor.1, 'C');
            }
        }
        (self.rows, self.cursor) = (live_rows, cursor);
        out
    }

    /// Returns what to write when the terminal has a new width: the rows that are not final are
    /// wiped. A terminal wraps rows that have become too long.
    pub fn wipe(&mut self, width: usize) -> String {
        let height =
            |row: &String| column_width(&without_styles(row)).div_ceil(width.max(1)).max(1);
        let above: usize = self.rows.iter().take(self.cursor.0).map(height).sum();
        // The cursor's own row may have been wrapped, too.
        let within = self.cursor.1 / width.max(1);
        self.rows.clear();
        self.cursor = (0, 0);
        let mut out = String::new();
        move_rows(&mut out, above + within, 0);
        out + "\r\u{1b}[J"
    }

    /// Returns what to write at the end, which puts the cursor below everything.
    pub fn leave(&mut self) -> String {
        let mut out = String::new();
        move_rows(&mut out, self.cursor.0, self.rows.len().saturating_sub(1));
        let is_empty = self.rows.last().is_none_or(String::is_empty);
        *self = Self::default();
        out + if is_empty { "\r" } else { "\r\n" }
    }
}

fn move_rows(out: &mut String, from: usize, to: usize) {
    if to < from {
        move_cursor(out, from - to, 'A');
    } else if from < to {
        move_cursor(out, to - from, 'B');
    }
}

fn move_cursor(out: &mut String, count: usize, direction: char) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\u{1b}[{count}{direction}");
}

/// Returns a row without the sequences of its styles.
fn without_styles(row: &str) -> String {
    let mut plain = String::new();
    let mut is_sequence = false;
    for c in row.chars() {
        match c {
            '\u{1b}' => is_sequence = true,
            'm' if is_sequence => is_sequence = false,
            c if !is_sequence => plain.push(c),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests;
