//! Text made fit for people: secrets hidden, and tricks with invisible characters made visible.

use callgate_mask::{mask_text, text};

/// With secrets hidden; for the ledger.
pub(crate) fn hidden(text: &str) -> String {
    mask_text(text).shown().to_owned()
}

/// With invisible characters made visible; for text whose secrets are hidden already.
pub(crate) fn visible(text: &str) -> String {
    text::visible(text).into_owned()
}

/// With secrets hidden and invisible characters made visible.
pub(crate) fn shown(text: &str) -> String {
    visible(mask_text(text).shown())
}

/// Like [`shown`], on one line.
pub(crate) fn line(text: &str) -> String {
    text::one_line(mask_text(text).shown()).into_owned()
}
