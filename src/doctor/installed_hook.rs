//! Finds our hooks in the agents' settings.

use std::path::PathBuf;

use callgate_wire::hook::agents::CODEX;

use super::finding::Findings;
use crate::agents::hooks::{EventHooks, FoundHooks, HookHandler};
use crate::agents::settings_file::SettingsFile;
use crate::agents::{AgentOnDisk, CodingAgent, SettingsScope};
use crate::config::Surroundings;
use crate::hook_command::CommandOwner;

const ABOUT: &str = "hooks";
/// How long an agent lets a hook run that has no limit of its own.
const AGENTS_LIMIT: u64 = 600;

/// A hook of ours, where it was found.
#[derive(Debug)]
pub(super) struct InstalledHook {
    pub(super) event: String,
    pub(super) command: String,
    /// Whether the agent starts it without a shell.
    pub(super) is_direct: bool,
    /// The seconds after which the agent ends it.
    pub(super) limit: u64,
    pub(super) matcher: Option<String>,
    pub(super) file: PathBuf,
    /// The command that brings it up to date.
    pub(super) install: String,
}

/// Returns our hooks in the settings of an agent: the user's and those of the working folder.
pub(super) fn installed_hooks(
    agent: CodingAgent,
    around: &Surroundings,
    findings: &mut Findings,
) -> Vec<InstalledHook> {
    let mut hooks = Vec::new();
    let mut seen = Vec::new();
    for (scope, file) in files(agent) {
        let Some(folder) = agent.folder(scope, around) else { continue };
        let path = folder.join(file);
        // In the home folder the user's settings are the project's, too.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        hooks.extend(of_file(agent, scope, path, findings));
    }
    hooks
}

fn files(agent: CodingAgent) -> impl Iterator<Item = (SettingsScope, &'static str)> {
    let of = move |scope: SettingsScope| agent.files(scope).iter().map(move |file| (scope, *file));
    [SettingsScope::User, SettingsScope::Project].into_iter().flat_map(of)
}

fn of_file(
    agent: CodingAgent,
    scope: SettingsScope,
    path: PathBuf,
    findings: &mut Findings,
) -> Vec<InstalledHook> {
    let place = SettingsFile::new(path);
    let text = match place.read() {
        Ok(Some(seen)) => seen.text,
        Ok(None) => return Vec::new(),
        Err(error) => {
            findings.problem(ABOUT, error.to_string(), "let it be read");
            return Vec::new();
        }
    };
    let found = match FoundHooks::read(&text) {
        Ok(found) => found,
        // An empty file has no hooks.
        Err(_) if text.trim().is_empty() => return Vec::new(),
        Err(refusal) => {
            let text = format!("{}: {refusal}", place.path().display());
            findings.problem(ABOUT, text, "correct it");
            return Vec::new();
        }
    };
    let install = install(agent, scope);
    let ours = found.handlers().filter(|(_, _, handler)| handler.owner != CommandOwner::Foreign);
    let hook = |(event, at, handler): (&EventHooks, [usize; 3], &HookHandler)| {
        let (command, _) = handler.command.clone()?;
        let limit = handler.timeout.clone().and_then(|at| text[at].parse().ok());
        Some(InstalledHook {
            event: event.name.clone(),
            command,
            is_direct: handler.args.is_some(),
            limit: limit.unwrap_or(AGENTS_LIMIT),
            matcher: event.entries[at[1]].matcher.clone(),
            file: place.path().to_owned(),
            install: install.clone(),
        })
    };
    ours.filter_map(hook).collect()
}

fn install(agent: CodingAgent, scope: SettingsScope) -> String {
    let agent = if *agent == CODEX { " --agent codex" } else { "" };
    let scope = if scope == SettingsScope::Project { " --project" } else { "" };
    format!("callgate install{agent}{scope}")
}
