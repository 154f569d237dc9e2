//! The commands for people, and the help.

mod completions;
mod man;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::agent::AgentArgs;
use crate::ask::AskArgs;
use crate::chat::ChatArgs;
use crate::config_command::ConfigArgs;
use crate::doctor::DoctorArgs;
use crate::failure::{Failure, USAGE, report_unused_problems};
use crate::install::InstallArgs;
use crate::log::LogArgs;
use crate::mcp::McpArgs;
use crate::open::OpenArgs;
use crate::pair::PairArgs;
use crate::relay_command::RelayArgs;
use crate::remote::RemoteArgs;
use crate::rules::RulesArgs;
use crate::status::StatusArgs;
use crate::stop::{self, StopArgs};
use crate::team_command::TeamArgs;
use crate::uninstall::UninstallArgs;
use crate::up::UpArgs;
use completions::CompletionsArgs;
use man::ManArgs;

/// One small program for everything that passes between a coding agent, your code, your screen
/// and you
///
/// Approvals: `callgate up` opens the desk at which your agents ask, and `callgate install` tells
/// them to. Sessions: `callgate chat` is an agent in the terminal, and `callgate agent` the runtime
/// for other front ends. Tools: with the library `callgate-tools` an agent calls functions of your
/// own program.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100, after_long_help = EXIT_CODES)]
struct Cli {
    /// Read the settings from FILE instead of ~/.config/callgate/config.toml
    #[arg(long, global = true, value_name = "FILE", display_order = 900)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

/// The end of the help.
const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 64 wrong command line, 78 wrong settings. `ask`, `chat` and
`doctor` have more to say with theirs: see their help.";

/// One variant and one file for each command, in the order of the help.
#[derive(Debug, Subcommand)]
enum CliCommand {
    Up(UpArgs),
    Status(StatusArgs),
    Stop(StopArgs),
    Open(OpenArgs),
    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Pair(PairArgs),
    Doctor(DoctorArgs),
    Config(ConfigArgs),
    Rules(RulesArgs),
    Remote(RemoteArgs),
    Team(TeamArgs),
    Log(Box<LogArgs>),
    Ask(AskArgs),
    Chat(ChatArgs),
    Agent(AgentArgs),
    Mcp(McpArgs),
    #[command(hide = true)]
    Relay(RelayArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Returns the commands for people.
pub(crate) fn build_commands() -> clap::Command {
    Cli::command()
}

/// Returns all commands. Those that agents start are hidden; `main` runs them before any command
/// line is parsed, unless an option precedes them.
fn all_commands() -> clap::Command {
    let machine = |name: &'static str, help: String| {
        let arguments = clap::Arg::new(ARGUMENTS)
            .num_args(..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .value_parser(clap::value_parser!(OsString));
        clap::Command::new(name)
            .hide(true)
            .override_help(help)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .arg(arguments)
    };
    build_commands()
        .subcommand(machine("hook", callgate_hooks::hook_help()))
        .subcommand(machine("bridge", callgate_tools::bridge::HELP.to_owned()))
}

/// The arguments of a command that agents start.
const ARGUMENTS: &str = "arguments";

pub(crate) fn run_command_line() -> ExitCode {
    let shown = match parse_command_line(std::env::args_os()) {
        Ok(CommandLine::ForPeople(cli)) => return cli.run_command(),
        Ok(CommandLine::Hook(arguments)) => return callgate_hooks::main(arguments),
        Ok(CommandLine::Bridge(arguments)) => return callgate_tools::bridge::main(arguments),
        Err(error) if error.use_stderr() => error.print().map(|()| ExitCode::from(USAGE)),
        Err(help) => help.print().map(|()| ExitCode::SUCCESS),
    };
    // A reader that has gone away is not a failure.
    shown.unwrap_or(ExitCode::SUCCESS)
}

#[derive(Debug)]
enum CommandLine {
    ForPeople(Box<Cli>),
    Hook(Vec<OsString>),
    Bridge(Vec<OsString>),
}

fn parse_command_line(
    words: impl IntoIterator<Item = OsString>,
) -> Result<CommandLine, clap::Error> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    if words.get(1).is_some_and(|word| word == "help") {
        // clap gives every command these options but its own `help`, which they do not change.
        words.retain(|word| word != "--help" && word != "-h");
        if words.iter().any(|word| word == "--version" || word == "-V") {
            words.remove(1);
        }
    }
    let matches = all_commands().try_get_matches_from(words)?;
    match matches.subcommand() {
        Some(("hook", hook)) => {
            // clap takes an option that precedes the word `hook`, which is handed on.
            let config = matches.get_one::<PathBuf>("config");
            let config = config.map(|file| ["--config".into(), file.clone().into_os_string()]);
            Ok(CommandLine::Hook(
                config.into_iter().flatten().chain(passed_arguments(hook)).collect(),
            ))
        }
        Some(("bridge", bridge)) => Ok(CommandLine::Bridge(passed_arguments(bridge).collect())),
        _ => Ok(CommandLine::ForPeople(Box::new(Cli::from_arg_matches(&matches)?))),
    }
}

fn passed_arguments(matches: &ArgMatches) -> impl Iterator<Item = OsString> {
    matches.get_many::<OsString>(ARGUMENTS).into_iter().flatten().cloned()
}

impl Cli {
    fn run_command(self) -> ExitCode {
        let file = self.config.as_deref();
        let done = match self.command {
            None => {
                build_commands().print_help().map(|()| ExitCode::SUCCESS).map_err(Failure::from)
            }
            Some(CliCommand::Agent(args)) => args.run(file),
            Some(CliCommand::Ask(args)) => args.run(file),
            Some(CliCommand::Chat(args)) => args.run(file),
            Some(CliCommand::Completions(args)) => args.run(build_commands()),
            Some(CliCommand::Config(args)) => args.run(file),
            Some(CliCommand::Doctor(args)) => args.run(file),
            Some(CliCommand::Install(args)) => args.run(file),
            Some(CliCommand::Log(args)) => args.run(file),
            Some(CliCommand::Man(args)) => args.run(build_commands()),
            Some(CliCommand::Mcp(args)) => args.run(file),
            Some(CliCommand::Open(args)) => args.run(file),
            Some(CliCommand::Pair(args)) => args.run(file),
            Some(CliCommand::Relay(args)) => args.run(file),
            Some(CliCommand::Remote(args)) => args.run(file),
            Some(CliCommand::Rules(args)) => args.run(file),
            Some(CliCommand::Team(args)) => args.run(file),
            Some(CliCommand::Status(args)) => args.run(file),
            Some(CliCommand::Stop(StopArgs {})) => stop::stop_desk(file),
            Some(CliCommand::Uninstall(args)) => {
                // `uninstall` needs no settings, but a file that somebody names must not be ignored
                // without a word.
                report_unused_problems(file);
                args.run()
            }
            Some(CliCommand::Up(args)) => args.run(file),
        };
        done.unwrap_or_else(|failure| failure.report())
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind as Shows;

    use super::*;

    /// Parses a command line that shows something instead of running, and returns what it shows.
    fn shown(words: &[String]) -> (Shows, String) {
        let words = std::iter::once("callgate").chain(words.iter().map(String::as_str));
        let error = parse_command_line(words.map(OsString::from)).unwrap_err();
        (error.kind(), error.to_string())
    }

    /// The words of every command and subcommand, the program itself included.
    fn every_command() -> Vec<(Vec<String>, clap::Command)> {
        let mut all = build_commands();
        all.build();
        let mut found = Vec::new();
        let mut left = vec![(Vec::new(), all)];
        while let Some((words, command)) = left.pop() {
            for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
                let words: Vec<String> =
                    words.iter().cloned().chain([sub.get_name().into()]).collect();
                left.push((words, sub.clone()));
            }
            found.push((words, command));
        }
        assert!(found.len() > 15, "{}", found.len());
        found
    }

