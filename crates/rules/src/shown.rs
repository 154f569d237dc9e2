//! Commands and paths as reasons quote them: without secrets, on one line and not too long.

use callgate_mask::mask_text;
use callgate_mask::text::{Measure, cut_to_length, one_line};

/// The longest piece of a command that a reason quotes, in characters.
const LONGEST_COMMAND: usize = 120;
/// The longest beginning of a command that is searched for secrets before it is cut, in bytes. It
/// is longer than what is quoted, because the first half of a secret would not be recognised.
const LONGEST_MASKED: usize = 4_096;
/// The longest piece of a path that a reason quotes, in bytes.
const LONGEST_PATH: usize = 200;

pub(crate) fn short_command(command: &str) -> String {
    let beginning = cut_to_length(command, LONGEST_MASKED, Measure::Bytes);
    let masked = mask_text(beginning).into_shown();
    let line = one_line(&masked);
    let short = cut_to_length(&line, LONGEST_COMMAND, Measure::Chars);
    let more = if short.len() < line.len() { "…" } else { "" };
    format!("{short}{more}")
}

pub(crate) fn short_path(path: &str) -> String {
    // Masked before it is cut, because the first half of a secret would not be recognised.
    let mut shown = mask_text(path).into_shown();
    if shown.len() > LONGEST_PATH {
        shown.truncate(shown.floor_char_boundary(LONGEST_PATH));
        shown.push('…');
    }
    shown
}
