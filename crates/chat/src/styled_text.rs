//! Text with styles, which is wrapped to the columns of a terminal.
//!
//! Everything that is printed passes through [`StyledText::push`], which shows control characters
//! and other invisible ones by their numbers. So no text of a model or a tool can move the cursor,
//! change colours or hide something.

use std::ops::BitOr;

use callgate_mask::text;
use unicode_width::UnicodeWidthChar;

/// The replacement for a tab.
pub(crate) const TAB: &str = "    ";
/// The narrowest page for which lines are wrapped. A narrower terminal wraps them itself.
const NARROWEST: usize = 8;

/// A combination of styles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextStyle(u16);

impl TextStyle {
    pub(crate) const PLAIN: Self = Self(0);
    pub(crate) const BOLD: Self = Self(1);
    pub(crate) const DIM: Self = Self(1 << 1);
    pub(crate) const ITALIC: Self = Self(1 << 2);
    pub(crate) const UNDERLINE: Self = Self(1 << 3);
    pub(crate) const STRIKE: Self = Self(1 << 4);
    pub(crate) const RED: Self = Self(1 << 5);
    pub(crate) const GREEN: Self = Self(1 << 6);
    pub(crate) const YELLOW: Self = Self(1 << 7);
    pub(crate) const CYAN: Self = Self(1 << 8);
    pub(crate) const MAGENTA: Self = Self(1 << 9);

    /// The numbers of the terminal's "select graphic rendition".
    const CODES: [(Self, &'static str); 10] = [
        (Self::BOLD, "1"),
        (Self::DIM, "2"),
        (Self::ITALIC, "3"),
        (Self::UNDERLINE, "4"),
        (Self::STRIKE, "9"),
        (Self::RED, "31"),
        (Self::GREEN, "32"),
        (Self::YELLOW, "33"),
        (Self::CYAN, "36"),
        (Self::MAGENTA, "35"),
    ];

    /// Returns the sequence that switches from no style to this one.
    fn sequence(self) -> String {
        let set = Self::CODES.iter().filter(|(style, _)| self.0 & style.0 != 0);
        let codes: Vec<&str> = set.map(|(_, code)| *code).collect();
        format!("\u{1b}[{}m", codes.join(";"))
    }
}

impl BitOr for TextStyle {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The size of the terminal, and whether it shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatPage {
    pub width: usize,
    pub height: usize,
    /// Whether styles are printed.
    pub colours: bool,
}

/// Where a line that is too long is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrapAt {
    /// Between words, where that is possible.
    Words,
    /// At the last column.
    Columns,
}

/// A line of text with styles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledText {
    spans: Vec<(String, TextStyle)>,
}

impl StyledText {
    /// Creates a line in one style.
    pub(crate) fn new(text: &str, style: TextStyle) -> Self {
        let mut line = Self::default();
        line.push(text, style);
        line
    }

    /// Appends text. Tabs become blanks, and what is invisible is shown.
    pub(crate) fn push(&mut self, text: &str, style: TextStyle) {
        if text.is_empty() {
            return;
        }
        // Before the rest, which would make a single blank of a tab, and code would lose its
        // indentation.
        let text = if text.contains('\t') { &*text.replace('\t', TAB) } else { text };
        let shown = text::one_line(text);
        self.push_shown(&shown, style);
    }

    /// Appends text that has nothing invisible.
    fn push_shown(&mut self, text: &str, style: TextStyle) {
        match self.spans.last_mut() {
            Some((last, same)) if *same == style => last.push_str(text),
            _ => self.spans.push((text.to_owned(), style)),
        }
    }

    /// Appends text, and returns the whole.
    pub(crate) fn and_text(mut self, text: &str, style: TextStyle) -> Self {
        self.push(text, style);
        self
    }

    pub(crate) fn append(&mut self, other: Self) {
        for (text, style) in other.spans {
            self.push_shown(&text, style);
        }
    }

    pub(crate) fn in_style(mut self, style: TextStyle) -> Self {
        for span in &mut self.spans {
            span.1 = span.1 | style;
        }
        self
    }

    /// Replaces its styles by those of tokens, given as their lengths in bytes.
    pub(crate) fn with_token_styles(
        self,
        tokens: impl FnOnce(&str) -> Vec<(usize, TextStyle)>,
    ) -> Self {
        let text: String = self.spans.into_iter().map(|(text, _)| text).collect();
        let (mut coloured, mut rest) = (Self::default(), &*text);
        for (length, style) in tokens(&text) {
            let (token, after) = rest.split_at(length);
            // The text is made visible already, and the lengths are those of what is shown.
            coloured.push_shown(token, style);
            rest = after;
        }
        coloured
    }

    /// Returns how many columns it takes.
    pub(crate) fn columns(&self) -> usize {
        self.spans.iter().map(|(text, _)| column_width(text)).sum()
    }

    /// Returns the rows that it takes.
    pub(crate) fn rows(&self, page: &ChatPage, at: WrapAt) -> Vec<String> {
        self.hanging_rows(page, at, &Self::default(), &Self::default())
    }

