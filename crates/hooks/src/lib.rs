//! `callgate hook`: the program that an agent starts at each event. It is dispatched before clap,
//! so that it starts quickly; the separate program `callgate-hook` starts even sooner.

mod absent;
pub mod claude_settings;
pub mod hook_command;
mod settings_change;

use std::cell::LazyCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use callgate_approval::asker::AskerSettings;
use callgate_approval::hook::{HookCommand, serve_misused};
use callgate_settings::{HookConfig, HookFlags, Surroundings};
use callgate_surroundings::process_surroundings;
use callgate_wire::desk::LONGEST_SECRET;
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::{AGENTS, CLAUDE};

/// The exit code for a wrong command line, as sysexits has it.
const USAGE_ERROR: u8 = 64;
const USAGE: &str =
    "usage: callgate hook [--agent NAME] [--config FILE] [--socket PATH] [--rules FILE]";
/// What the hook is for, in one line.
pub const ABOUT: &str = "Answer one event of a coding agent";
/// What the hook is for, in a few sentences.
pub const LONG_ABOUT: &str = "\
Agents start this program before every tool call, with the event as JSON on standard input. It
applies your rules, asks you where they or the agent want it, and prints the decision, if there is
one, on standard output. `callgate install` writes its command into the settings of your agents.";
/// The options of the hook: flag, name of the value, and what it does.
pub const OPTIONS: [(&str, &str, &str); 4] = [
    (
        "--agent",
        "AGENT",
        "The agent in whose settings the hook is: claude, codex, gemini and others",
    ),
    ("--config", "FILE", "Read the settings from FILE instead of ~/.config/callgate/config.toml"),
    ("--socket", "PATH", "The socket of the desk that is asked"),
    ("--rules", "FILE", "The file with your rules, for when no desk runs"),
];
/// Claude Code sets this to 1 for its hooks if somebody is at its terminal, else to 0.
const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// A program that starts an agent and asks its user in another way sets this to a value that it has
/// registered at the desk.
const GATED: &str = "CALLGATE_GATED";

/// Runs the hook with its arguments: those that follow the word `hook`, or `callgate-hook`.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let options = match HookInvocation::parse(arguments) {
        Ok(HookInvocation::Serve(options)) => options,
        Ok(HookInvocation::Help) => return print_to_stdout(&hook_help()),
        Ok(HookInvocation::Version) => {
            return print_to_stdout(concat!("callgate-hook ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Err((agent, usage)) => return serve_misused(agent, &usage, USAGE_ERROR),
    };
    let around = process_surroundings();
    let variable = |name: &str| (around.variable)(name)?.into_string().ok();
    let config =
        // Read when they are first needed: wrong settings must not disturb an event that needs
        // none.
        LazyCell::new(|| HookConfig::read_settings(&options.settings, process_surroundings()));
    let hook = HookCommand {
        agent: options.agent,
        variable: &variable,
        is_attended: variable(ATTENDED).is_some_and(|value| value == "1"),
        settings_folder: settings_folder(options.agent, &around),
        desk: &|| asker_settings(&config),
        // A longer value is not ours, and must not make the line too long.
        gated: variable(GATED).filter(|value| value.len() <= LONGEST_SECRET),
        settings_change: &|source, file| settings_change::refusal_reason(&around, source, file),
        without_desk: &|request| absent::answer_check(&config, request),
        by_rules: &|request| absent::by_rules(options.settings.clone(), request.clone()),
    };
    hook.main()
}

/// Returns the folder of the agent's settings, if the environment names one. The desk may have been
/// started with another environment.
fn settings_folder(agent: Option<&AgentProfile>, around: &Surroundings) -> Option<String> {
    let folder = around.variable(agent.unwrap_or(&CLAUDE).settings.variable?)?;
    Some(std::path::absolute(folder).ok()?.to_str()?.to_owned())
}

fn asker_settings(config: &HookConfig) -> Result<AskerSettings, String> {
    let settings = config.asker_settings().map_err(|problems| problems.one_line())?;
    if let Some(problems) = config.unused_problems() {
        // Agents ignore it, and a person who looks finds it. With standard error closed nobody can
        // be told.
        writeln!(io::stderr(), "callgate hook: the settings are wrong: {problems}").ok();
    }
    Ok(settings)
}

/// Returns the help, in the form that clap gives to the help of the other commands.
pub fn hook_help() -> String {
    let option =
        |(flag, value, about)| format!("      {:<16}  {about}\n", format!("{flag} <{value}>"));
    [
        format!("{ABOUT}\n\n{LONG_ABOUT}\n\nUsage: callgate hook [OPTIONS]\n"),
        "       callgate-hook [OPTIONS]\n\nOptions:\n".to_owned(),
        OPTIONS.map(option).concat(),
        "  -h, --help            Print help\n  -V, --version         Print version\n".to_owned(),
    ]
    .concat()
}

fn print_to_stdout(text: &str) -> ExitCode {
    // A reader that has gone away is not a failure.
    io::stdout().write_all(text.as_bytes()).ok();
    ExitCode::SUCCESS
}

/// A command line of the hook, parsed.
#[derive(Debug, PartialEq, Eq)]
enum HookInvocation {
    Serve(HookOptions),
    Help,
    Version,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct HookOptions {
    agent: Option<&'static AgentProfile>,
    settings: HookFlags,
}

/// What is wrong with a command line, and for which agent it is, if it says so. The agent decides
/// in which form the refusal is printed.
type Misuse = (Option<&'static AgentProfile>, String);

impl HookInvocation {
    /// Parses the arguments by hand, because clap would make the hook start later.
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Misuse> {
        let mut options = HookOptions::default();
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next();
            let done = match flag.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--version" | "-V") => return Ok(Self::Version),
                Some("--agent") => {
                    parse_agent(value().as_deref()).map(|agent| options.agent = Some(agent))
                }
                Some("--config") => {
                    parse_path(&flag, value()).map(|path| options.settings.config = Some(path))
                }
                Some("--socket") => {
                    parse_path(&flag, value()).map(|path| options.settings.socket = Some(path))
                }
                Some("--rules") => {
                    parse_path(&flag, value()).map(|path| options.settings.rules = Some(path))
                }
                _ => Err(unknown_argument_error(&flag.to_string_lossy())),
            };
            done.map_err(|usage| (options.agent, usage))?;
        }
        Ok(Self::Serve(options))
    }
}

fn parse_agent(value: Option<&OsStr>) -> Result<&'static AgentProfile, String> {
    let found = value.and_then(|name| AgentProfile::find(name.to_str()?));
    let known = || AGENTS.map(|agent| agent.word).join(", ");
    found.ok_or_else(|| format!("there is no such agent, only {}; {USAGE}", known()))
}

fn parse_path(flag: &OsStr, value: Option<OsString>) -> Result<PathBuf, String> {
    let missing = || format!("{} needs a path after it; {USAGE}", flag.to_string_lossy());
    value.map(PathBuf::from).ok_or_else(missing)
}

/// Returns the error for an unknown argument, with the option that is spelled most like it.
fn unknown_argument_error(argument: &str) -> String {
    let name = argument.split('=').next().unwrap_or(argument);
    let distance = |flag: &str| strsim::damerau_levenshtein(name, flag);
    let nearest = OPTIONS.into_iter().map(|(flag, ..)| flag).min_by_key(|flag| distance(flag));
    match nearest.filter(|flag| distance(flag) <= 2) {
        Some(flag) => format!("unknown argument {argument}: did you mean {flag}? {USAGE}"),
        None => format!("unknown argument {argument}; {USAGE}"),
    }
}

#[cfg(test)]
mod tests;
