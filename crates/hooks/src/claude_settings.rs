//! The settings of Claude Code as far as they concern the gate: where an administrator puts them,
//! and what in them silences hooks, answers in their place, or leads the agent elsewhere.
//!
//! What is listed here was seen with Claude Code 2.1.325; docs/guide/managed.md has the table.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_link::text_file::read_limited_text;
use callgate_mask::text::without_mark;
use serde_json::Value;

use crate::hook_command::{self, CommandOwner, command_owner};

/// The folder with the settings that an administrator makes for all users.
pub const MANAGED_FOLDER: &str = "/etc/claude-code";
/// The folder in it whose files are merged, each over those before it.
pub const DROP_INS: &str = "managed-settings.d";
/// The largest settings file that is read.
const LARGEST: u64 = 16 << 20;
/// The event before every tool call.
const BEFORE_TOOLS: &str = "PreToolUse";

/// Variables in `env` with which a project can silence a hook, and what each does.
const SILENCING: [(&str, &str); 3] = [
    ("CLAUDE_CODE_SHELL_PREFIX", "a program of its choice runs in place of hooks and commands"),
    ("LD_PRELOAD", "its code runs inside commands, and inside hooks that a shell starts"),
    ("LD_AUDIT", "its code runs inside commands, and inside hooks that a shell starts"),
];
/// Other variables in `env` that matter, and what each does.
const DIVERTING: [(&str, &str); 4] = [
    ("BASH_ENV", "its script runs before every command"),
    ("ANTHROPIC_BASE_URL", "a server of its choice answers in place of the model's"),
    ("CLAUDE_CONFIG_DIR", "agents started there may not have our hooks"),
    ("CODEX_HOME", "agents started there may not have our hooks"),
];
/// Keys whose commands run without a question.
const HELPERS: [&str; 4] =
    ["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"];
/// Events at which a hook of somebody else can undo what ours decides, and how.
const RIVALS: [(&str, &str); 2] = [
    (BEFORE_TOOLS, "can change a call after callgate has checked it"),
    ("PermissionRequest", "can answer in your place"),
];

/// Whose settings they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsOwner {
    /// The user's own, in which other hooks and helpers are the user's choice.
    Person,
    /// A project's, which came with it.
    Project,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HazardLevel {
    /// It silences our hooks or undoes what they decide.
    OpensGate,
    /// It runs something without asking, or leads the agent elsewhere.
    Diverts,
}

/// Something in a settings file that works against the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsHazard {
    pub level: HazardLevel,
    /// The key and what it does.
    pub text: String,
}

/// Returns what in these settings works against the gate.
pub fn find_hazards(settings: &Value, whose: SettingsOwner) -> Vec<SettingsHazard> {
    let opens = |text: String| SettingsHazard { level: HazardLevel::OpensGate, text };
    let diverts = |text: String| SettingsHazard { level: HazardLevel::Diverts, text };
    let mut found = Vec::new();
    // Anything but a plain no is taken for a yes.
    let off = &settings["disableAllHooks"];
    if !(off.is_null() || off == false || off == "false") {
        found.push(opens(format!("`disableAllHooks` is {off}: no hook runs")));
    }
    let set = |name: &str| {
        let value = &settings["env"][name];
        !value.is_null() && value != ""
    };
    for (name, so) in SILENCING.into_iter().filter(|(name, _)| set(name)) {
        found.push(opens(format!("`env` sets {name}: {so}")));
    }
    if whose == SettingsOwner::Project {
        let rivals = RIVALS.into_iter().filter(|(event, _)| has_rival(settings, event));
        found.extend(rivals.map(|(event, so)| opens(format!("it has a {event} hook, which {so}"))));
        let helpers = HELPERS.into_iter().filter(|key| !settings[*key].is_null());
        found.extend(helpers.map(|key| diverts(format!("`{key}` runs a program without asking"))));
    }
    for (name, so) in DIVERTING.into_iter().filter(|(name, _)| set(name)) {
        found.push(diverts(format!("`env` sets {name}: {so}")));
    }
    let variables = settings["env"].as_object().into_iter().flatten();
    for (name, _) in variables.filter(|(name, _)| name.starts_with("CALLGATE_")) {
        let so = "installed hooks do not read it, but it may be meant to lead them elsewhere";
        found.push(diverts(format!("`env` sets {name}; {so}")));
    }
    found
}

/// Returns true if these settings have our hook before tool calls.
pub fn has_our_hook(settings: &Value) -> bool {
    commands_at_event(settings, BEFORE_TOOLS)
        // A command of somebody else that starts our hook is enough here, but in `has_rival` the
        // rest of it counts.
        .any(|command| command_owner(&command) != CommandOwner::Foreign)
}

fn has_rival(settings: &Value, event: &str) -> bool {
    let entries = settings["hooks"][event].as_array().into_iter().flatten();
    let handlers = entries.filter_map(|entry| entry["hooks"].as_array()).flatten().count();
    // A handler without a command, such as one that calls a server, is not ours either.
    let ours = commands_at_event(settings, event)
        .filter(|it| command_owner(it) == CommandOwner::Ours)
        .count();
    handlers > ours
}

/// Returns the command lines of the hooks at an event.
fn commands_at_event(settings: &Value, event: &str) -> impl Iterator<Item = String> {
    let entries = settings["hooks"][event].as_array().into_iter().flatten();
    let handlers = entries.filter_map(|entry| entry["hooks"].as_array()).flatten();
    handlers.filter_map(|handler| {
        let command = handler["command"].as_str()?;
        let Some(arguments) = handler["args"].as_array() else { return Some(command.to_owned()) };
        let argument = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        Some(hook_command::build_command_line(
            command,
            &arguments.iter().map(argument).collect::<Vec<_>>(),
        ))
    })
}

/// Returns the administrator's settings files; the first one that sets a value wins.
pub fn managed_files() -> Vec<PathBuf> {
    let folder = Path::new(MANAGED_FOLDER);
    let entries = fs::read_dir(folder.join(DROP_INS)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut files: Vec<PathBuf> = paths.filter(is_json).collect();
    files.sort();
    // Each drop-in goes over those before it, and all of them go over the file beside their folder.
    files.reverse();
    files.push(folder.join("managed-settings.json"));
    files
}

/// Reads a settings file; `None` if it is absent. The error completes "cannot read it: ".
pub fn read_settings_file(path: &Path) -> Result<Option<Value>, String> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(|error| error.to_string())?,
    };
    // To open a named pipe would wait until somebody writes into it.
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let text = File::open(path).and_then(|file| read_limited_text(file, LARGEST));
    let text = text.map_err(|error| error.to_string())?;
    match without_mark(&text).trim() {
        // An empty file sets nothing, although it is not JSON.
        "" => Ok(None),
        text => serde_json::from_str(text).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests;
