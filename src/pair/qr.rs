//! A QR code in a terminal: two modules in each character, dark on light whatever the colours of
//! the terminal are.

use qrcodegen::{QrCode, QrCodeEcc};

/// The light margin that readers need, in modules.
const MARGIN: i32 = 2;
/// Black on white, by colour numbers that no theme changes; and back to the previous colours.
const COLOURS: &str = "\x1b[38;5;16;48;5;231m";
const PLAIN: &str = "\x1b[0m";

/// Draws `text`. Returns `None` if it does not fit into a terminal of this size with `beside` lines
/// of other text.
pub(super) fn draw(text: &str, columns: u16, rows: u16, beside: u16) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let size = code.size() + 2 * MARGIN;
    let lines = (size + 1) / 2;
    if size > i32::from(columns) || lines + i32::from(beside) > i32::from(rows) {
        return None;
    }
    let mut drawn = String::new();
    for line in 0..lines {
        drawn.push_str(COLOURS);
        for column in 0..size {
            // Everything outside of the code is light.
            let is_dark = |row: i32| code.get_module(column - MARGIN, row - MARGIN);
            drawn.push(match (is_dark(2 * line), is_dark(2 * line + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        drawn.push_str(PLAIN);
        drawn.push('\n');
    }
    Some(drawn)
}

#[cfg(test)]
mod tests;
