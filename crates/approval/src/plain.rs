//! Text that is safe to show: secrets hidden, and invisible characters made visible.

use callgate_mask::{mask_text, text};

/// How much is shown of a text that another machine has made up, in characters.
const LONGEST_FOREIGN: usize = 4096;

/// Hides secrets; for the ledger.
pub(crate) fn without_secrets(text: &str) -> String {
    mask_text(text).shown().to_owned()
}

/// Makes invisible characters visible; for text whose secrets are already hidden.
pub(crate) fn visible_text(text: &str) -> String {
    text::visible_text(text).into_owned()
}

pub(crate) fn safe_text(text: &str) -> String {
    visible_text(mask_text(text).shown())
}

/// Like [`safe_text`], on one line.
pub(crate) fn safe_line(text: &str) -> String {
    text::one_line(mask_text(text).shown()).into_owned()
}

/// Like [`safe_line`], shortened: for what a program on another machine says.
pub(crate) fn foreign_line(text: &str) -> String {
    text::shortened_text(&safe_line(text), LONGEST_FOREIGN)
}
