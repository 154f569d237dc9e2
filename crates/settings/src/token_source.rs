//! Secrets among the settings: where each is kept, and which characters it may have.

use std::fmt;
use std::path::PathBuf;

use callgate_wire::HiddenText;

use crate::keyring_entry::KeyringEntry;
use crate::setting_key::SettingKey;
use crate::value::ValueKind;

/// The longest token, in bytes.
pub const LONGEST_TOKEN: usize = 1024;

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    Environment(HiddenText),
    /// In the settings file at this path.
    Config(HiddenText, PathBuf),
    File(PathBuf),
    /// Printed by a program.
    Command(Vec<String>),
    /// In the desktop's keyring.
    Keyring(KeyringEntry),
}

/// What a secret is for: its name, where it comes from, and which characters it may have.
#[derive(Debug, Clone, Copy)]
pub struct SecretPurpose {
    pub name: &'static str,
    advice: &'static str,
    is_fine: fn(char) -> bool,
}

/// A token goes into an address, so it may contain only the characters of tokens.
pub const BOT: SecretPurpose = SecretPurpose {
    name: "token",
    advice: "BotFather's are like 123456:ABC-def",
    is_fine: |letter| letter.is_ascii_alphanumeric() || ":_-".contains(letter),
};

/// A key goes into a header.
pub const MODEL: SecretPurpose = purpose("API key", "the provider of the model gives you one");

/// The secret of this desk at a provider of accounts, which goes into a header.
pub const CLIENT: SecretPurpose =
    purpose("client secret", "the provider of the accounts gives you one");

/// The URL of the team's database, with a password.
pub const DATABASE: SecretPurpose =
    purpose("database URL", "it is like postgres://USER:PASSWORD@HOST/DATABASE");

const fn purpose(name: &'static str, advice: &'static str) -> SecretPurpose {
    SecretPurpose { name, advice, is_fine: |letter| letter.is_ascii_graphic() }
}

/// Why a text is not a secret of its kind. No text contains any part of it.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the {what} is empty; {advice}")]
    Empty { what: &'static str, advice: &'static str },
    #[error("the {what} has characters that no {what} has; {advice}")]
    Odd { what: &'static str, advice: &'static str },
}

impl SecretPurpose {
    /// Returns the purpose of a key that holds a token or an API key itself.
    pub fn of_key(key: &SettingKey) -> Option<Self> {
        key.entry.filter(|_| matches!(key.kind, ValueKind::Secret)).map(KeyringEntry::purpose)
    }

    /// Returns a text as a secret if it may be one for this purpose.
    pub fn check_secret(self, text: &str) -> Result<HiddenText, SecretError> {
        let Self { name: what, advice, is_fine } = self;
        if text.is_empty() {
            return Err(SecretError::Empty { what, advice });
        }
        if text.len() > LONGEST_TOKEN || !text.chars().all(is_fine) {
            return Err(SecretError::Odd { what, advice });
        }
        Ok(HiddenText::new(text))
    }
}

impl KeyringEntry {
    /// Returns the entry whose secret the setting `key` looks up in the keyring.
    pub fn of_key(key: &SettingKey) -> Option<Self> {
        key.entry.filter(|_| matches!(key.kind, ValueKind::Switch))
    }

    pub fn purpose(self) -> SecretPurpose {
        match self {
            Self::BotToken => BOT,
            Self::ApiKey | Self::OpenAiKey => MODEL,
            Self::DatabaseUrl => DATABASE,
        }
    }
}

impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(_) => f.write_str("the environment"),
            Self::Config(_, path) | Self::File(path) => write!(f, "{}", path.display()),
            Self::Command(words) => {
                write!(f, "what `{}` prints", words.first().map_or("", String::as_str))
            }
            Self::Keyring(_) => f.write_str("the keyring"),
        }
    }
}