    #[test]
    fn every_command_has_help_and_a_version() {
        build_commands().debug_assert();
        for (words, command) in every_command() {
            let with = |word: &str| -> Vec<String> {
                words.iter().cloned().chain([word.to_owned()]).collect()
            };
            let about = command.get_about().unwrap_or_default().to_string();
            let about = about.split_whitespace().next().unwrap();
            for help in [with("--help"), with("-h"), [vec!["help".into()], words.clone()].concat()]
            {
                let (kind, text) = shown(&help);
                assert_eq!(kind, Shows::DisplayHelp, "{help:?}");
                assert!(text.starts_with(about), "{help:?}: {text}");
            }
            for version in [with("--version"), with("-V")] {
                let (kind, text) = shown(&version);
                assert_eq!(kind, Shows::DisplayVersion, "{version:?}");
                assert!(text.ends_with(concat!(env!("CARGO_PKG_VERSION"), "\n")), "{text}");
            }
        }
    }

    #[test]
    fn the_command_help_has_help_and_a_version_too() {
        let check = |words: &str, kind: Shows, begins: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let (shown, text) = shown(&words);
            assert_eq!(shown, kind, "{words:?}");
            assert!(text.starts_with(begins), "{words:?}: {text}");
        };
        check("help --help", Shows::DisplayHelp, "One small program");
        check("help -h", Shows::DisplayHelp, "One small program");
        check("help log --help", Shows::DisplayHelp, "Show what was asked");
        check("help --version", Shows::DisplayVersion, "callgate 0.");
        check("help -V", Shows::DisplayVersion, "callgate 0.");
    }

