//! The modes in which agents start, and what callgate does in each.

mod known_modes;

use std::path::{Path, PathBuf};

use callgate_approval::desk::Unattended;
use callgate_hooks::claude_settings::{
    self, HazardLevel, MANAGED_FOLDER, SettingsHazard, SettingsOwner,
};
use callgate_hooks::hook_command::{CommandOwner, find_option};
use callgate_wire::hook::AgentHookEvent;
use callgate_wire::hook::agents::{AGENTS, CLAUDE, CODEX, HookEventProfile, JsonHooks};

use super::settings_file::SettingsFile;
use super::{AgentOnDisk, CodingAgent, SettingsScope};
use crate::config::{Config, Surroundings};
use crate::install::agent_file::{FilePart, agent_files};

/// The mode in which an agent starts unless its command line says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StartingMode {
    pub(crate) agent: CodingAgent,
    /// The mode in the agent's own words; empty if it is not known.
    pub(crate) name: String,
    /// The file that sets it; `None` for the agent's default.
    pub(crate) file: Option<PathBuf>,
    /// Whether the agent asks its user in this mode; `None` if that is not known.
    pub(crate) asks: Option<bool>,
}

impl StartingMode {
    /// Returns the mode in which `agent` starts in the working folder.
    pub(crate) fn for_agent(agent: CodingAgent, around: &Surroundings) -> Self {
        match agent.word {
            "codex" => find_codex_mode(around),
            "claude" => find_claude_mode(around),
            _ => known_modes::find_other_mode(agent, around),
        }
    }

    /// Says in which mode the agent starts and what callgate does in it.
    pub(crate) fn text(&self, unattended: Unattended) -> String {
        let origin = match &self.file {
            Some(file) => format!("by {}", file.display()),
            None => "its default".to_owned(),
        };
        let (agent, name) = (self.agent.name, &self.name);
        let is_codex = *self.agent == CODEX;
        let mode = if is_codex {
            format!("{agent} starts with approval policy {name} ({origin})")
        } else {
            format!("{agent} starts in {name} mode ({origin})")
        };
        let nobody = match unattended {
            Unattended::Rules => "your rules apply, and what no rule covers is left to it",
            Unattended::Ask => {
                "your rules apply, what no rule allows comes to you, and no answer means no"
            }
        };
        let asks_here = |event: &HookEventProfile| event.event == AgentHookEvent::PermissionRequest;
        match self.asks {
            None => format!(
                "the mode in which {agent} starts is not known: your rules apply; in a mode that \
                 asks nobody {nobody}"
            ),
            Some(true) if is_codex => format!(
                "{mode}: your rules apply, and what it would ask you comes here first; \
                 `codex exec` asks nobody: {nobody}"
            ),
            Some(true) if self.agent.events.iter().any(asks_here) => {
                format!("{mode}: your rules apply, and what it would ask you comes here, too")
            }
            Some(true) => format!("{mode}: your rules apply, and it asks you itself, too"),
            Some(false) if *self.agent == CLAUDE && name == "auto" => {
                format!("{mode}, which asks nobody: {nobody}; what it blocks comes to you")
            }
            Some(false) => format!("{mode}, which asks nobody: {nobody}"),
        }
    }
}

/// An agent that has our hook in its settings.
#[derive(Debug)]
pub(crate) struct GatedAgent {
    pub(crate) agent: CodingAgent,
    /// A line that says in which mode it starts and what callgate does in it.
    pub(crate) line: String,
    /// The socket at which its hook asks, if it is not that of the settings.
    pub(crate) other_socket: Option<String>,
    /// A settings file that opens its gate, and how.
    pub(crate) opening: Option<String>,
}

/// Returns the agents that have our hook in the user's or the project's settings.
pub(crate) fn gated_agents(config: &Config, around: &Surroundings) -> Vec<GatedAgent> {
    let gated = |agent: CodingAgent| {
        let commands = hook_commands(agent, around);
        let sockets = commands.iter().filter_map(|command| find_option(command, "--socket"));
        let other_socket =
            sockets.into_iter().find(|socket| Path::new(socket) != config.socket.value);
        let line = StartingMode::for_agent(agent, around).text(config.gate.unattended);
        let opening = if *agent == CLAUDE { find_opening_setting(around) } else { None };
        (!commands.is_empty()).then_some(GatedAgent { agent, line, other_socket, opening })
    };
    AGENTS.into_iter().filter_map(gated).collect()
}

/// Returns the first thing in the settings of Claude Code that opens the gate. With hooks of the
/// administrator nothing there does.
fn find_opening_setting(around: &Surroundings) -> Option<String> {
    let is_ours = |file: PathBuf| {
        let settings = claude_settings::read_settings_file(&file).ok().flatten();
        settings.is_some_and(|settings| claude_settings::has_our_hook(&settings))
    };
    if claude_settings::managed_files().into_iter().any(is_ours) {
        return None;
    }
    claude_hazards(around).into_iter().find_map(|HazardousFile { path, hazards }| {
        let hazard = hazards.into_iter().find(|it| it.level == HazardLevel::OpensGate)?;
        Some(format!("{}: {}", path.display(), hazard.text))
    })
}

