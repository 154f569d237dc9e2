//! The bot's token and the model's key: where they are kept, and how they are read.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_settings::TokenSource;
use callgate_settings::token_source::{
    BOT, CLIENT, DATABASE, LONGEST_TOKEN, MODEL, SecretError, SecretPurpose,
};
use callgate_wire::HiddenText;

use super::keyring::{KeyringError, PATIENCE, look_up};
use crate::program;

/// Reads a secret from where it is kept. It is read only when it is needed, so that other commands
/// neither run a program nor fail.
pub(crate) trait ReadSecret {
    fn read_secret(&self, purpose: SecretPurpose) -> Result<HiddenText, TokenError>;

    /// Reads the bot's token.
    fn read_token(&self) -> Result<HiddenText, TokenError> {
        self.read_secret(BOT)
    }

    /// Reads the key of the model's API.
    fn read_key(&self) -> Result<HiddenText, TokenError> {
        self.read_secret(MODEL)
    }

    /// Reads the secret of this desk at a provider of accounts.
    fn read_client_secret(&self) -> Result<HiddenText, TokenError> {
        self.read_secret(CLIENT)
    }

    /// Reads the URL of the team's database.
    fn read_database_url(&self) -> Result<HiddenText, TokenError> {
        self.read_secret(DATABASE)
    }
}

impl ReadSecret for TokenSource {
    fn read_secret(&self, purpose: SecretPurpose) -> Result<HiddenText, TokenError> {
        let what = purpose.name;
        let token = match self {
            Self::Environment(token) => token.reveal().to_owned(),
            Self::Config(token, path) => {
                let file = open_token_file(what, path)?;
                check_private(what, path, &file)?;
                token.reveal().to_owned()
            }
            Self::File(path) => read_private(what, path)?,
            Self::Command(words) => run_token_program(what, words)?,
            Self::Keyring(entry) => look_up(*entry)?,
        };
        Ok(purpose.check_secret(token.trim())?)
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
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    #[error(transparent)]
    Wrong(#[from] SecretError),
}

fn unreadable_error(what: &'static str, path: &Path) -> impl Fn(io::Error) -> TokenError {
    move |error| TokenError::Unreadable { what, path: path.to_owned(), error }
}

fn open_token_file(what: &'static str, path: &Path) -> Result<File, TokenError> {
    File::open(path).map_err(unreadable_error(what, path))
}

/// Checks that only its owner, who is us or root, can read a file with a secret.
fn check_private(what: &'static str, path: &Path, file: &File) -> Result<(), TokenError> {
    let found = file.metadata().map_err(unreadable_error(what, path))?;
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
    let file = open_token_file(what, path)?;
    check_private(what, path, &file)?;
    let mut text = String::new();
    let read = file.take(LONGEST_TOKEN as u64 + 2).read_to_string(&mut text);
    read.map_err(unreadable_error(what, path))?;
    Ok(text)
}

/// Runs a program for its output. The secret passes through a pipe, never through an argument.
fn run_token_program(what: &'static str, words: &[String]) -> Result<String, TokenError> {
    let (program, arguments) = words.split_first().map_or(("", words), |(p, rest)| (p, rest));
    let failed = |why: String| TokenError::Program { what, program: program.to_owned(), why };
    let mut command = Command::new(program);
    command.args(arguments);
    program::run_for_output(command, PATIENCE, LONGEST_TOKEN + 2)
        .map_err(|error| failed(error.to_string()))
}
