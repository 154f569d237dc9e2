//! The agents that have hooks: where each keeps its settings, and which events we want of it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;

use crate::config::Surroundings;
use crate::program;

/// How much longer than our own time limit an agent waits, so that it is we who give up first.
const MARGIN: Duration = Duration::from_secs(10);
/// How long an agent waits for a hook that only tells us something: it never takes long, and if
/// it did the agent would stand still.
const SHORT: Duration = Duration::from_secs(10);
/// Codex lets a hook at the end of a session take this long, and warns of any longer limit.
const CODEX_SESSION_END: Duration = Duration::from_secs(3);
/// How long `claude --version` may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first Claude Code whose `-p` runs ask `PermissionRequest` hooks.
const FIRST_THAT_ASKS: [u32; 3] = [2, 1, 268];

/// An agent with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

/// Whose settings: those of the user, or those of the project in the working folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}

impl Agent {
    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// The folder with its settings; none where there is no home folder.
    pub(crate) fn folder(self, scope: Scope, around: &Surroundings) -> Option<PathBuf> {
        let (name, variable) = match self {
            Self::Claude => (".claude", "CLAUDE_CONFIG_DIR"),
            Self::Codex => (".codex", "CODEX_HOME"),
        };
        match (scope, around.variable(variable)) {
            (Scope::Project, _) => Some(around.absolute(name.as_ref())),
            (Scope::User, Some(folder)) => Some(around.absolute(folder.as_ref())),
            (Scope::User, None) => Some(around.home()?.join(name)),
        }
    }

    /// The file in that folder that holds hooks.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Claude => "settings.json",
            Self::Codex => "hooks.json",
        }
    }

    /// The events to install, and how long the agent is to wait for each. `answer` is how long
    /// our hook may wait for a person.
    pub(crate) fn events(self, asks: Asks, answer: Duration) -> Vec<(&'static str, Duration)> {
        let answer = answer + MARGIN;
        let mut events = vec![(asks.event(), answer), ("PostToolUse", SHORT), ("Stop", SHORT)];
        events.extend(match self {
            Self::Claude => vec![
                ("PostToolUseFailure", SHORT),
                ("SessionEnd", SHORT),
                ("Notification", SHORT),
                ("Elicitation", answer),
            ],
            Self::Codex => vec![("SessionEnd", CODEX_SESSION_END)],
        });
        events
    }

    /// What its user does next.
    pub(crate) fn next(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code sessions that are open now may have to be started anew.",
            Self::Codex => {
                "Codex runs new hooks only after you have trusted them: start it and open /hooks."
            }
        }
    }
}

/// By which event an agent asks before it acts. It is never both: nobody is asked twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    PermissionRequest,
    /// For a Claude Code that does not ask the other.
    PreToolUse,
}

impl Asks {
    /// The event's name.
    pub(crate) fn event(self) -> &'static str {
        match self {
            Self::PermissionRequest => "PermissionRequest",
            Self::PreToolUse => "PreToolUse",
        }
    }

    /// How the Claude Code on this machine asks. One that cannot be found is taken for a new one.
    pub(crate) fn of_claude() -> Self {
        claude_version().as_deref().map_or(Self::PermissionRequest, Self::of_version)
    }

    /// How a Claude Code of this version asks.
    pub(crate) fn of_version(version: &str) -> Self {
        let mut parts = version.split('.').map(str::parse);
        let mut part = || parts.next().and_then(Result::ok);
        match (part(), part(), part()) {
            (Some(major), Some(minor), Some(patch)) if [major, minor, patch] < FIRST_THAT_ASKS => {
                Self::PreToolUse
            }
            _ => Self::PermissionRequest,
        }
    }
}

/// The version of the Claude Code on PATH, if there is one that says so.
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
    fn an_old_claude_is_asked_before_every_tool() {
        let check = |version: &str, expected: Asks| {
            assert_eq!(Asks::of_version(version), expected, "{version}");
        };
        check("2.1.325", Asks::PermissionRequest);
        check("2.1.268", Asks::PermissionRequest);
        check("2.1.267", Asks::PreToolUse);
        check("2.0.999", Asks::PreToolUse);
        check("1.9.999", Asks::PreToolUse);
        check("2.2.0", Asks::PermissionRequest);
        check("3.0.0", Asks::PermissionRequest);
        check("2.1", Asks::PermissionRequest);
        check("unknown", Asks::PermissionRequest);
    }

    #[test]
    fn every_event_is_one_that_uninstall_knows() {
        for agent in [Agent::Claude, Agent::Codex] {
            for asks in [Asks::PermissionRequest, Asks::PreToolUse] {
                for (event, _) in agent.events(asks, Duration::from_secs(315)) {
                    assert!(super::super::hooks::EVENTS.contains(&event), "{event}");
                }
            }
        }
    }
}
