//! Text that is safe to show: secrets hidden, and invisible characters made visible.

use callgate_mask::{mask_text, text};

/// Hides secrets; for the ledger.
pub(crate) fn hidden(text: &str) -> String {
    mask_text(text).shown().to_owned()
}

/// Makes invisible characters visible; for text whose secrets are already hidden.
pub(crate) fn visible(text: &str) -> String {
    text::visible(text).into_owned()
}

/// Hides secrets and makes invisible characters visible.
pub(crate) fn shown(text: &str) -> String {
    visible(mask_text(text).shown())
}

/// Like [`shown`], on one line.
pub(crate) fn line(text: &str) -> String {
    text::one_line(mask_text(text).shown()).into_owned()
}
