//! The coding agents that run our hook: where each keeps its settings, which hooks these hold, and
//! in which mode it starts.

pub(crate) mod codex;
pub(crate) mod failure_words;
pub(crate) mod hooks;
pub(crate) mod json;
mod made_folders;
pub(crate) mod settings_file;
pub(crate) mod starting_mode;

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use callgate_link::file::{find_program, program_folders};
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::CLAUDE;

use crate::config::Surroundings;
use crate::program;

/// How long `claude --version` may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first Claude Code whose `-p` runs ask `PermissionRequest` hooks. It also knows
/// `PermissionDenied` and `ConfigChange`, and starts hooks without a shell; an older one may refuse
/// a settings file with an event that it does not know.
const FIRST_THAT_ASKS: [u32; 3] = [2, 1, 268];
/// The events that an older one does not know.
const NOT_IN_OLD_CLAUDE: [&str; 2] = ["PermissionDenied", "ConfigChange"];

pub(crate) type CodingAgent = &'static AgentProfile;

/// Whose settings: those of the user, or those of the project in the working folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsScope {
    User,
    Project,
}

/// An agent on this machine: its settings files, and what its version accepts.
pub(crate) trait AgentOnDisk {
    /// Returns true if it is on this machine: its program is on PATH, or it has settings.
    fn is_here(&self, around: &Surroundings) -> bool;
    fn has_folder(&self, scope: SettingsScope, around: &Surroundings) -> bool;
    /// Returns the folder with its settings; `None` without a home folder, or if the agent has no
    /// such folder.
    fn settings_folder(&self, scope: SettingsScope, around: &Surroundings) -> Option<PathBuf>;
    /// Returns the files in that folder that have something of ours.
    fn settings_files(&self, scope: SettingsScope) -> &'static [&'static str];
    /// Returns true if the agent on PATH is a Claude Code that does not know everything that we
    /// install.
    fn is_old_here(&self) -> bool;
    /// Returns true if the agent can start the program of a hook itself, without a shell.
    fn starts_directly(&self, is_old: bool) -> bool;
    /// Returns the events to install, and how long the agent is to wait for each. `is_old` is true
    /// for a Claude Code that does not know all of them.
    fn wanted_events(&self, is_old: bool) -> Vec<(&'static str, Duration)>;
}

impl AgentOnDisk for AgentProfile {
    fn is_here(&self, around: &Surroundings) -> bool {
        let path = around.variable("PATH").unwrap_or_default();
        let folders = program_folders(&path);
        let is_on_path = |name: &&str| find_program(name, &folders).is_some();
        self.programs.iter().any(is_on_path) || self.has_folder(SettingsScope::User, around)
    }

    fn has_folder(&self, scope: SettingsScope, around: &Surroundings) -> bool {
        self.settings_folder(scope, around).is_some_and(|folder| folder.is_dir())
    }

    fn settings_folder(&self, scope: SettingsScope, around: &Surroundings) -> Option<PathBuf> {
        match scope {
            SettingsScope::Project => Some(around.absolute(self.settings.project_folder?.as_ref())),
            SettingsScope::User => around.agent_folder(&self.settings),
        }
    }

    fn settings_files(&self, scope: SettingsScope) -> &'static [&'static str] {
        match scope {
            SettingsScope::User => self.settings.files,
            SettingsScope::Project => self.settings.project_files,
        }
    }

    fn is_old_here(&self) -> bool {
        *self == CLAUDE && claude_version().is_some_and(|it| is_old_claude(&it))
    }

    fn starts_directly(&self, is_old: bool) -> bool {
        // The others have no form for a program with its arguments, so they start a shell.
        *self == CLAUDE && !is_old
    }

    fn wanted_events(&self, is_old: bool) -> Vec<(&'static str, Duration)> {
        let is_known = |name: &str| !is_old || !NOT_IN_OLD_CLAUDE.contains(&name);
        let events = self.events.iter().filter(|event| is_known(event.name));
        events.filter_map(|event| Some((event.name, event.limit?))).collect()
    }
}

/// Returns true if a Claude Code of this version does not run `PermissionRequest` hooks in `-p`
/// runs and does not know `PermissionDenied`. A version that cannot be read counts as new.
pub(crate) fn is_old_claude(version: &str) -> bool {
    let mut parts = version.split('.').map(str::parse);
    let mut part = || parts.next().and_then(Result::ok);
    let version = [part(), part(), part()];
    matches!(version, [Some(major), Some(minor), Some(patch)] if [major, minor, patch] < FIRST_THAT_ASKS)
}

/// Returns the version of the Claude Code on PATH, if it prints one.
pub(crate) fn claude_version() -> Option<String> {
    let folders = program_folders(&env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(find_program("claude", &folders)?);
    command.arg("--version");
    let said = program::run_for_output(command, PATIENCE, 4096).ok()?;
    said.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_claude_is_known_by_its_version() {
        for old in ["2.1.267", "2.0.999", "1.9.999"] {
            assert!(is_old_claude(old), "{old}");
        }
        for new in ["2.1.325", "2.1.268", "2.2.0", "3.0.0", "2.1", "unknown"] {
            assert!(!is_old_claude(new), "{new}");
        }
    }
}
