//! What a terminal shows after a program has drawn on it: a small emulator that knows the sequences
//! of callgate's own programs and fails for any other.

use unicode_width::UnicodeWidthChar;

/// The cells of a row, and whether the next one continues it because it did not fit.
#[derive(Debug, Clone, Default)]
struct DrawnRow {
    cells: Vec<String>,
    is_continued: bool,
}

/// A terminal, with everything that has scrolled away.
///
/// ```
/// use callgate_testkit::drawn_screen::DrawnScreen;
///
/// let mut screen = DrawnScreen::new(20, 5);
/// screen.feed("one\r\ntwo\x1b[1A\r\x1b[Jthree");
/// assert_eq!(screen.text(), "three");
/// ```
#[derive(Debug, Clone)]
pub struct DrawnScreen {
    width: usize,
    height: usize,
    /// All rows, the oldest first. A wide character is followed by an empty cell.
    rows: Vec<DrawnRow>,
    row: usize,
    column: usize,
    /// The first row on the screen; those before it have scrolled away.
    top: usize,
    /// The beginning of a sequence.
    sequence: Option<String>,
    has_styles: bool,
}

impl DrawnScreen {
    /// Creates an empty terminal.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Self {
        let (rows, sequence) = (vec![DrawnRow::default()], None);
        Self { width, height, rows, row: 0, column: 0, top: 0, sequence, has_styles: false }
    }

    /// Draws what a program has written.
    ///
    /// # Panics
    ///
    /// Panics for a control character or a sequence that callgate never writes by itself.
    pub fn feed(&mut self, text: &str) {
        for c in text.chars() {
            match self.sequence.take() {
                Some(sequence) => self.sequence(sequence, c),
                None => self.character(c),
            }
        }
    }

    /// Gives the terminal another size. As most terminals do, it joins rows that it had split, and
    /// splits those that do not fit; the cursor stays at its character.
    pub fn resize(&mut self, width: usize, height: usize) {
        let (row, column) = (self.row, self.column);
        let (mut line, mut cursor) = (Vec::new(), None);
        for (number, old) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            if number == row {
                cursor = Some(line.len() + column);
            }
            line.extend(old.cells);
            if !old.is_continued {
                self.add_line(&std::mem::take(&mut line), width, cursor.take());
            }
        }
        if !line.is_empty() || cursor.is_some() {
            self.add_line(&line, width, cursor);
        }
        (self.width, self.height) = (width, height);
        self.top = self.rows.len().saturating_sub(height).min(self.row);
    }

    /// Adds a line as rows of this width, with the cursor at this cell of it.
    fn add_line(&mut self, line: &[String], width: usize, cursor: Option<usize>) {
        let (mut row, mut start) = (DrawnRow::default(), 0);
        for (number, cell) in line.iter().enumerate() {
            // A wide character is not split.
            let next = line.get(number + 1);
            let needed = 1 + usize::from(next.is_some_and(String::is_empty));
            if !cell.is_empty() && row.cells.len() + needed > width {
                let full = std::mem::take(&mut row);
                self.place(cursor, start, full.cells.len());
                start = number;
                self.rows.push(DrawnRow { is_continued: true, ..full });
            }
            row.cells.push(cell.clone());
        }
        self.place(cursor, start, width);
        self.rows.push(row);
    }

    /// Places the cursor if it is in the row that is added next, which begins at `start`.
    fn place(&mut self, cursor: Option<usize>, start: usize, length: usize) {
        if let Some(column) = cursor.and_then(|cursor| cursor.checked_sub(start)) {
            (self.row, self.column) = (self.rows.len(), column.min(length));
        }
    }

    /// Returns all rows without blanks at their ends, what has scrolled away included.
    pub fn text(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(|row| row.cells.concat()).collect();
        let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Returns the row and the column of the cursor, counted from the first row of all.
    pub fn cursor(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    /// Returns true if anything was written in a style.
    pub fn has_styles(&self) -> bool {
        self.has_styles
    }

    fn character(&mut self, c: char) {
        match c {
            '\u{1b}' => self.sequence = Some(String::new()),
            '\r' => self.column = 0,
            '\n' => self.line_feed(),
            c if c.is_control() => panic!("a control character was written: {c:?}"),
            c => self.print(c),
        }
    }

    fn print(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if width == 0 {
            let at = self.column.checked_sub(1);
            if let Some(cell) = at.and_then(|at| self.rows[self.row].cells.get_mut(at)) {
                cell.push(c);
            }
            return;
        }
        if self.column + width > self.width {
            self.column = 0;
            self.rows[self.row].is_continued = true;
            self.line_feed();
        }
        let row = &mut self.rows[self.row].cells;
        row.resize(row.len().max(self.column + width), " ".to_owned());
        row[self.column] = c.to_string();
        row[self.column + 1..self.column + width].fill(String::new());
        self.column += width;
    }

    fn line_feed(&mut self) {
        self.go_to(self.row + 1);
        self.top = self.top.max((self.row + 1).saturating_sub(self.height));
    }

    fn go_to(&mut self, row: usize) {
        self.row = row;
        self.rows.resize(self.rows.len().max(row + 1), DrawnRow::default());
    }

    fn sequence(&mut self, mut sequence: String, c: char) {
        sequence.push(c);
        let is_open = sequence == "[" || !matches!(c, '\u{40}'..='\u{7e}');
        if is_open && sequence.starts_with('[') {
            self.sequence = Some(sequence);
            return;
        }
        let parameters = sequence.get(1..sequence.len() - 1).unwrap_or_default();
        let count = parameters.parse().unwrap_or(1);
        match c {
            'A' => self.row = self.row.saturating_sub(count).max(self.top),
            'B' => self.go_to((self.row + count).min(self.top + self.height - 1)),
            'C' => self.column = (self.column + count).min(self.width - 1),
            'J' if parameters.is_empty() => {
                self.rows[self.row].cells.truncate(self.column);
                self.rows[self.row].is_continued = false;
                self.rows.truncate(self.row + 1);
            }
            'm' => self.has_styles = true,
            'h' | 'l' if parameters == "?2004" => {}
            _ => panic!("a sequence was written that no program of callgate writes: {sequence:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_wrap_scroll_and_are_drawn_over() {
        let mut screen = DrawnScreen::new(4, 3);
        screen.feed("abcdef\r\n漢字漢\r\n\u{1b}[1mx\u{1b}[0m");
        assert_eq!(screen.text(), "abcd\nef\n漢字\n漢\nx");
        assert!(screen.has_styles());
        // Nothing above the screen can be reached.
        screen.feed("\u{1b}[9A\ry\u{1b}[2C!");
        assert_eq!(screen.text(), "abcd\nef\ny字!\n漢\nx");
        assert_eq!(screen.cursor(), (2, 4));
    }

    #[test]
    fn rows_are_split_and_joined_when_the_size_changes() {
        let mut screen = DrawnScreen::new(6, 5);
        screen.feed("abcdefgh\r\nxy漢\r\nend");
        assert_eq!(screen.text(), "abcdef\ngh\nxy漢\nend");
        screen.resize(3, 5);
        assert_eq!(
            (screen.text().as_str(), screen.cursor()),
            ("abc\ndef\ngh\nxy\n漢\nend", (5, 3))
        );
        screen.feed("\u{1b}[1A\r!");
        screen.resize(20, 5);
        assert_eq!((screen.text().as_str(), screen.cursor()), ("abcdefgh\nxy!\nend", (1, 3)));
    }

    #[test]
    #[should_panic(expected = "no program of callgate writes")]
    fn other_sequences_are_refused() {
        DrawnScreen::new(4, 3).feed("\u{1b}]0;title");
    }
}
