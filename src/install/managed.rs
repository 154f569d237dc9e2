//! `callgate install --managed` and its removal: hooks in the settings that an administrator makes
//! for all users, which neither a project nor a user can override.

pub(super) mod claude;
pub(super) mod codex;
mod program;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_hooks::claude_settings::{DROP_INS, MANAGED_FOLDER};
use callgate_hooks::hook_command::{self, path_text};
use callgate_wire::hook::agents::{CLAUDE, CODEX};
use rustix::process::geteuid;

use super::agent_choice::AgentChoice;
use super::agent_file::{AgentFile, FilePart};
use super::edit::WantedHook;
use super::{all_done, change_settings_file, install_hooks, outcome_line};
use crate::agents::CodingAgent;
use crate::agents::settings_file::SettingsFile;
use crate::failure::Failure;

/// Our own file among those that Claude Code merges. The last one wins, so its name has a high
/// number.
const CLAUDE_FILE: &str = "90-callgate.json";
/// The agents that have settings for all users.
const KNOWN: [CodingAgent; 2] = [&CLAUDE, &CODEX];
/// What Codex requires of every session.
const CODEX_FILE: &str = "/etc/codex/requirements.toml";

/// Installs the hooks for all users, and says what was done.
pub(super) fn install_for_all_users(
    choice: Option<AgentChoice>,
    program: &Path,
    is_dry: bool,
) -> Result<ExitCode, Failure> {
    check_root(is_dry)?;
    let mut failures = Vec::new();
    let mut out = io::stdout();
    for agent in managed_agents(choice)? {
        let file = managed_file(agent);
        let wanted = wanted_managed_hooks(agent, program)?;
        match change_settings_file(&file.place, || install_hooks(&file, &wanted, is_dry)) {
            Ok(done) => {
                writeln!(out, "{}", outcome_line(agent, &file.place, done.is_changed, is_dry))?;
                if let Some(hook) = wanted.first().filter(|_| done.is_changed) {
                    writeln!(out, "  command  {}", hook.command)?;
                }
            }
            Err(text) => failures.push(text),
        }
    }
    if let Some(note) = program::changeable_program_note(program) {
        writeln!(io::stdout(), "  note     {note}")?;
    }
    if failures.is_empty() && !is_dry {
        let text = "Other hooks, of users, projects and plugins, do not run any more. Every user \
                    starts `callgate up` and has rules of their own.\nTo remove the hooks: \
                    `callgate uninstall --managed`";
        writeln!(io::stdout(), "{text}")?;
    }
    all_done(&failures)
}

/// Returns true if the settings for all users have our hook for this agent.
pub(crate) fn has_ours(agent: CodingAgent) -> bool {
    let AgentFile { place, part, .. } = managed_file(agent);
    let seen = place.read().ok().flatten().filter(|_| KNOWN.contains(&agent));
    seen.is_some_and(|seen| part.has_ours(&seen.text))
}

pub(crate) fn managed_agents(choice: Option<AgentChoice>) -> Result<Vec<CodingAgent>, Failure> {
    match choice {
        Some(AgentChoice::One(agent)) if !KNOWN.contains(&agent) => {
            let text = "callgate knows no settings for all users of";
            Err(Failure::Failed(format!("{text} {}; it does of Claude Code and Codex", agent.name)))
        }
        Some(AgentChoice::One(agent)) => Ok(vec![agent]),
        // Which agents the users have is not known here.
        Some(AgentChoice::All) | None => Ok(KNOWN.to_vec()),
    }
}

/// Returns the file of the agent's settings for all users that has our hooks.
pub(crate) fn managed_file(agent: CodingAgent) -> AgentFile {
    let (path, part) = if *agent == CLAUDE {
        (Path::new(MANAGED_FOLDER).join(DROP_INS).join(CLAUDE_FILE), FilePart::ManagedClaude)
    } else {
        (PathBuf::from(CODEX_FILE), FilePart::ManagedCodex)
    };
    AgentFile { place: SettingsFile::for_everybody(path), part, is_target: true }
}

pub(crate) fn check_root(is_dry: bool) -> Result<(), Failure> {
    if is_dry || geteuid().is_root() {
        return Ok(());
    }
    Err("only root can change the settings of all users: run it with sudo".into())
}

/// Returns the hooks. They name no socket and no file: each user has their own, and no project sets
/// the environment of these hooks.
fn wanted_managed_hooks(agent: CodingAgent, program: &Path) -> Result<Vec<WantedHook>, Failure> {
    let program = path_text(program)?;
    let command = hook_command::build_hook_line(program, &[("--agent", agent.word)]);
    Ok(super::wanted_at_events(agent, &command))
}

#[cfg(test)]
mod tests;
