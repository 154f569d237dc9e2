//! Finds the CLI, and builds its command line.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgate_link::file::{find_program, is_program, program_folders};

use crate::ask::LaunchOptions;
use crate::gate::GateRegistration;
use crate::{ClaudeError, ClaudeSettings};

/// The oldest CLI that speaks the control protocol as it is used here: this version added verbatim
/// prompts.
const OLDEST: &str = "2.1.248";
/// Where installers put the CLI.
const USUAL_PLACES: [&str; 5] = [
    "~/.local/bin/claude",
    "~/.claude/local/claude",
    "~/.npm-global/bin/claude",
    "/usr/local/bin/claude",
    "/opt/homebrew/bin/claude",
];

/// Returns the path of the CLI that a call with these settings starts.
pub fn find_cli(settings: &ClaudeSettings) -> Result<PathBuf, ClaudeError> {
    let folders = program_folders(&std::env::var_os("PATH").unwrap_or_default());
    if let Some(cli) = &settings.cli {
        // A bare name is not left to the system, which would look for it in relative folders of
        // the `PATH`, too, from the folder of the project on.
        let found = match cli.components().nth(1) {
            Some(_) => std::fs::metadata(cli).map(|_| cli.clone()),
            None => find_program(cli, &folders).ok_or_else(|| ErrorKind::NotFound.into()),
        };
        return found.map_err(|source| ClaudeError::Start { program: cli.clone(), source });
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let usual = USUAL_PLACES.iter().map(|place| match place.strip_prefix("~/") {
        Some(below_home) => home.join(below_home),
        None => PathBuf::from(place),
    });
    find_program("claude", &folders)
        .or_else(|| usual.into_iter().find(|path| is_program(path)))
        .ok_or_else(|| ClaudeError::CliNotFound { looked_in: USUAL_PLACES.join(", ") })
}

/// Checks that the CLI is new enough.
pub(crate) fn check_version(found: Option<&str>) -> Result<(), ClaudeError> {
    let is_new_enough =
        found.and_then(version_numbers).zip(version_numbers(OLDEST)).is_some_and(|(f, o)| f >= o);
    if is_new_enough {
        return Ok(());
    }
    let found = found.unwrap_or("unknown").to_owned();
    Err(ClaudeError::CliTooOld { found, needed: OLDEST })
}

/// Returns the numbers of a version; what follows a `-` or a blank does not count.
fn version_numbers(version: &str) -> Option<Vec<u64>> {
    let version = version.split(['-', ' ', '+']).next()?;
    version.split('.').map(|number| number.parse().ok()).collect()
}

/// Returns the command that starts the CLI. `own` is the rule that allows the host's tools.
pub(crate) fn build_command(
    program: &Path,
    settings: &ClaudeSettings,
    launch: &LaunchOptions,
    servers: Option<&OsStr>,
    own: Option<String>,
    gate: Option<&GateRegistration>,
) -> Command {
    let mut command = Command::new(program);
    // With a prompt on its command line instead, the CLI would take no input while it runs: no
    // permissions and no interrupts.
    command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
    command.args(["--verbose", "--permission-prompt-tool", "stdio", "--strict-mcp-config"]);
    // The user's own mode and rules would answer before anybody is asked. The option is given even
    // if the list is empty: that keeps the project's hooks out, too.
    let sources: Vec<&str> = settings.sources.iter().map(|source| source.name()).collect();
    command.arg(format!("--setting-sources={}", sources.join(",")));
    command.args(["--permission-mode", settings.permission_mode.name()]);
    let allowed: Vec<String> = settings.allowed.iter().cloned().chain(own).collect();
    let schema = launch.output_schema.as_ref().map(ToString::to_string);
    let options: [(&str, Option<OsString>); 13] = [
        ("--mcp-config", servers.map(Into::into)),
        ("--allowedTools", joined_names(&allowed)),
        ("--disallowedTools", joined_names(&settings.denied)),
        ("--model", settings.model.as_ref().map(Into::into)),
        ("--fallback-model", settings.fallback_model.as_ref().map(Into::into)),
        ("--effort", settings.effort.map(|effort| effort.name().into())),
        ("--betas", joined_names(&settings.betas)),
        ("--system-prompt", settings.system_prompt.as_ref().map(Into::into)),
        ("--append-system-prompt", settings.append_system_prompt.as_ref().map(Into::into)),
        ("--resume", launch.resume.as_ref().map(Into::into)),
        ("--max-turns", settings.max_turns.map(|turns| turns.to_string().into())),
        ("--max-budget-usd", settings.budget_usd.map(|dollars| dollars.to_string().into())),
        ("--json-schema", schema.map(Into::into)),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            command.arg(option).arg(value);
        }
    }
    let folders = settings.folders.iter().map(|folder| ("--add-dir", folder));
    for (option, path) in folders.chain(settings.plugins.iter().map(|p| ("--plugin-dir", p))) {
        command.arg(option).arg(path);
    }
    let flags =
        [("--fork-session", launch.is_fork), ("--include-partial-messages", settings.partial)];
    command.args(flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag));
    command.args(&settings.arguments);
    set_environment(&mut command, settings, gate);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn joined_names(names: &[String]) -> Option<OsString> {
    (!names.is_empty()).then(|| names.join(",").into())
}

fn set_environment(
    command: &mut Command,
    settings: &ClaudeSettings,
    gate: Option<&GateRegistration>,
) {
    if settings.is_environment_clear {
        command.env_clear();
    }
    // A CLI that finds itself inside another refuses to start.
    command.env_remove("CLAUDECODE");
    // An answer may not be the last while agents run in the background: this reports when they have
    // ended.
    command.env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
    for (name, value) in &settings.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // The program that drives the CLI answers its permission requests: this value lets the desk
    // recognise such a CLI. It is set after the settings, which cannot replace it.
    match gate {
        Some(gate) => command.env("CALLGATE_GATED", gate.value()),
        // An inherited value would make the hooks of this CLI ask nobody, because another host
        // answers for the CLI above it.
        None => command.env_remove("CALLGATE_GATED"),
    };
    if let Some(folder) = &settings.folder {
        command.current_dir(folder);
    }
}

#[cfg(test)]
mod tests;