    /// Returns the rows that it takes with `first` before the first one and `rest` before the
    /// others.
    pub(crate) fn hanging_rows(
        &self,
        page: &ChatPage,
        at: WrapAt,
        first: &Self,
        rest: &Self,
    ) -> Vec<String> {
        let cells = self.cells();
        let mut rows = Vec::new();
        let mut start = 0;
        loop {
            let indent = if rows.is_empty() { first } else { rest };
            // A character that is two columns wide has to fit whatever precedes it.
            let room = page.width.max(NARROWEST).saturating_sub(indent.columns()).max(2);
            let (end, next) = row_end(&cells, start, room, at);
            let mut row = RowPainter::new(page.colours);
            indent
                .cells()
                .into_iter()
                .chain(cells[start..end].iter().copied())
                .for_each(|(c, style)| row.push(c, style));
            rows.push(row.finish());
            if next >= cells.len() {
                return rows;
            }
            start = next;
        }
    }

    /// Returns one row, cut to the width of the page.
    pub(crate) fn row(&self, page: &ChatPage) -> String {
        let mut row = RowPainter::new(page.colours);
        for (c, style) in self.clone().cut(page.width.max(NARROWEST)).cells() {
            row.push(c, style);
        }
        row.finish()
    }

    /// Cuts it to `width` columns. The last column of a cut text is `…`.
    pub(crate) fn cut(self, width: usize) -> Self {
        if self.columns() <= width {
            return self;
        }
        let cells = self.cells();
        let end = fitting_end(&cells, 0, width.saturating_sub(1));
        let cut = Self::of_cells(&cells[..end]);
        let style = cut.spans.last().map_or(TextStyle::PLAIN, |(_, style)| *style);
        cut.and_text("…", style)
    }

    /// Returns the lines into which it is split between words to be no wider than `width`.
    pub(crate) fn wrapped(&self, width: usize) -> Vec<Self> {
        let cells = self.cells();
        let (mut lines, mut start) = (Vec::new(), 0);
        loop {
            let (end, next) = row_end(&cells, start, width, WrapAt::Words);
            lines.push(Self::of_cells(&cells[start..end]));
            if next >= cells.len() {
                return lines;
            }
            start = next;
        }
    }

    /// Returns the width of its longest word.
    pub(crate) fn longest_word(&self) -> usize {
        let text: String = self.spans.iter().map(|(text, _)| text.as_str()).collect();
        // Only at the blanks at which a row may end, and not at those that keep words together.
        text.split(' ').map(column_width).max().unwrap_or(0)
    }

    fn of_cells(cells: &[(char, TextStyle)]) -> Self {
        let mut line = Self::default();
        for (c, style) in cells {
            line.push_shown(c.encode_utf8(&mut [0; 4]), *style);
        }
        line
    }

    fn cells(&self) -> Vec<(char, TextStyle)> {
        let spans = self.spans.iter();
        spans.flat_map(|(text, style)| text.chars().map(|c| (c, *style))).collect()
    }
}

/// Returns how many columns a text takes. For an emoji of several characters the widths of all of
/// them are added, because terminals differ, and a row must never be wider than computed.
pub(crate) fn column_width(text: &str) -> usize {
    let next = text.chars().skip(1).map(Some).chain([None]);
    text.chars().zip(next).map(|(c, next)| char_width(c, next)).sum()
}

/// Returns how many columns a character takes that is followed by `next`.
pub(crate) fn char_width(c: char, next: Option<char>) -> usize {
    let width = c.width().unwrap_or(0);
    // The selector makes a picture of the character, for which many terminals take two columns.
    if next == Some('\u{fe0f}') { width.max(2) } else { width }
}

/// Returns the end of the cells from `start` that fit into `room` columns.
fn fitting_end(cells: &[(char, TextStyle)], start: usize, room: usize) -> usize {
    let mut used = 0;
    let beyond = (start..cells.len()).find(|at| {
        used += char_width(cells[*at].0, cells.get(at + 1).map(|(next, _)| *next));
        used > room
    });
    beyond.unwrap_or(cells.len())
}

/// Returns where the row that begins at `start` ends, and where the next one begins.
fn row_end(cells: &[(char, TextStyle)], start: usize, room: usize, at: WrapAt) -> (usize, usize) {
    let end = fitting_end(cells, start, room);
    if end == cells.len() {
        return (end, end);
    }
    // A character that is wider than the page takes a row all the same.
    let end = end.max(start + 1);
    if at == WrapAt::Columns {
        return (end, end);
    }
    if cells[end].0 == ' ' {
        return (end, end + 1);
    }
    match cells[start..end].iter().rposition(|(c, _)| *c == ' ') {
        // Split behind its indentation a line would begin with an empty row.
        Some(blank) if cells[start..start + blank].iter().any(|(c, _)| *c != ' ') => {
            (start + blank, start + blank + 1)
        }
        _ => (end, end),
    }
}

/// Writes characters with the sequences of their styles.
struct RowPainter {
    row: String,
    style: TextStyle,
    colours: bool,
}

impl RowPainter {
    fn new(colours: bool) -> Self {
        Self { row: String::new(), style: TextStyle::PLAIN, colours }
    }

    fn push(&mut self, c: char, style: TextStyle) {
        self.switch(style);
        self.row.push(c);
    }

    fn switch(&mut self, style: TextStyle) {
        if !self.colours || style == self.style {
            return;
        }
        // A sequence only adds to the style that is set.
        if self.style != TextStyle::PLAIN {
            self.row.push_str("\u{1b}[0m");
        }
        if style != TextStyle::PLAIN {
            self.row.push_str(&style.sequence());
        }
        self.style = style;
    }

    fn finish(mut self) -> String {
        self.switch(TextStyle::PLAIN);
        self.row
    }
}

#[cfg(test)]
pub(crate) mod tests;
