//! The width of the terminal, and text that is wrapped for it.

use std::io::{self, IsTerminal};

use callgate_mask::text::wrap_text;
use rustix::termios::tcgetwinsize;

/// Returns the width of the terminal that standard output is, if it is one and has a width.
pub(crate) fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| tcgetwinsize(&stdout).ok())??;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// Breaks lines between words if standard output is a terminal. What continues a line is indented
/// by `indent`. For a file or another program the lines stay whole.
pub(crate) fn wrapped_for_terminal(text: &str, indent: usize) -> String {
    match terminal_width() {
        Some(width) => wrap_text(text, width, indent),
        None => text.to_owned(),
    }
}
