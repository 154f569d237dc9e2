//! `callgate hook`: what an agent starts to have a person asked. Dispatched before clap, so that
//! it starts at once; `callgate-hook` is the same by itself, and starts sooner still.

mod absent;

use std::cell::LazyCell;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use callgate_approval::asker::Settings;
use callgate_approval::hook::{Hook, misused};
use callgate_wire::desk::LONGEST_SECRET;
use callgate_wire::hook::Agent;

use crate::config::{HookConfig, HookFlags, HookSettings};

/// What a wrong command line ends with, as sysexits has it.
const USAGE_ERROR: u8 = 64;
const USAGE: &str = "usage: callgate hook [--agent claude|codex] [--config FILE] [--socket PATH] \
                     [--rules FILE]";
/// Claude Code sets this to 1 for its hooks where somebody sits at its terminal, else to 0.
const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
/// Whoever starts an agent and asks its user by another way sets this to a value that it has
/// registered at the desk.
const GATED: &str = "CALLGATE_GATED";

/// Runs the hook with its arguments: those that follow the word `hook`, or `callgate-hook`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(usage) => return misused(&usage, USAGE_ERROR),
    };
    let config = LazyCell::new(|| HookConfig::read(&options.settings));
    let hook = Hook {
        agent: options.agent,
        is_attended: env::var_os(ATTENDED).is_some_and(|value| value == "1"),
        settings_folder: settings_folder(options.agent),
        desk: &|| desk(&config),
        // What is too long is none of ours, and must not make a line too long.
        gated: env::var(GATED).ok().filter(|value| value.len() <= LONGEST_SECRET),
        without_desk: &|request| absent::answer(&config, request),
    };
    hook.main()
}

/// The folder of the agent's settings, where the environment names one. The desk may have been
/// started with another environment.
fn settings_folder(agent: Option<Agent>) -> Option<String> {
    let variable = match agent {
        Some(Agent::Codex) => "CODEX_HOME",
        _ => "CLAUDE_CONFIG_DIR",
    };
    let folder = env::var_os(variable).filter(|folder| !folder.is_empty())?;
    Some(std::path::absolute(folder).ok()?.to_str()?.to_owned())
}

fn desk(config: &HookConfig) -> Result<Settings, String> {
    let HookSettings { socket, timeout, grace } =
        config.desk().map_err(|problems| problems.one_line())?;
    Ok(Settings { socket, timeout, grace })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    agent: Option<Agent>,
    settings: HookFlags,
}

impl Options {
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let value = arguments.next();
            match (flag.to_str(), value) {
                (Some("--agent"), value) => {
                    let agent = value.as_ref().and_then(|name| Agent::parse(name.to_str()?));
                    options.agent =
                        Some(agent.ok_or_else(|| format!("there is no such agent; {USAGE}"))?);
                }
                (Some("--config"), Some(file)) => options.settings.config = Some(file.into()),
                (Some("--socket"), Some(path)) => options.settings.socket = Some(path.into()),
                (Some("--rules"), Some(file)) => options.settings.rules = Some(file.into()),
                _ => return Err(format!("cannot read the command line; {USAGE}")),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, expected: Result<Options, &str>) {
        let options = Options::parse(arguments.split_whitespace().map(OsString::from));
        let expected = expected.map_err(|reason| format!("{reason}; {USAGE}"));
        assert_eq!(options, expected, "{arguments}");
    }

    #[test]
    fn arguments_are_read_or_refused_with_a_reason() {
        check("", Ok(Options::default()));
        let settings = HookFlags {
            config: Some("/c.toml".into()),
            socket: Some("/s".into()),
            rules: Some("/r.toml".into()),
        };
        let codex = Options { agent: Some(Agent::Codex), settings };
        check("--agent codex --config /c.toml --socket /s --rules /r.toml", Ok(codex));
        let claude = Options { agent: Some(Agent::Claude), settings: HookFlags::default() };
        check("--agent claude", Ok(claude));
        check("--agent gemini", Err("there is no such agent"));
        check("--agent", Err("there is no such agent"));
        check("--config", Err("cannot read the command line"));
        check("--fast", Err("cannot read the command line"));
        check("now", Err("cannot read the command line"));
    }
}