    #[test]
    fn help_is_there_for_what_agents_start() {
        for name in ["hook", "bridge"] {
            let (kind, text) = shown(&["help".to_owned(), name.to_owned()]);
            assert_eq!(kind, Shows::DisplayHelp);
            assert!(text.contains(&format!("{name} [OPTIONS]")), "{text}");
        }
        let words = ["callgate", "--config", "/c", "hook", "--agent", "codex"].map(OsString::from);
        match parse_command_line(words).unwrap() {
            CommandLine::Hook(arguments) => {
                assert_eq!(arguments, ["--config", "/c", "--agent", "codex"]);
            }
            other => panic!("{other:?}"),
        }
    }

    /// One voice: a command begins with what it does, no text ends like a sentence, and no option
    /// is left without a word.
    #[test]
    fn all_help_texts_have_one_form() {
        for (words, command) in every_command() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let options = command.get_arguments().filter(|option| option.get_id() != "help");
            let texts = options.map(|option| {
                let text = option.get_help().map(ToString::to_string).unwrap_or_default();
                (option.get_id().to_string(), text)
            });
            for (of, text) in texts.chain([("about".to_owned(), about)]) {
                let is_capital = text.starts_with(|first: char| first.is_uppercase());
                assert!(is_capital && !text.ends_with('.'), "{words:?} {of}: {text:?}");
                assert!(text.len() <= 100, "{words:?} {of}: {text:?} is too long for a line");
            }
        }
    }

    #[test]
    fn only_what_belongs_there_is_below_a_heading() {
        let heading = |command: &str, option: &str| {
            let all = build_commands();
            let command = all.find_subcommand(command).unwrap();
            let option = command.get_arguments().find(|known| known.get_long() == Some(option));
            option.unwrap().get_help_heading().map(str::to_owned)
        };
        for (command, option) in [("up", "no-terminal"), ("up", "service"), ("log", "verify")] {
            assert_eq!(heading(command, option), None, "{command} --{option}");
        }
        assert!(heading("up", "socket").unwrap().starts_with("Settings"));
        assert_eq!(heading("log", "kind").as_deref(), Some("Which entries"));
    }

    #[test]
    fn an_unknown_option_is_named_with_the_nearest() {
        let check = |words: &str, named: &str, nearest: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let (_, text) = shown(&words);
            assert!(text.contains(named) && text.contains(nearest), "{text}");
        };
        check("log --folow", "'--folow'", "'--follow'");
        check("up --data-base x", "'--data-base'", "'--database'");
        check("instal", "'instal'", "'install'");
        check("rules chek", "'chek'", "'check'");
        check("--confg x up", "'--confg'", "'--config'");
        check("ask Deploy? --dance", "'--dance'", "Usage: callgate ask");
    }
}
