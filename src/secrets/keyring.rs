//! The secrets in the desktop's keyring, reached through a program of the system.

use std::io::ErrorKind;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use callgate_settings::KeyringEntry;
use callgate_settings::keys::keyring_key;
use callgate_settings::token_source::LONGEST_TOKEN;
use callgate_wire::HiddenText;

use crate::program::{self, EndedProgram, ProgramError};

/// The program that reaches the keyring.
const PROGRAM: &str = "secret-tool";
/// The most that the program prints beside a secret.
const LONGEST_OUTPUT: usize = 4096;
/// The longest sign-in, in bytes: it has to fit into a pipe.
pub(super) const LONGEST_SIGN_IN: usize = 60 * 1024;

/// How long a keyring may take: it may have to ask for a password first.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

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
}

/// Reads the secret. The keyring may ask its user for a password meanwhile.
pub(super) fn look_up(entry: KeyringEntry) -> Result<String, KeyringError> {
    let ended = run_keyring_program(entry.name(), "lookup", "", LONGEST_TOKEN)?;
    // A locked secret and a missing one look the same.
    ended.output_or(|_| check_presence(entry).err().unwrap_or(KeyringError::Locked))
}

/// Checks that the secret is there, without asking anybody for a password.
pub(crate) fn check_presence(entry: KeyringEntry) -> Result<(), KeyringError> {
    let ended = run_keyring_program(entry.name(), "search", "", LONGEST_TOKEN)?;
    // The program prints what it finds, even if that is locked; the secret itself is not needed.
    if !ended.stdout.trim().is_empty() {
        return Ok(());
    }
    Err(match ended.complaint() {
        Some(complaint) => error_of_complaint(complaint),
        None => KeyringError::Absent { what: entry.purpose().name, key: keyring_key(entry) },
    })
}

/// Reads the secret of this name, or says why it is not there: a locked one and a missing one look
/// the same. The keyring may ask its user for a password meanwhile.
pub(super) fn look_up_sign_in(name: &str) -> Result<HiddenText, KeyringError> {
    let ended = run_keyring_program(name, "lookup", "", LONGEST_SIGN_IN)?;
    ended.output_or(|_| KeyringError::Locked).map(HiddenText::new)
}

/// Stores a secret under this name, in place of an older one.
pub(crate) fn store_secret(name: &str, secret: &HiddenText) -> Result<(), KeyringError> {
    let ended = run_keyring_program(name, "store", secret.reveal(), LONGEST_TOKEN)?;
    ended.output_or(|status| KeyringError::Program(format!("failed ({status})"))).map(drop)
}

/// Removes the secret of this name. One that is not there is removed.
pub(super) fn clear_secret(name: &str) -> Result<(), KeyringError> {
    let ended = run_keyring_program(name, "clear", "", LONGEST_TOKEN)?;
    if ended.complaint().is_none() {
        return Ok(());
    }
    ended.output_or(|_| KeyringError::Locked).map(drop)
}

/// Runs the keyring's program about the secret of this name, of at most this many bytes. A secret
/// passes through a pipe, never through an argument.
fn run_keyring_program(
    name: &str,
    verb: &str,
    input: &str,
    longest: usize,
) -> Result<EndedProgram, KeyringError> {
    let mut command = Command::new(PROGRAM);
    let label = (verb == "store").then_some("--label=callgate");
    command.arg(verb).args(label).args(["service", "callgate", "key", name]);
    program::run_and_capture(command, input, PATIENCE, longest + LONGEST_OUTPUT).map_err(|error| {
        match error {
            ProgramError::NotStarted(why) if why.kind() == ErrorKind::NotFound => {
                KeyringError::NotInstalled
            }
            other => KeyringError::Program(other.to_string()),
        }
    })
}

fn error_of_complaint(complaint: String) -> KeyringError {
    let is_locked = complaint.contains("locked");
    if is_locked { KeyringError::Locked } else { KeyringError::Unreachable(complaint) }
}

impl EndedProgram {
    /// Returns what the program printed if it succeeded, else what it complains about, or what its
    /// failure without a word means.
    fn output_or(
        self,
        meaning: impl FnOnce(ExitStatus) -> KeyringError,
    ) -> Result<String, KeyringError> {
        match self.complaint() {
            _ if self.status.success() => Ok(self.stdout),
            Some(complaint) => Err(error_of_complaint(complaint)),
            None => Err(meaning(self.status)),
        }
    }

    /// Returns the last line of its complaints, without its name.
    fn complaint(&self) -> Option<String> {
        let line = self.stderr.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.strip_prefix("secret-tool: ").unwrap_or(line).trim().to_owned())
    }
}
