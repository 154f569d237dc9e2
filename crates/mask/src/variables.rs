//! Environment variables that contain secrets.

use crate::word_list::WordList;
use crate::words;
use std::ffi::{OsStr, OsString};

use crate::secrets::{mask_text, mask_with};

/// Texts that make a name secret anywhere in it.
const PARTS: &str = "\
    TOKEN SECRET PASSWORD PASSWD PASSPHRASE PASSCODE PINCODE MNEMONIC KEYRING CREDENTIAL APIKEY \
    PRIVATE COOKIE";

/// Words that make a name secret: `DB_PASS`, `SSH_AUTH_SOCK`.
const WORDS: &WordList = words!(
    "KEYS AUTH OAUTH AUTHORIZATION BEARER PASS PWD CREDS DSN JWT MFA OTP TOTP PEPPER PHRASE PIN \
    SESSION SESSIONID"
);

/// Names with such a word that mean no secret: folders, and the description of a desktop's session.
/// `SESSION` means a login everywhere else.
const HARMLESS: &str =
    "PWD OLDPWD DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION SESSION_MANAGER XDG_SESSION_";

/// The longest number that counts as the seed of a random generator and not of a key, in digits.
const LONGEST_RANDOM_SEED: usize = 20;

/// A shorter value is not hidden in other text: it would hit innocent words.
const SHORTEST_HIDDEN: usize = 8;

#[derive(Clone, Default)]
pub struct SecretVariables {
    values: Vec<String>,
}

impl SecretVariables {
    /// Collects the values of those variables that are secret by their names.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        // Values that are secrets by themselves need no list: `mask_text` finds them in any text.
        let secret = variables.into_iter().filter(|(name, value)| is_secret_name(name, value));
        let values = secret.map(|(_, value)| value.to_string_lossy().into_owned());
        Self { values: values.filter(|value| value.len() >= SHORTEST_HIDDEN).collect() }
    }

    /// Returns `text` with these values and all other secrets hidden.
    pub fn mask(&self, text: &str) -> String {
        mask_with(text, &self.values).into_shown()
    }
}

impl std::fmt::Debug for SecretVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretVariables").field("count", &self.values.len()).finish()
    }
}

/// Returns true if a variable contains a secret, by its name or by its value.
///
/// By its name: one with `TOKEN`, `SECRET`, `PASSWORD`, `MNEMONIC` or the like in it, or with a
/// word that ends in `KEY` or is `AUTH`, `PASS`, `PIN`, `SEED`, `SESSION` or the like. A `SEED`
/// that is a short number and the variables that describe a desktop's session are not secret. By
/// its value: one in which [`mask_text`] finds a secret, such as a URL with a password.
pub fn is_secret_variable(name: &OsStr, value: &OsStr) -> bool {
    is_secret_name(name, value) || is_secret_value(name, value)
}

fn is_secret_name(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let upper = name.to_uppercase();
    let is_secret_word = |word: &str| match word {
        "SEED" => !is_random_seed(value),
        word => word.ends_with("KEY") || WORDS.contains_in_any_case(word),
    };
    !is_harmless(&name)
        && (PARTS.split_ascii_whitespace().any(|part| upper.contains(part))
            || upper.split(|c: char| !c.is_alphanumeric()).any(is_secret_word))
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.split(' ').any(|known| match known.strip_suffix('_') {
        Some(_) => name.starts_with(known),
        None => name == known,
    })
}

/// Returns true for `42`, which makes a test run repeatable and is not a key.
fn is_random_seed(value: &OsStr) -> bool {
    let value = value.as_encoded_bytes();
    (1..=LONGEST_RANDOM_SEED).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

fn is_secret_value(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    // With its name, too, because some values are secrets only beside one.
    mask_text(&value).hidden_count() > 0 || mask_text(&format!("{name}={value}")).hidden_count() > 0
}

#[cfg(test)]
mod tests;
