//! Finds our hooks in the agents' settings.

use std::path::{Path, PathBuf};

use callgate_wire::hook::agents::{LimitUnit, OPENHANDS};

use super::finding::Findings;
use crate::agents::{CodingAgent, SettingsScope};
use crate::config::{Config, Surroundings};
use crate::install::agent_file::{AgentFile, FilePart, FoundHook, OwnText, agent_files};

const ABOUT: &str = "hooks";
/// How long an agent lets a hook run that has no limit of its own.
const AGENTS_LIMIT: u64 = 600;

/// An agent that has our hooks, and what the checks of it depend on.
pub(super) struct HookedAgent<'a> {
    pub(super) agent: CodingAgent,
    pub(super) hooks: &'a [InstalledHook],
    pub(super) config: &'a Config,
    pub(super) around: &'a Surroundings,
}

/// A hook of ours, where it was found.
#[derive(Debug)]
pub(super) struct InstalledHook {
    pub(super) event: String,
    pub(super) command: String,
    /// Whether the agent starts it without a shell.
    pub(super) is_direct: bool,
    /// The program that the agent starts in place of the command, which is in it.
    pub(super) program: Option<PathBuf>,
    /// The seconds after which the agent ends it; `None` if it never does.
    pub(super) limit: Option<u64>,
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
    let mut hooks: Vec<InstalledHook> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for scope in [SettingsScope::User, SettingsScope::Project] {
        // An agent that reads no hooks of a project has no such files, which is no problem.
        let files = agent_files(agent, scope, around).unwrap_or_default();
        let mut faults = Vec::new();
        let (mut has_ours, mut is_there) = (false, false);
        for file in &files {
            let path = file.place.path();
            // In the home folder the user's settings are the project's, too.
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if seen.contains(&real) {
                continue;
            }
            seen.push(real);
            let Some(text) = text_of(file, findings) else { continue };
            is_there |= !text.is_empty();
            has_ours |= file.part.has_ours(&text);
            let shown = path.display();
            faults.extend(file.part.find_fault(&text).map(|fault| format!("{shown}: {fault}")));
            hooks.extend(read_hooks(agent, scope, file, &text, findings));
        }
        let is_ours = |hook: &InstalledHook| files.iter().any(|it| it.place.path() == hook.file);
        if has_ours || hooks.iter().any(is_ours) {
            for fault in faults {
                findings.add_problem(ABOUT, fault, install_command(agent, scope));
            }
        } else if *agent == OPENHANDS && is_there && !hooks.is_empty() {
            let path = files.first().map_or(Path::new(""), |file| file.place.path());
            let text = format!(
                "{} replaces your own hooks of {} in this folder, and does not ask callgate",
                path.display(),
                agent.name
            );
            findings.add_problem(ABOUT, text, install_command(agent, scope));
        }
    }
    hooks
}

/// Returns the text of a file, empty if it is absent; `None` if it cannot be read.
fn text_of(file: &AgentFile, findings: &mut Findings) -> Option<String> {
    match file.place.read() {
        Ok(seen) => Some(seen.map(|seen| seen.text).unwrap_or_default()),
        Err(error) => {
            findings.add_problem(ABOUT, error.to_string(), "let it be read");
            None
        }
    }
}

fn read_hooks(
    agent: CodingAgent,
    scope: SettingsScope,
    AgentFile { place, part, .. }: &AgentFile,
    text: &str,
    findings: &mut Findings,
) -> Vec<InstalledHook> {
    // An empty file has no hooks.
    if text.trim().is_empty() {
        return Vec::new();
    }
    let found = match part.hooks(text) {
        Ok(found) => found,
        Err(refusal) => {
            let text = format!("{}: {refusal}", place.path().display());
            findings.add_problem(ABOUT, text, "correct it");
            return Vec::new();
        }
    };
    let is_program = matches!(part, FilePart::Own(OwnText::Program, _));
    let hook = |hook: FoundHook| InstalledHook {
        event: hook.event,
        command: hook.command,
        is_direct: hook.is_direct,
        program: is_program.then(|| place.path().to_owned()),
        limit: match agent.settings.unit {
            LimitUnit::Seconds => Some(hook.limit.unwrap_or(AGENTS_LIMIT)),
            LimitUnit::Milliseconds => Some(hook.limit.map_or(AGENTS_LIMIT, |it| it / 1000)),
            LimitUnit::None => None,
        },
        matcher: hook.matcher,
        file: place.path().to_owned(),
        install: install_command(agent, scope),
    };
    found.into_iter().map(hook).collect()
}

/// Returns the command that brings the hooks of an agent up to date.
pub(super) fn install_command(agent: CodingAgent, scope: SettingsScope) -> String {
    let scope = if scope == SettingsScope::Project { " --project" } else { "" };
    format!("callgate install{scope} --agent {}", agent.word)
}
