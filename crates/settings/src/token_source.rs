//! Secrets among the settings: where each is kept, and which characters it may have.

use std::fmt;
use std::path::PathBuf;

use callgate_wire::HiddenText;

pub const LONGEST_TOKEN: usize = 1024;

callgate_wire::words! {
    /// A secret that callgate keeps in the keyring, under this name.
    pub enum KeyringEntry {
        BotToken "telegram-token",
        ApiKey "agent-api-key",
        /// The key of a server with Chat Completions.
        OpenAiKey "agent-openai-key",
        DatabaseUrl "team-database-url",
    }
}

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

impl SecretPurpose {
    /// Returns a text as a secret if it may be one for this purpose. The error says why the text
    /// cannot be this secret, and contains no part of it.
    pub fn check_secret(self, text: &str) -> Result<HiddenText, String> {
        let Self { name, advice, is_fine } = self;
        if text.is_empty() {
            return Err(format!("the {name} is empty; {advice}"));
        }
        if text.len() > LONGEST_TOKEN || !text.chars().all(is_fine) {
            return Err(format!("the {name} has characters that no {name} has; {advice}"));
        }
        Ok(HiddenText::new(text))
    }
}

impl KeyringEntry {
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
