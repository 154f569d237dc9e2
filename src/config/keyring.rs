//! The secrets in the desktop's keyring, reached through a program of the system.

use std::io::ErrorKind;
use std::process::Command;

use callgate_settings::{SettingKey, keys};
use callgate_wire::HiddenText;

use super::secret::{BOT, DATABASE, LONGEST_TOKEN, MODEL, PATIENCE, SecretError, SecretPurpose};
use crate::program::{self, EndedProgram, ProgramError};

/// The program that reaches the keyring.
#[cfg(not(target_os = "macos"))]
const PROGRAM: &str = "secret-tool";
/// The program that reaches the keychain.
#[cfg(target_os = "macos")]
const PROGRAM: &str = "security";
/// The most that the program prints beside a secret.
const LONGEST_OUTPUT: usize = 4096;
/// The longest sign-in, in bytes: it has to fit into a pipe.
pub(super) const LONGEST_SIGN_IN: usize = 60 * 1024;

callgate_wire::words! {
    /// A secret that callgate keeps in the keyring, under this name.
    pub(crate) enum KeyringEntry {
        /// The token of the Telegram bot.
        BotToken "telegram-token",
        /// The key of the Messages API.
        ApiKey "agent-api-key",
        /// The key of a server with Chat Completions.
        OpenAiKey "agent-openai-key",
        /// The URL of the team's database.
        DatabaseUrl "team-database-url",
    }
}

/// Why the keyring could not be used. No text contains any part of a secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyringError {
    #[error(
        "the keyring cannot be reached without `{PROGRAM}`, which is not installed; install it \
         (on Debian: apt install libsecret-tools)"
    )]
    NotInstalled,
    #[error("the keyring has no {what}; to store it there: callgate config set {key} --stdin")]
    Absent { what: &'static str, key: &'static str },
    #[error(
        "the keyring is locked and nobody could be asked for its password; unlock it by logging in \
         to the desktop, or without one: gnome-keyring-daemon --unlock"
    )]
    Locked,
    #[error(
        "no keyring can be reached (`{PROGRAM}` says: {0}); run callgate in a desktop session that \
         has one, such as gnome-keyring"
    )]
    Unreachable(String),
    #[error("cannot use the keyring: `{PROGRAM}` {0}")]
    Program(String),
    #[cfg(target_os = "macos")]
    #[error(
        "the keychain takes a secret only by hand: security add-generic-password -U -s callgate -a {0} -w"
    )]
    ByHand(String),
}

impl KeyringEntry {
    /// Returns the entry whose secret the setting `key` looks up in the keyring.
    pub(super) fn of_key(key: &SettingKey) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.key() == key.name)
    }

    /// Returns the setting that says that the secret is in the keyring.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::BotToken => keys::TELEGRAM_TOKEN_KEYRING.key.name,
            Self::ApiKey => keys::AGENT_API_KEY_KEYRING.key.name,
            Self::OpenAiKey => keys::AGENT_OPENAI_KEY_KEYRING.key.name,
            Self::DatabaseUrl => keys::TEAM_DATABASE_URL_KEYRING.key.name,
        }
    }

    fn purpose(self) -> SecretPurpose {
        match self {
            Self::BotToken => BOT,
            Self::ApiKey | Self::OpenAiKey => MODEL,
            Self::DatabaseUrl => DATABASE,
        }
    }

    /// Returns a text as the secret, without space around it, if it may be one.
    pub(super) fn check_secret(self, text: &HiddenText) -> Result<HiddenText, SecretError> {
        self.purpose().check_secret(text.reveal().trim())
    }

    /// Reads the secret. The keyring may ask its user for a password meanwhile.
    pub(super) fn look_up(self) -> Result<String, KeyringError> {
        let ended = run_keyring_program(self.name(), "lookup", "", LONGEST_TOKEN)?;
        match ended.complaint() {
            _ if ended.status.success() => Ok(ended.stdout),
            Some(complaint) => Err(error_of_complaint(&complaint)),
            // A locked secret and a missing one look the same.
            None => Err(self.check_presence().err().unwrap_or(KeyringError::Locked)),
        }
    }

    /// Checks that the secret is there, without asking anybody for a password.
    #[cfg(not(target_os = "macos"))]
    pub(crate) fn check_presence(self) -> Result<(), KeyringError> {
        let ended = run_keyring_program(self.name(), "search", "", LONGEST_TOKEN)?;
        // The program prints what it finds, even if that is locked; the secret itself is not needed.
        if !ended.stdout.trim().is_empty() {
            return Ok(());
        }
        let absent = KeyringError::Absent { what: self.purpose().name, key: self.key() };
        Err(ended.complaint().map_or(absent, |complaint| error_of_complaint(&complaint)))
    }

    /// Checks that the secret is there.
    #[cfg(target_os = "macos")]
    pub(crate) fn check_presence(self) -> Result<(), KeyringError> {
        let absent = KeyringError::Absent { what: self.purpose().name, key: self.key() };
        let ended = run_keyring_program(self.name(), "lookup", "", LONGEST_TOKEN)?;
        ended.status.success().then_some(()).ok_or(absent)
    }

    /// Stores the secret in place of an older one.
    pub(super) fn store(self, secret: &HiddenText) -> Result<(), KeyringError> {
        store_secret(self.name(), secret)
    }
}

