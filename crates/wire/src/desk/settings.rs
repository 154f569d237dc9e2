//! The settings as a viewer sees them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All settings of the desk's user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsView {
    /// The settings, in the order of the guide.
    pub settings: Vec<SettingView>,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingView {
    pub key: String,
    /// Its value; null if it has none, and `"set"` for a secret.
    pub value: Value,
    pub origin: String,
    pub help: String,
    /// The words that the value may be, if there are only a few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<String>>,
    pub access: SettingAccess,
    /// The command that sets a key which viewers only see; `None` if that needs the settings file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingAccess {
    /// See it. It names a program, a file, a socket, an address, or who may answer.
    See,
    /// See and set it.
    Set,
    /// Set the secret that it stands for, which goes to the keyring and is never shown.
    Secret,
}
