//! Reads a secret from where the settings say that it is kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use callgate_settings::TokenSource;
use callgate_settings::token_source::{LONGEST_TOKEN, SecretPurpose};
use callgate_wire::HiddenText;
use rustix::process::geteuid;

use super::keyring::{PATIENCE, look_up};
use crate::program;

/// Reads a secret from where it is kept. It is read only when it is needed, so that other commands
/// neither run a program nor fail. No error contains any part of it.
pub(crate) fn read_secret(
    source: &TokenSource,
    purpose: SecretPurpose,
) -> Result<HiddenText, String> {
    let what = purpose.name;
    let token = match source {
        TokenSource::Environment(token) => token.reveal().to_owned(),
        TokenSource::Config(token, path) => {
            // The token was read with the settings, before anybody looked at who else can read
            // them.
            open_private(what, path)?;
            token.reveal().to_owned()
        }
        TokenSource::File(path) => {
            let file = open_private(what, path)?;
            let mut text = String::new();
            // Two more bytes are read, because a line end may follow the longest token.
            let read = file.take(LONGEST_TOKEN as u64 + 2).read_to_string(&mut text);
            read.map_err(|error| unreadable_file(what, path, &error))?;
            text
        }
        TokenSource::Command(words) => run_token_program(what, words)?,
        TokenSource::Keyring(entry) => look_up(*entry).map_err(|error| error.to_string())?,
    };
    // It is trimmed because editors and `echo` leave a line end.
    purpose.check_secret(token.trim())
}

fn unreadable_file(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot read the {what} in {}: {error}", path.display())
}

/// Opens a file with a secret, which only its owner, who is us or root, may be able to read.
fn open_private(what: &str, path: &Path) -> Result<File, String> {
    // The open file is asked for its owner and mode, because the path may lead to another one by
    // then.
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (found, file) = opened.map_err(|error| unreadable_file(what, path, &error))?;
    let shown = path.display();
    if found.uid() != geteuid().as_raw() && found.uid() != 0 {
        return Err(format!(
            "the {what} in {shown} belongs to another user; own the file: chown it to yourself"
        ));
    }
    if found.mode() & 0o077 != 0 {
        return Err(format!(
            "others can read the {what} in {shown}; keep it to yourself: chmod 600 {shown}"
        ));
    }
    Ok(file)
}

/// Runs a program for its output. The secret passes through a pipe, never through an argument.
fn run_token_program(what: &str, words: &[String]) -> Result<String, String> {
    let (program, arguments) = words.split_first().map_or(("", words), |(p, rest)| (p, rest));
    let mut command = Command::new(program);
    command.args(arguments);
    program::run_for_output(command, PATIENCE, LONGEST_TOKEN + 2)
        .map_err(|why| format!("cannot get the {what}: `{program}` {why}; try it by hand"))
}
