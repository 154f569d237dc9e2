//! Where an agent's settings are, and how a hook is written there.

use core::time::Duration;

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
    pub format: SettingsFormat,
    pub unit: LimitUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFormat {
    /// `{"hooks": {EVENT: [{"matcher": "*", "hooks": [HANDLER]}]}}` in a JSON file, which may have
    /// other settings.
    Json(JsonHooks),
    /// `[[hooks]]` with `event`, `matcher`, `command` and `timeout` in a TOML file.
    TomlHooks,
    /// Executable files, each for the event at its place among the events, that start the hook.
    Executable,
    /// A plugin of our own: this text, in which [`PLUGIN_COMMAND`] stands for the command.
    Plugin(&'static str),
    /// A rule in `amp.permissions`, the first file, that delegates every tool to a program without
    /// arguments, the second file.
    DelegateRule,
}

/// How hooks are written in a JSON file. A handler is `{"type": "command", "command": …, "timeout":
/// …}` with these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonHooks {
    /// The member of a handler with the command.
    pub command: &'static str,
    /// The member of a handler with the time limit.
    pub timeout: &'static str,
    /// Other members of a handler, each with its value, a text.
    pub more: &'static [(&'static str, &'static str)],
    /// The matcher of an entry; `None` for none.
    pub matcher: Option<&'static str>,
    /// Whether an event's list has the handlers themselves and not entries with a list of them.
    pub is_flat: bool,
    /// Other members that the file needs, each with its value as JSON.
    pub members: &'static [(&'static str, &'static str)],
    /// Whether the agent reads a file with comments.
    pub has_comments: bool,
    /// Other files that have to be there: each a path from the settings folder, and its text.
    pub beside: &'static [(&'static str, &'static str)],
}

impl JsonHooks {
    pub const CLAUDE: Self = Self {
        command: "command",
        timeout: "timeout",
        more: &[],
        matcher: None,
        is_flat: false,
        members: &[],
        has_comments: false,
        beside: &[],
    };

    /// The form of Gemini CLI, which Qwen Code shares.
    pub const GEMINI: Self = Self {
        more: &[("name", "callgate")],
        matcher: Some("*"),
        members: &[("hooksConfig", r#"{"enabled":true}"#)],
        has_comments: true,
        ..Self::CLAUDE
    };
}

/// The placeholder in the text of a plugin for the hook's program and its arguments, a JSON list.
/// It is a list itself, so that the text is valid code before it is replaced.
pub const PLUGIN_COMMAND: &str = "[\"CALLGATE_HOOK\"]";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    Seconds,
    Milliseconds,
    None,
}

impl LimitUnit {
    /// Returns a time limit as a number in this unit; `None` if there are no limits.
    pub fn count(self, limit: Duration) -> Option<u64> {
        match self {
            Self::Seconds => Some(limit.as_secs()),
            Self::Milliseconds => u64::try_from(limit.as_millis()).ok(),
            Self::None => None,
        }
    }
}
