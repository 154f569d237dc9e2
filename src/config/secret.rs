//! The kinds of secrets, and which characters each may have.

use std::time::Duration;

use callgate_settings::{SettingKey, keys};
use callgate_wire::HiddenText;

/// The longest token, in bytes.
pub(super) const LONGEST_TOKEN: usize = 1024;
/// How long a keyring may take: it may have to ask for a password first.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// What a secret is for: its name, where it comes from, and which characters it may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretPurpose {
    pub(super) name: &'static str,
    advice: &'static str,
    is_fine: fn(char) -> bool,
}

/// A token goes into an address, so it may contain only the characters of tokens.
pub(super) const BOT: SecretPurpose = SecretPurpose {
    name: "token",
    advice: "BotFather's are like 123456:ABC-def",
    is_fine: |letter| letter.is_ascii_alphanumeric() || ":_-".contains(letter),
};

/// A key goes into a header.
pub(super) const MODEL: SecretPurpose = SecretPurpose {
    name: "API key",
    advice: "the provider of the model gives you one",
    is_fine: |letter| letter.is_ascii_graphic(),
};

/// The secret of this desk at a provider of accounts, which goes into a header.
pub(super) const CLIENT: SecretPurpose = SecretPurpose {
    name: "client secret",
    advice: "the provider of the accounts gives you one",
    is_fine: |letter| letter.is_ascii_graphic(),
};

/// The URL of the team's database, with a password.
pub(super) const DATABASE: SecretPurpose = SecretPurpose {
    name: "database URL",
    advice: "it is like postgres://USER:PASSWORD@HOST/DATABASE",
    is_fine: |letter| letter.is_ascii_graphic(),
};

/// Why a text is not a secret of its kind. No text contains any part of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("the {what} is empty; {advice}")]
    Empty { what: &'static str, advice: &'static str },
    #[error("the {what} has characters that no {what} has; {advice}")]
    Odd { what: &'static str, advice: &'static str },
}

impl SecretPurpose {
    /// Returns the purpose of a key that holds a token or an API key itself.
    pub(super) fn of_key(key: &SettingKey) -> Option<Self> {
        match key.name {
            name if name == keys::TELEGRAM_TOKEN.name => Some(BOT),
            name if name == keys::AGENT_API_KEY.name || name == keys::AGENT_OPENAI_KEY.name => {
                Some(MODEL)
            }
            name if name == keys::TEAM_DATABASE_URL.name => Some(DATABASE),
            _ => None,
        }
    }

    /// Returns a text as a secret if it may be one for this purpose.
    pub(super) fn check_secret(self, text: &str) -> Result<HiddenText, SecretError> {
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
