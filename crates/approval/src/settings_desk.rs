//! What viewers ask about the settings. The desk itself knows no settings file; whoever starts the
//! daemon supplies the answers.

use std::fmt;

use callgate_wire::desk::{HiddenText, SettingsView};

/// Answers what viewers ask about the settings, and changes those that a viewer may change.
///
/// Every method may block: it is called on a thread of its own. An error is shown to the viewer's
/// user, so it says what to do.
pub trait SettingsDesk: fmt::Debug + Send + Sync {
    fn settings(&self) -> SettingsView;

    /// Sets a key, or removes it from the settings file. Returns an error for every key that a
    /// viewer may only see.
    fn set_setting(&self, key: &str, value: Option<&HiddenText>) -> Result<(), String>;
}
