//! The commands for people, and the help.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// One small program for everything that passes between a coding agent, your code, your screen
/// and you.
///
/// Today it carries tools: a program built on the library `callgate-tools` lets an agent call its
/// functions, and `callgate bridge` is what the agent starts for that.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true)]
struct Cli {}

/// What a wrong command line ends with, as sysexits has it.
const USAGE: u8 = 64;

/// Reads the command line and does what it says.
pub(crate) fn run() -> ExitCode {
    let shown = match Cli::try_parse() {
        Ok(Cli {}) => Cli::command().print_help().map(|()| ExitCode::SUCCESS),
        Err(error) if error.use_stderr() => error.print().map(|()| ExitCode::from(USAGE)),
        Err(help) => help.print().map(|()| ExitCode::SUCCESS),
    };
    // A reader that has gone away is no failure of ours.
    shown.unwrap_or(ExitCode::SUCCESS)
}
