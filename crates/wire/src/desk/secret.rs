//! What a viewer proves itself with.

use std::fmt;

use serde::Serialize;

/// A token or a code. It goes over the socket and is shown nowhere else.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PairingSecret(String);

impl PairingSecret {
    /// Hides `text`.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever checks or shows it on purpose.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PairingSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