/// Reads the secret of this name, or says why it is not there: a locked one and a missing one look
/// the same. The keyring may ask its user for a password meanwhile.
pub(super) fn look_up_sign_in(name: &str) -> Result<HiddenText, KeyringError> {
    let ended = run_keyring_program(name, "lookup", "", LONGEST_SIGN_IN)?;
    match ended.complaint() {
        _ if ended.status.success() => Ok(HiddenText::new(ended.stdout)),
        complaint => {
            Err(complaint.map_or(KeyringError::Locked, |complaint| error_of_complaint(&complaint)))
        }
    }
}

/// Stores a secret under this name, in place of an older one.
#[cfg(not(target_os = "macos"))]
pub(super) fn store_secret(name: &str, secret: &HiddenText) -> Result<(), KeyringError> {
    let ended = run_keyring_program(name, "store", secret.reveal(), LONGEST_TOKEN)?;
    match ended.complaint() {
        _ if ended.status.success() => Ok(()),
        Some(complaint) => Err(error_of_complaint(&complaint)),
        None => Err(KeyringError::Program(format!("failed ({})", ended.status))),
    }
}

/// Says how to store the secret: the keychain's program reads it from a terminal only.
#[cfg(target_os = "macos")]
pub(super) fn store_secret(name: &str, _secret: &HiddenText) -> Result<(), KeyringError> {
    Err(KeyringError::ByHand(name.to_owned()))
}

/// Removes the secret of this name. One that is not there is removed.
pub(super) fn clear_secret(name: &str) -> Result<(), KeyringError> {
    let ended = run_keyring_program(name, "clear", "", LONGEST_TOKEN)?;
    match ended.complaint() {
        Some(complaint) if !ended.status.success() => Err(error_of_complaint(&complaint)),
        _ => Ok(()),
    }
}

/// Runs the keyring's program about the secret of this name, of at most so many bytes. A secret
/// passes through a pipe, never through an argument.
fn run_keyring_program(
    name: &str,
    verb: &str,
    input: &str,
    longest: usize,
) -> Result<EndedProgram, KeyringError> {
    let mut command = Command::new(PROGRAM);
    if cfg!(target_os = "macos") {
        let verb = if verb == "clear" { "delete" } else { "find" };
        command.arg(format!("{verb}-generic-password")).args(["-s", "callgate", "-a", name]);
        command.args((verb == "find").then_some("-w"));
    } else {
        let label = (verb == "store").then_some("--label=callgate");
        command.arg(verb).args(label).args(["service", "callgate", "key", name]);
    }
    program::run_and_capture(command, input, PATIENCE, longest + LONGEST_OUTPUT).map_err(|error| {
        match error {
            ProgramError::NotStarted(why) if why.kind() == ErrorKind::NotFound => {
                KeyringError::NotInstalled
            }
            other => KeyringError::Program(other.to_string()),
        }
    })
}

/// Returns what a complaint of the program means.
fn error_of_complaint(complaint: &str) -> KeyringError {
    if complaint.contains("locked") {
        return KeyringError::Locked;
    }
    KeyringError::Unreachable(complaint.to_owned())
}

impl EndedProgram {
    /// Returns the last line of its complaints, without its name.
    fn complaint(&self) -> Option<String> {
        let line = self.stderr.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.strip_prefix("secret-tool: ").unwrap_or(line).trim().to_owned())
    }
}
