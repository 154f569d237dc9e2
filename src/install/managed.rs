//! `callgate install --managed` and its removal: hooks in the settings that an administrator makes
//! for all users, which neither a project nor a user can override.

mod claude;
mod codex;
mod program;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_hooks::claude_settings::{DROP_INS, MANAGED_FOLDER};
use callgate_hooks::hook_command::{self, path_text};
use callgate_wire::hook::agents::{CLAUDE, CODEX};
use rustix::process::geteuid;

use super::agent_choice::AgentChoice;
use super::edit::{InstalledSettings, WantedHook};
use super::{InstallError, RemovedHooks, all_done, change_settings_file};
use crate::agents::CodingAgent;
use crate::agents::hooks::EditRefusal;
use crate::agents::settings_file::{BackupChoice, SettingsFile};
use crate::failure::Failure;

/// Our own file among those that Claude Code merges; the last one wins.
const CLAUDE_FILE: &str = "90-callgate.json";
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
    for agent in managed_agents(choice)? {
        let place = managed_file(agent);
        let wanted = wanted_managed_hooks(agent, program)?;
        match change_settings_file(&place, || put_managed_hooks(agent, &place, &wanted, is_dry)) {
            Ok(said) => writeln!(io::stdout(), "{}: {said}", agent.name)?,
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

/// Removes the hooks for all users, and says what was done.
pub(crate) fn uninstall_for_all_users(
    choice: AgentChoice,
    is_dry: bool,
) -> Result<ExitCode, Failure> {
    check_root(is_dry)?;
    let mut failures = Vec::new();
    for agent in managed_agents(Some(choice))? {
        let place = managed_file(agent);
        match change_settings_file(&place, || remove_managed_hooks(agent, &place, is_dry)) {
            Ok(said) => writeln!(io::stdout(), "{}: {said}", agent.name)?,
            Err(text) => failures.push(text),
        }
    }
    all_done(&failures)
}

/// Returns true if the settings for all users have our hook for this agent.
pub(crate) fn has_ours(agent: CodingAgent) -> bool {
    let Ok(Some(seen)) = managed_file(agent).read() else { return false };
    match agent.word {
        "claude" => super::has_ours(&seen.text),
        "codex" => codex::has_ours(&seen.text),
        _ => false,
    }
}

fn managed_agents(choice: Option<AgentChoice>) -> Result<Vec<CodingAgent>, Failure> {
    let known: [CodingAgent; 2] = [&CLAUDE, &CODEX];
    match choice {
        Some(AgentChoice::One(agent)) if !known.contains(&agent) => {
            let text = "callgate knows no settings for all users of";
            Err(Failure::Failed(format!("{text} {}; it does of Claude Code and Codex", agent.name)))
        }
        Some(AgentChoice::One(agent)) => Ok(vec![agent]),
        // Which agents the users have is not known here.
        Some(AgentChoice::All) | None => Ok(known.to_vec()),
    }
}

/// Returns the file of the agent's settings for all users that has our hooks.
pub(crate) fn managed_file(agent: CodingAgent) -> SettingsFile {
    SettingsFile::for_everybody(match agent.word {
        "claude" => Path::new(MANAGED_FOLDER).join(DROP_INS).join(CLAUDE_FILE),
        _ => PathBuf::from(CODEX_FILE),
    })
}

fn check_root(is_dry: bool) -> Result<(), Failure> {
    if is_dry || geteuid().is_root() {
        return Ok(());
    }
    let text = "only root can change the settings of all users: run it with sudo";
    Err(Failure::Failed(text.to_owned()))
}

/// Returns the hooks. They name no socket and no file: each user has their own, and no project sets
/// the environment of these hooks.
fn wanted_managed_hooks(agent: CodingAgent, program: &Path) -> Result<Vec<WantedHook>, Failure> {
    let program = path_text(program).map_err(Failure::Failed)?;
    let command = hook_command::build_hook_line(program, &[("--agent", agent.word)]);
    Ok(super::wanted_at_events(agent, &command))
}

fn with_hooks(
    agent: CodingAgent,
    text: &str,
    wanted: &[WantedHook],
) -> Result<InstalledSettings, EditRefusal> {
    match agent.word {
        "claude" => claude::install_claude_hooks(text, wanted),
        _ => codex::install_codex_hooks(text, wanted),
    }
}

fn put_managed_hooks(
    agent: CodingAgent,
    place: &SettingsFile,
    wanted: &[WantedHook],
    is_dry: bool,
) -> Result<String, InstallError> {
    let seen = place.read()?;
    let before = seen.as_ref().map_or("", |seen| seen.text.as_str());
    let installed = with_hooks(agent, before, wanted)?;
    let path = place.path().display();
    if seen.is_some() && installed.text == before {
        return Ok(format!("{path} is up to date"));
    }
    let had_ours = match agent.word {
        "claude" => super::has_ours(before),
        _ => codex::has_ours(before),
    };
    let backup =
        if seen.is_some() && !had_ours { BackupChoice::Write } else { BackupChoice::Leave };
    if !is_dry {
        place.write(seen.as_ref(), &installed.text, backup)?;
    }
    let what = if is_dry { "would change" } else { "changed" };
    let command = wanted.first().map_or("", |hook| hook.command.as_str());
    Ok(format!("{what} {path}\n  command  {command}"))
}

fn remove_managed_hooks(
    agent: CodingAgent,
    place: &SettingsFile,
    is_dry: bool,
) -> Result<String, InstallError> {
    let Some(seen) = place.read()?.filter(|seen| !seen.text.trim().is_empty()) else {
        return Ok(RemovedHooks::Nothing.sentence(place, is_dry));
    };
    let backup = place.read_backup();
    let removed = match agent.word {
        "claude" => claude::uninstall_claude_hooks(&seen.text, backup.as_deref())?,
        _ => codex::uninstall_codex_hooks(&seen.text, backup.as_deref())?,
    };
    let said = removed.sentence(place, is_dry);
    if is_dry {
        return Ok(said);
    }
    removed.write_to_file(place, &seen)?;
    Ok(said)
}

#[cfg(test)]
mod tests;
