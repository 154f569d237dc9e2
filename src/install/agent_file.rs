//! The files of an agent's settings that have something of ours in them.

use std::path::{Path, PathBuf};

use callgate_hooks::hook_command::{CommandOwner, path_text};
use callgate_wire::hook::agents::{JsonHooks, SettingsFormat};

use super::edit::{self, InstalledSettings, WantedHook};
use super::managed::{claude, codex};
pub(crate) use super::own_file::OwnText;
use super::{RemovedHooks, delegate, toml_hooks};
use crate::agents::hooks::{EditRefusal, EventHooks, FoundHooks, HookHandler};
use crate::agents::settings_file::SettingsFile;
use crate::agents::{AgentOnDisk, CodingAgent, SettingsScope};
use crate::config::Surroundings;

/// A file of an agent's settings.
#[derive(Debug)]
pub(crate) struct AgentFile {
    pub(crate) place: SettingsFile,
    pub(crate) part: FilePart,
    /// Whether it gets something of ours. Into the others only earlier versions put hooks.
    pub(crate) is_target: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum FilePart {
    Json(&'static JsonHooks),
    /// Hooks in a TOML file.
    Toml,
    /// The whole file, for these events.
    Own(OwnText, Vec<&'static str>),
    /// A rule that names this program.
    Delegate(PathBuf),
    /// Hooks for all users, and what keeps others from undoing them.
    ManagedClaude,
    ManagedCodex,
}

#[derive(Debug)]
pub(crate) struct FoundHook {
    pub(crate) event: String,
    pub(crate) command: String,
    /// Whether the agent starts it without a shell.
    pub(crate) is_direct: bool,
    /// The time limit in the unit of the agent's settings.
    pub(crate) limit: Option<u64>,
    pub(crate) matcher: Option<String>,
    pub(crate) owner: CommandOwner,
}

/// Returns the files of an agent. What the first one names is in those after it.
pub(crate) fn agent_files(
    agent: CodingAgent,
    scope: SettingsScope,
    around: &Surroundings,
) -> Result<Vec<AgentFile>, String> {
    let folder = agent.settings_folder(scope, around).ok_or_else(|| match scope {
        SettingsScope::User => "there is no home folder; set HOME".to_owned(),
        SettingsScope::Project => format!("{} reads no hooks of a project", agent.name),
    })?;
    let base = match scope {
        SettingsScope::User => around.home.as_deref(),
        SettingsScope::Project => around.here.as_deref(),
    };
    let place = |file: &str| SettingsFile::new(folder.join(file)).with_base_folder(base);
    let file = |name: &str, part| AgentFile { place: place(name), part, is_target: true };
    let names = agent.settings_files(scope);
    let events: Vec<&'static str> = agent.wanted_events(false).iter().map(|it| it.0).collect();
    let mut files: Vec<AgentFile> = match &agent.settings.format {
        SettingsFormat::Json(form) => {
            let file = |(at, name): (usize, &&str)| AgentFile {
                is_target: at == 0,
                ..file(name, FilePart::Json(form))
            };
            names.iter().enumerate().map(file).collect()
        }
        SettingsFormat::TomlHooks => names.iter().map(|name| file(name, FilePart::Toml)).collect(),
        SettingsFormat::Plugin(text) => {
            let own =
                |name: &&str| file(name, FilePart::Own(OwnText::Plugin(text), events.clone()));
            names.iter().map(own).collect()
        }
        SettingsFormat::Executable => {
            let own = |(name, event): (&&str, &&'static str)| {
                file(name, FilePart::Own(OwnText::Program, vec![*event]))
            };
            names.iter().zip(&events).map(own).collect()
        }
        SettingsFormat::DelegateRule => match names {
            [rules, program] => vec![
                file(rules, FilePart::Delegate(folder.join(program))),
                file(program, FilePart::Own(OwnText::Program, events)),
            ],
            _ => Vec::new(),
        },
    };
    if let SettingsFormat::Json(form) = &agent.settings.format {
        let fixed = |text| FilePart::Own(OwnText::Fixed(text), Vec::new());
        files.extend(form.beside.iter().map(|(name, text)| file(name, fixed(text))));
    }
    for file in &mut files {
        if matches!(file.part, FilePart::Own(OwnText::Program, _)) {
            file.place.make_program();
        }
    }
    Ok(files)
}

impl FilePart {
    /// Changes what is ours in `text` to what is wanted.
    pub(crate) fn install_into_text(
        &self,
        text: &str,
        wanted: &[WantedHook],
    ) -> Result<InstalledSettings, EditRefusal> {
        match self {
            Self::Json(form) => edit::install_json_hooks(form, text, wanted),
            Self::Toml => toml_hooks::install_toml_hooks(text, wanted),
            Self::Own(own, events) => {
                let is_here = |hook: &&WantedHook| events.contains(&hook.event.as_str());
                let here: Vec<WantedHook> = wanted.iter().filter(is_here).cloned().collect();
                own.install_into_text(text, &here)
            }
            Self::Delegate(program) => {
                delegate::install_rule(text, path_text(program).map_err(EditRefusal)?)
            }
            Self::ManagedClaude => claude::install_claude_hooks(text, wanted),
            Self::ManagedCodex => codex::install_codex_hooks(text, wanted),
        }
    }

    /// Removes what is ours from `text`. `backup` is the text before it was added.
    pub(crate) fn uninstall_from_text(
        &self,
        text: &str,
        backup: Option<&str>,
    ) -> Result<RemovedHooks, EditRefusal> {
        match self {
            Self::Json(form) => edit::uninstall_json_hooks(form, text, backup),
            Self::Toml => toml_hooks::uninstall_toml_hooks(text, backup),
            Self::Own(own, _) => own.uninstall_from_text(text),
            Self::Delegate(_) => delegate::uninstall_rule(text, backup),
            Self::ManagedClaude => claude::uninstall_claude_hooks(text, backup),
            Self::ManagedCodex => codex::uninstall_codex_hooks(text, backup),
        }
    }

    pub(crate) fn has_ours(&self, text: &str) -> bool {
        // What would be removed is ours: so both questions have one answer.
        !matches!(self.uninstall_from_text(text, None), Ok(RemovedHooks::Nothing) | Err(_))
    }

    /// Returns the hooks in the text that run ours, also those that somebody else wrote.
    pub(crate) fn hooks(&self, text: &str) -> Result<Vec<FoundHook>, EditRefusal> {
        let plain = |hook: WantedHook| FoundHook {
            event: hook.event,
            command: hook.command,
            is_direct: hook.is_direct,
            limit: Some(hook.timeout),
            matcher: None,
            owner: CommandOwner::Ours,
        };
        match self {
            Self::Json(form) => {
                let found = FoundHooks::read_as(form, text)?;
                let hook = |(event, at, handler): (&EventHooks, [usize; 3], &HookHandler)| {
                    let (command, _) = handler.command.clone()?;
                    Some(FoundHook {
                        event: event.name.clone(),
                        command,
                        is_direct: handler.args.is_some(),
                        limit: handler.timeout.clone().and_then(|at| text[at].parse().ok()),
                        matcher: event.entries[at[1]].matcher.clone(),
                        owner: handler.owner,
                    })
                };
                let ours = found.handlers().filter(|it| it.2.owner != CommandOwner::Foreign);
                Ok(ours.filter_map(hook).collect())
            }
            Self::Toml => Ok(toml_hooks::find_our_hooks(text)?.into_iter().map(plain).collect()),
            Self::Own(own, events) => {
                let Some(command) = own.parse_command(text) else { return Ok(Vec::new()) };
                let hook = |event: &&str| FoundHook {
                    event: (*event).to_owned(),
                    command: command.clone(),
                    is_direct: true,
                    limit: None,
                    matcher: None,
                    owner: CommandOwner::Ours,
                };
                Ok(events.iter().map(hook).collect())
            }
            // A rule of Amp names a program, whose file has the hook. The settings for all users
            // are read elsewhere.
            Self::Delegate(_) | Self::ManagedClaude | Self::ManagedCodex => Ok(Vec::new()),
        }
    }

    /// Returns what keeps the agent from running our hooks although they are there.
    pub(crate) fn find_fault(&self, text: &str) -> Option<String> {
        match self {
            Self::Delegate(program) => match delegate::find_our_rule(text).ok()? {
                Some((there, true)) if Path::new(&there) == program => None,
                Some((_, true)) => Some("its rule for callgate names another program".to_owned()),
                Some((_, false)) => Some("other rules stand before callgate's".to_owned()),
                None => Some("it has no rule that asks callgate".to_owned()),
            },
            Self::Own(OwnText::Fixed(fixed), _) => {
                (text != *fixed).then(|| "it is not as callgate wrote it".to_owned())
            }
            Self::Own(own, _) => {
                let command = own.parse_command(text)?;
                let is_same = own.with_command(&command) == text;
                (!is_same).then(|| "it is not as callgate writes it".to_owned())
            }
            Self::Json(form) => {
                let found = FoundHooks::read_as(form, text).ok()?;
                // Claude Code has a check of its own.
                let switch = found.switch.filter(|_| !form.members.is_empty())?;
                Some(format!("{switch}: no hook runs"))
            }
            Self::Toml | Self::ManagedClaude | Self::ManagedCodex => None,
        }
    }
}