fn hook_commands(agent: CodingAgent, around: &Surroundings) -> Vec<String> {
    let scopes = [SettingsScope::User, SettingsScope::Project].into_iter();
    let own = scopes.filter_map(|scope| agent_files(agent, scope, around).ok()).flatten();
    let own = own.map(|file| (file.place.path().to_owned(), file.part));
    let managed = if *agent == CLAUDE { claude_settings::managed_files() } else { Vec::new() };
    let managed = managed.into_iter().map(|file| (file, FilePart::Json(&JsonHooks::CLAUDE)));
    let hooks =
        managed.chain(own).filter_map(|(file, part)| part.hooks(&read_settings_text(&file)?).ok());
    let ours = hooks.flatten().filter(|hook| hook.owner == CommandOwner::Ours);
    ours.map(|hook| hook.command).collect()
}

/// Returns Claude Code's settings files; the first one that sets a value wins.
pub(crate) fn claude_files(around: &Surroundings) -> Vec<PathBuf> {
    let project = CLAUDE.settings_folder(SettingsScope::Project, around);
    let user = CLAUDE.settings_folder(SettingsScope::User, around);
    let local = project.as_ref().map(|folder| folder.join("settings.local.json"));
    let project = project.map(|folder| folder.join("settings.json"));
    let user = user.map(|folder| folder.join("settings.json"));
    let own = [local, project, user].into_iter().flatten();
    claude_settings::managed_files().into_iter().chain(own).collect()
}

/// A settings file of Claude Code that has something in it that works against the gate.
#[derive(Debug)]
pub(crate) struct HazardousFile {
    pub(crate) path: PathBuf,
    pub(crate) hazards: Vec<SettingsHazard>,
}

/// Returns what works against the gate in the settings of the project in the working folder and in
/// the user's.
pub(crate) fn claude_hazards(around: &Surroundings) -> Vec<HazardousFile> {
    let user = CLAUDE.settings_folder(SettingsScope::User, around);
    let hazards = |path: PathBuf| {
        // In the home folder the user's settings are the project's, too.
        let is_own = path.parent() == user.as_deref();
        let whose = if is_own { SettingsOwner::Person } else { SettingsOwner::Project };
        let settings = claude_settings::read_settings_file(&path).ok()??;
        let hazards = claude_settings::find_hazards(&settings, whose);
        Some(HazardousFile { path, hazards }).filter(|file| !file.hazards.is_empty())
    };
    let files = claude_files(around).into_iter();
    files.filter(|path| !path.starts_with(MANAGED_FOLDER)).filter_map(hazards).collect()
}

fn read_settings_text(file: &Path) -> Option<String> {
    Some(SettingsFile::new(file.to_owned()).read().ok()??.text)
}

fn find_claude_mode(around: &Surroundings) -> StartingMode {
    let named = |file: PathBuf| {
        let settings = claude_settings::read_settings_file(&file).ok()??;
        Some((settings["permissions"]["defaultMode"].as_str()?.to_owned(), file))
    };
    let is_off = |file: &PathBuf| {
        let settings = claude_settings::read_settings_file(file).ok().flatten();
        settings.is_some_and(|it| it["permissions"]["disableAutoMode"] == "disable")
    };
    let files = claude_files(around);
    let has_auto = !files.iter().any(is_off);
    let (name, file) = match files.into_iter().find_map(named) {
        Some((name, file)) => (name, Some(file)),
        None if has_auto => ("auto".to_owned(), None),
        None => ("default".to_owned(), None),
    };
    // In all others, also unknown ones, nobody is taken to be asked, which is the more careful
    // guess.
    let asks = matches!(name.as_str(), "default" | "acceptEdits" | "plan");
    StartingMode { agent: &CLAUDE, name, file, asks: Some(asks) }
}

fn find_codex_mode(around: &Surroundings) -> StartingMode {
    let user = CODEX.settings_folder(SettingsScope::User, around);
    let project = CODEX.settings_folder(SettingsScope::Project, around);
    let read = |folder: PathBuf| {
        let file = folder.join("config.toml");
        let settings: toml::Table = toml::from_str(&read_settings_text(&file)?).ok()?;
        Some((settings, file))
    };
    let user = user.and_then(read);
    let is_trusted = |folder: &Path| {
        user.as_ref().is_some_and(|(settings, _)| is_trusted_by_codex(settings, folder))
    };
    // Codex ignores the settings of a project that its user does not trust.
    let project = project.filter(|_| around.here.as_deref().is_some_and(is_trusted));
    let named = |(settings, file): (toml::Table, PathBuf)| {
        let policy = settings.get("approval_policy")?;
        // A table is a policy of its own, called granular.
        Some((policy.as_str().unwrap_or("granular").to_owned(), file))
    };
    let found = [project.and_then(read), user].into_iter().flatten().find_map(named);
    let (name, file) =
        found.map_or(("on-request".to_owned(), None), |(name, file)| (name, Some(file)));
    let asks = Some(name != "never");
    StartingMode { agent: &CODEX, name, file, asks }
}

/// Returns true if the settings of Codex's user say that they trust a folder, or the repository in
/// which it is.
fn is_trusted_by_codex(settings: &toml::Table, folder: &Path) -> bool {
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists());
    let is_trusted = |folder: &Path| {
        let project = settings.get("projects")?.get(folder.to_str()?)?;
        Some(project.get("trust_level")?.as_str()? == "trusted")
    };
    [Some(folder), repository].into_iter().flatten().any(|it| is_trusted(it) == Some(true))
}

#[cfg(test)]
mod tests;
