//! A QR code in a terminal: two modules in each character, dark on light whatever the colours of
//! the terminal are.

use qrcodegen::{QrCode, QrCodeEcc};

/// The light margin that readers need, in modules.
const MARGIN: i32 = 2;
/// Black on white, by colour numbers that no theme changes; and back to the previous colours.
const COLOURS: &str = "\x1b[38;5;16;48;5;231m";
const PLAIN: &str = "\x1b[0m";

/// A text as a QR code, drawn for a terminal.
pub(super) struct QrDrawing {
    /// Its lines, each with a line end.
    pub(super) drawn: String,
    pub(super) columns: i32,
    pub(super) rows: i32,
}

impl QrDrawing {
    /// Draws a text. Returns `None` if it is too long for a QR code.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        // Little error correction is enough, because a screen has no dirt and no folds, and the
        // code fits into more windows.
        let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
        let columns = code.size() + 2 * MARGIN;
        let rows = (columns + 1) / 2;
        let mut drawn = String::new();
        for row in 0..rows {
            drawn.push_str(COLOURS);
            for column in 0..columns {
                // Everything outside of the code is light.
                let is_dark = |at: i32| code.get_module(column - MARGIN, at - MARGIN);
                drawn.push(match (is_dark(2 * row), is_dark(2 * row + 1)) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                });
            }
            drawn.push_str(PLAIN);
            drawn.push('\n');
        }
        Some(Self { drawn, columns, rows })
    }

    /// Returns true if all of it stays on a screen of this size with `below` rows of other text.
    pub(super) fn fits(&self, columns: u16, rows: u16, below: i32) -> bool {
        self.columns <= i32::from(columns) && self.rows + below <= i32::from(rows)
    }
}

#[cfg(test)]
mod tests;
