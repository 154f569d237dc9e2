//! Where an agent's settings are, and how a hook is written there.

use core::time::Duration;

/// Where an agent's settings are, and how a hook is written there.
#[derive(Debug)]
pub struct AgentSettingsPlace {
    /// The folder with the user's settings, below the home folder.
    pub folder: &'static str,
    /// The variable that names another such folder.
    pub variable: Option<&'static str>,
    /// The files in that folder that can hold hooks; ours go into the first.
    pub files: &'static [&'static str],
    /// The folder with the settings of a project; `None` if the agent reads no hooks there.
    pub project_folder: Option<&'static str>,
    /// The files in the project's folder. Ours name files of this user, so the first one is not
    /// shared.
    pub project_files: &'static [&'static str],
    /// How a hook is written.
    pub format: SettingsFormat,
    /// The unit of time limits.
    pub unit: LimitUnit,
}

/// How a hook is written in an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFormat {
    /// `{"hooks": {EVENT: [{"matcher": "*", "hooks": [{"type": "command", "command": …, "timeout":
    /// …}]}]}}` in a file with other settings.
    ClaudeHooks {
        /// The matcher of an entry; `None` for none.
        matcher: Option<&'static str>,
        /// Other members of each handler, as JSON text that begins with a comma.
        more: &'static str,
    },
    /// The same object in a file that has nothing but our hooks, with these files beside it: each
    /// a path from the settings folder, and its text.
    OwnClaudeHooks {
        /// The matcher of an entry; `None` for none.
        matcher: Option<&'static str>,
        /// Other members of each handler, as JSON text that begins with a comma.
        more: &'static str,
        /// The other files.
        beside: &'static [(&'static str, &'static str)],
    },
    /// `{"version": 1, "hooks": {EVENT: [{"type": "command", "bash": …, "timeoutSec": …}]}}` in a
    /// file of our own.
    CopilotHooks,
    /// `[[hooks]]` with `event`, `matcher`, `command` and `timeout` in a TOML file.
    TomlHooks,
    /// An executable file, named after its event, that starts the hook.
    Executable,
    /// A plugin of our own: this text, in which [`PLUGIN_COMMAND`] stands for the command.
    Plugin(&'static str),
    /// A rule in `amp.permissions` that delegates every tool to a program.
    DelegateRule,
}

/// What stands in the text of a plugin for the hook's program and its arguments, a JSON list.
pub const PLUGIN_COMMAND: &str = "[\"CALLGATE_HOOK\"]";

/// The unit of the time limits in an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// There are no limits.
    None,
}

impl LimitUnit {
    /// Returns a time limit as a number in this unit; `None` if there are no limits.
    #[must_use]
    pub fn count(self, limit: Duration) -> Option<u64> {
        match self {
            Self::Seconds => Some(limit.as_secs()),
            Self::Milliseconds => u64::try_from(limit.as_millis()).ok(),
            Self::None => None,
        }
    }
}
