//! The commands for people, and the help.

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::{agent, ask, config, doctor, install, log, pair, rules, uninstall, up};

/// One small program for everything that passes between a coding agent, your code, your screen
/// and you.
///
/// It carries approvals: `callgate up` opens the desk at which your agents ask, and `callgate
/// install` lets them. Tools: a program built on the library `callgate-tools` lets an agent call
/// its functions. And sessions: `callgate agent` is an agent runtime for a front end.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true)]
struct Cli {
    /// Reads the settings in FILE instead of ~/.config/callgate/config.toml
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// One variant and one file for each command.
#[derive(Debug, Subcommand)]
enum Command {
    Agent(Box<agent::Args>),
    Ask(ask::Args),
    Doctor(doctor::Args),
    Install(install::Args),
    Log(log::Args),
    Pair(pair::Args),
    Rules(rules::Args),
    Uninstall(uninstall::Args),
    Up(up::Args),
}

/// Why a command failed; each kind has its exit code, as sysexits has them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What was asked for cannot be done.
    #[error("{0}")]
    Failed(String),
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] config::Problems),
    /// Nobody reads what we print, or it cannot be printed.
    #[error("cannot print: {0}")]
    Output(#[from] io::Error),
}

/// What a wrong command line ends with.
const USAGE: u8 = 64;
/// What wrong settings end with.
const SETTINGS: u8 = 78;

/// Reads the command line and does what it says.
pub(crate) fn run() -> ExitCode {
    let shown = match Cli::try_parse() {
        Ok(cli) => return cli.run(),
        Err(error) if error.use_stderr() => error.print().map(|()| ExitCode::from(USAGE)),
        Err(help) => help.print().map(|()| ExitCode::SUCCESS),
    };
    // A reader that has gone away is no failure of ours.
    shown.unwrap_or(ExitCode::SUCCESS)
}

impl Cli {
    fn run(self) -> ExitCode {
        let file = self.config.as_deref();
        let done = match self.command {
            None => Cli::command().print_help().map(|()| ExitCode::SUCCESS).map_err(Failure::from),
            Some(Command::Agent(args)) => args.run(file),
            Some(Command::Ask(args)) => args.run(file),
            Some(Command::Doctor(args)) => args.run(file),
            Some(Command::Install(args)) => args.run(file),
            Some(Command::Log(args)) => args.run(file),
            Some(Command::Pair(args)) => args.run(file),
            Some(Command::Rules(args)) => args.run(file),
            Some(Command::Uninstall(args)) => args.run(),
            Some(Command::Up(args)) => args.run(file),
        };
        done.unwrap_or_else(|failure| failure.tell())
    }
}

impl Failure {
    fn tell(&self) -> ExitCode {
        let code = match self {
            // A reader that has gone away is no failure of ours.
            Self::Output(error) if error.kind() == ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Self::Settings(_) => ExitCode::from(SETTINGS),
            Self::Failed(_) | Self::Output(_) => ExitCode::FAILURE,
        };
        // There is no other place to complain at.
        writeln!(io::stderr(), "callgate: {self}").ok();
        code
    }
}
