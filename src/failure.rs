//! Why a command failed, and how that is reported to its user.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_client::DeskError;
use callgate_store::StoreError;
use callgate_team_store::TeamStoreError;

use crate::config::{ConfigProblems, DeskFlags, load_config};

/// The exit code for a wrong command line, as sysexits has it.
pub(crate) const USAGE: u8 = 64;
/// The exit code for wrong settings, as sysexits has it.
const SETTINGS: u8 = 78;

/// Why a command failed. Each kind has its exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command could not do its work.
    #[error("{0}")]
    Failed(String),
    /// The command line is wrong in a way that its parser cannot see.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Settings(#[from] ConfigProblems),
    /// The ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] StoreError),
    /// The desk cannot be reached, or does not answer.
    #[error(transparent)]
    Desk(#[from] DeskError),
    #[error(transparent)]
    TeamStore(#[from] TeamStoreError),
    /// Nobody reads the output, or it cannot be written.
    #[error("cannot print: {0}")]
    Output(#[from] io::Error),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }
}

impl Failure {
    pub(crate) fn report(&self) -> ExitCode {
        let code = match self {
            // A reader that has gone away is not a failure.
            Self::Output(error) if error.kind() == ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Self::Usage(_) => ExitCode::from(USAGE),
            Self::Settings(_) => ExitCode::from(SETTINGS),
            _ => ExitCode::FAILURE,
        };
        write_error_line(&self.to_string());
        code
    }
}

/// Writes one line to standard error, after the program's name. It is one write, so that the lines
/// of several processes at one terminal or in one file do not mix.
pub(crate) fn write_error_line(line: &str) {
    // There is no other place to report it.
    io::stderr().write_all(format!("callgate: {line}\n").as_bytes()).ok();
}

/// Reports problems of the settings for a command that can do its work without them.
pub(crate) fn report_unused_problems(file: Option<&Path>) {
    if let Err(problems) = load_config(file, &DeskFlags::default()) {
        write_error_line(&format!("the settings are wrong: {}", problems.one_line()));
    }
}
