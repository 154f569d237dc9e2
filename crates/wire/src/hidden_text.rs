//! Text that is not shown by accident.

use std::fmt;

use serde::Serialize;

/// A token, a code or a key. It is written where it is meant to go, and shown nowhere else: not in
/// a log, not in an error, not with `{:?}`.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HiddenText(String);

impl HiddenText {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for whoever checks or shows it on purpose.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HiddenText(…)")
    }
}
