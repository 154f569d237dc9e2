//! The coding agents that run our hook: where each keeps its settings, which hooks these hold, and
//! in which mode it starts.

pub(crate) mod hooks;
pub(crate) mod json;
pub(crate) mod settings_file;
pub(crate) mod starting_mode;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::config::Surroundings;
use crate::program;

/// How long an agent waits for a hook that may ask a person. It is longer than any question may
/// take (`timeout_seconds` and `grace_seconds` at their largest), so that it is always the hook
/// that gives up first: several agents take a hook that ran out of time for a yes.
const ANSWER_LIMIT: Duration = Duration::from_mins(60 + 10 + 1);
/// How long an agent waits for a hook that only notifies us. It never takes long, and if it did,
/// the agent would hang.
const SHORT: Duration = Duration::from_secs(10);
/// Codex lets a hook at the end of a session take this long, and warns of any longer limit.
const CODEX_SESSION_END: Duration = Duration::from_secs(3);
/// How long `claude --version` may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first Claude Code whose `-p` runs ask `PermissionRequest` hooks. It also knows
/// `PermissionDenied` and `ConfigChange`, and starts hooks without a shell; an older one may refuse
/// a settings file with an event that it does not know.
const FIRST_THAT_ASKS: [u32; 3] = [2, 1, 268];

/// An agent with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodingAgent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

/// Whose settings: those of the user, or those of the project in the working folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsScope {
    User,
    Project,
}

impl CodingAgent {
    /// Every agent that is known here.
    pub(crate) const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// Returns its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// Returns the folder with its settings; `None` without a home folder.
    pub(crate) fn folder(self, scope: SettingsScope, around: &Surroundings) -> Option<PathBuf> {
        let (name, variable) = match self {
            Self::Claude => (".claude", "CLAUDE_CONFIG_DIR"),
            Self::Codex => (".codex", "CODEX_HOME"),
        };
        match (scope, around.variable(variable)) {
            (SettingsScope::Project, _) => Some(around.absolute(name.as_ref())),
            (SettingsScope::User, Some(folder)) => Some(around.absolute(folder.as_ref())),
            (SettingsScope::User, None) => Some(around.home()?.join(name)),
        }
    }

    /// Returns the files in that folder that can hold hooks; ours go into the first. Ours name
    /// files of this user, so in a project they belong into the file that is not shared.
    pub(crate) fn files(self, scope: SettingsScope) -> &'static [&'static str] {
        match (self, scope) {
            (Self::Claude, SettingsScope::User) => &["settings.json"],
            (Self::Claude, SettingsScope::Project) => &["settings.local.json", "settings.json"],
            (Self::Codex, _) => &["hooks.json"],
        }
    }

    /// Returns its name on the hook's command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Returns true if the agent on PATH is a Claude Code that does not know everything that we
    /// install.
    pub(crate) fn is_old_here(self) -> bool {
        self == Self::Claude && claude_version().is_some_and(|it| is_old_claude(&it))
    }

    /// Returns true if the agent can start the program of a hook itself, without a shell.
    pub(crate) fn starts_directly(self, is_old: bool) -> bool {
        self == Self::Claude && !is_old
    }

    /// Returns the events to install, and how long the agent is to wait for each. `is_old` is true
    /// for a Claude Code that does not know all of them.
    pub(crate) fn events(self, is_old: bool) -> Vec<(&'static str, Duration)> {
        let mut events = vec![
            ("PreToolUse", ANSWER_LIMIT),
            ("PermissionRequest", ANSWER_LIMIT),
            ("PostToolUse", SHORT),
            ("Stop", SHORT),
        ];
        match self {
            Self::Claude => {
                let of_new = [("PermissionDenied", ANSWER_LIMIT), ("ConfigChange", SHORT)];
                events.extend(of_new.into_iter().filter(|_| !is_old));
                events.extend([
                    ("PostToolUseFailure", SHORT),
                    ("SessionEnd", SHORT),
                    ("Notification", SHORT),
                    ("Elicitation", ANSWER_LIMIT),
                ]);
            }
            Self::Codex => events.push(("SessionEnd", CODEX_SESSION_END)),
        }
        events
    }

    /// Returns what its user has to do next.
    pub(crate) fn next(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code sessions that are open now may have to be restarted.",
            Self::Codex => "Codex sessions that are open now have to be restarted.",
        }
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
    let mut command = Command::new("claude");
    command.arg("--version");
    let said = program::output(command, PATIENCE, 4096).ok()?;
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

    #[test]
    fn every_event_is_one_that_uninstall_knows() {
        for agent in CodingAgent::ALL {
            for (event, _) in agent.events(false) {
                assert!(super::hooks::EVENTS.contains(&event), "{event}");
            }
        }
    }
}
