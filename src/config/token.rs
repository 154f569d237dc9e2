//! The bot's token and the model's key: where they are kept, and how they are kept secret.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use callgate_wire::HiddenText;

use crate::program;

/// The longest token, in bytes.
const LONGEST_TOKEN: usize = 1024;
/// How long a keyring may take: it may have to ask for a password first.
const PATIENCE: Duration = Duration::from_mins(1);
/// The command that reads the desktop's keyring.
#[cfg(not(target_os = "macos"))]
const KEYRING: [&str; 6] =
    ["secret-tool", "lookup", "service", "callgate", "key", "telegram-token"];
/// The command that reads the system's keychain.
#[cfg(target_os = "macos")]
const KEYRING: [&str; 7] =
    ["security", "find-generic-password", "-s", "callgate", "-a", "telegram-token", "-w"];

/// The command that stores the token in the keyring, after asking for it.
#[cfg(not(target_os = "macos"))]
const STORE: &str = "secret-tool store --label callgate service callgate key telegram-token";
/// The command that stores the token in the keychain, after asking for it.
#[cfg(target_os = "macos")]
const STORE: &str = "security add-generic-password -s callgate -a telegram-token -w";

/// What a secret is for: its name, where it comes from, and which characters it may have.
#[derive(Debug, Clone, Copy)]
struct SecretPurpose {
    name: &'static str,
    advice: &'static str,
    is_fine: fn(char) -> bool,
}

/// A token goes into an address, so it may contain only the characters of tokens.
const BOT: SecretPurpose = SecretPurpose {
    name: "token",
    advice: "BotFather's are like 123456:ABC-def",
    is_fine: |letter| letter.is_ascii_alphanumeric() || ":_-".contains(letter),
};

/// A key goes into a header.
const MODEL: SecretPurpose = SecretPurpose {
    name: "API key",
    advice: "the provider of the model gives you one",
    is_fine: |letter| letter.is_ascii_graphic(),
};

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenSource {
    /// In the environment.
    Environment(HiddenText),
    /// In the settings file at this path.
    Config(HiddenText, PathBuf),
    /// In a file of its own.
    File(PathBuf),
    /// Printed by a program.
    Command(Vec<String>),
    /// In the desktop's keyring.
    Keyring,
}

impl TokenSource {
    /// Reads the bot's token. It is read only when it is needed, so that other commands neither run
    /// a program nor fail.
    pub(crate) fn read(&self) -> Result<HiddenText, TokenError> {
        self.read_for(BOT)
    }

    /// Reads the key of the model's API.
    pub(crate) fn read_key(&self) -> Result<HiddenText, TokenError> {
        self.read_for(MODEL)
    }

    fn read_for(&self, purpose: SecretPurpose) -> Result<HiddenText, TokenError> {
        let what = purpose.name;
        let token = match self {
            Self::Environment(token) => token.reveal().to_owned(),
            Self::Config(token, path) => {
                let file = open(what, path)?;
                check_private(what, path, &file)?;
                token.reveal().to_owned()
            }
            Self::File(path) => read_private(what, path)?,
            Self::Command(words) => ask(what, words)?,
            Self::Keyring => ask_keyring(KEYRING[0])?,
        };
        checked(purpose, token.trim())
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
            Self::Keyring => f.write_str("the keyring"),
        }
    }
}

/// Why a secret could not be read. No text contains any part of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("cannot read the {what} in {}: {error}", path.display())]
    Unreadable { what: &'static str, path: PathBuf, error: io::Error },
    #[error("others can read the {what} in {path}; keep it to yourself: chmod 600 {path}")]
    Open { what: &'static str, path: String },
    #[error("the {what} in {} belongs to another user; own the file: chown it to yourself", path.display())]
    Foreign { what: &'static str, path: PathBuf },
    #[error("cannot get the {what}: `{program}` {why}; try it by hand")]
    Program { what: &'static str, program: String, why: String },
    #[error("the keyring has no token (`{program}` {why}); to store it there: {STORE}")]
    Keyring { program: String, why: String },
    #[error("the {what} is empty; {advice}")]
    Empty { what: &'static str, advice: &'static str },
    #[error("the {what} has characters that no {what} has; {advice}")]
    Odd { what: &'static str, advice: &'static str },
}

fn unreadable(what: &'static str, path: &Path) -> impl Fn(io::Error) -> TokenError {
    move |error| TokenError::Unreadable { what, path: path.to_owned(), error }
}

fn open(what: &'static str, path: &Path) -> Result<File, TokenError> {
    File::open(path).map_err(unreadable(what, path))
}

/// Checks that only its owner, who is us or root, can read a file with a secret.
fn check_private(what: &'static str, path: &Path, file: &File) -> Result<(), TokenError> {
    let found = file.metadata().map_err(unreadable(what, path))?;
    let us = rustix::process::geteuid().as_raw();
    match found.mode() & 0o077 {
        _ if found.uid() != us && found.uid() != 0 => {
            Err(TokenError::Foreign { what, path: path.to_owned() })
        }
        0 => Ok(()),
        _ => Err(TokenError::Open { what, path: path.display().to_string() }),
    }
}

fn read_private(what: &'static str, path: &Path) -> Result<String, TokenError> {
    let file = open(what, path)?;
    check_private(what, path, &file)?;
    let mut text = String::new();
    let read = file.take(LONGEST_TOKEN as u64 + 2).read_to_string(&mut text);
    read.map_err(unreadable(what, path))?;
    Ok(text)
}

fn ask_keyring(program: &str) -> Result<String, TokenError> {
    let mut words = KEYRING.map(str::to_owned);
    program.clone_into(&mut words[0]);
    ask(BOT.name, &words).map_err(|error| match error {
        TokenError::Program { program, why, .. } => TokenError::Keyring { program, why },
        other => other,
    })
}

/// Runs a program for its output. The secret passes through a pipe, never through an argument.
fn ask(what: &'static str, words: &[String]) -> Result<String, TokenError> {
    let (program, arguments) = words.split_first().map_or(("", words), |(p, rest)| (p, rest));
    let failed = |why: String| TokenError::Program { what, program: program.to_owned(), why };
    let mut command = Command::new(program);
    command.args(arguments);
    program::output(command, PATIENCE, LONGEST_TOKEN + 2).map_err(|error| failed(error.to_string()))
}

fn checked(purpose: SecretPurpose, token: &str) -> Result<HiddenText, TokenError> {
    let SecretPurpose { name: what, advice, is_fine } = purpose;
    if token.is_empty() {
        return Err(TokenError::Empty { what, advice });
    }
    if token.len() > LONGEST_TOKEN || !token.chars().all(is_fine) {
        return Err(TokenError::Odd { what, advice });
    }
    Ok(HiddenText::new(token))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A keyring that knows one secret.
    const SCRIPT: &str = "#!/bin/sh\n\
        [ \"$*\" = 'lookup service callgate key telegram-token' ] && echo 12:KEYRING\n";

    #[test]
    fn the_keyring_is_asked_for_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("secret-tool");
        fs::write(&program, SCRIPT).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
        assert_eq!(ask_keyring(program.to_str().unwrap()).unwrap(), "12:KEYRING\n");
        let error = ask_keyring("/bin/false").unwrap_err().to_string();
        let expected = "the keyring has no token (`/bin/false` failed (exit status: 1)); to store \
                        it there: secret-tool store --label callgate service callgate key \
                        telegram-token";
        assert_eq!(error, expected);
    }
}
