//! The hooks in the agents' settings: there, ours, once, and with enough time.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::finding::Findings;
use crate::config::{Config, Surroundings};
use crate::install::{
    Agent, Asks, Event, Found, Handler, Place, Scope, Whose, claude_version, program_of, small_hook,
};

const ABOUT: &str = "hooks";
/// How long an agent lets a hook run that has no limit of its own.
const AGENTS_LIMIT: u64 = 600;
/// The events by which an agent asks before it acts.
const ASKING: [Asks; 2] = [Asks::PermissionRequest, Asks::PreToolUse];

/// A hook of ours, where it was found.
#[derive(Debug)]
struct Hook {
    event: String,
    command: String,
    /// After how many seconds the agent ends it.
    limit: u64,
    matcher: Option<String>,
    file: PathBuf,
    /// What brings it up to date.
    install: String,
}

/// Looks into the settings of every agent, the user's and those of the working folder.
pub(super) fn look(config: &Config, around: &Surroundings, findings: &mut Findings) {
    let mut has_any = false;
    for agent in [Agent::Claude, Agent::Codex] {
        let hooks = of_agent(agent, around, findings);
        let Some(first) = hooks.first() else { continue };
        has_any = true;
        let mut files: Vec<String> =
            hooks.iter().map(|hook| hook.file.display().to_string()).collect();
        files.dedup();
        findings.ok(ABOUT, format!("{} has our hook in {}", agent.name(), files.join(" and ")));
        commands(agent, &hooks, around, findings);
        limits(agent, &hooks, config, findings);
        twice(agent, &hooks, findings);
        events(agent, &hooks, &first.install, findings);
        if agent == Agent::Claude {
            version(&hooks, &first.install, findings);
        }
    }
    if !has_any {
        let text = "no agent has our hook in its settings, so nobody asks";
        findings.problem(ABOUT, text, "callgate install");
    }
}

fn of_agent(agent: Agent, around: &Surroundings, findings: &mut Findings) -> Vec<Hook> {
    let mut hooks = Vec::new();
    let mut seen = Vec::new();
    for (scope, file) in files(agent) {
        let Some(folder) = agent.folder(scope, around) else { continue };
        let path = folder.join(file);
        // In the home folder the user's settings are the project's too.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        hooks.extend(of_file(agent, scope, path, findings));
    }
    hooks
}

fn files(agent: Agent) -> Vec<(Scope, &'static str)> {
    let mut files = vec![(Scope::User, agent.file()), (Scope::Project, agent.file())];
    if agent == Agent::Claude {
        files.push((Scope::Project, "settings.local.json"));
    }
    files
}

fn of_file(agent: Agent, scope: Scope, path: PathBuf, findings: &mut Findings) -> Vec<Hook> {
    let place = Place::new(path);
    let text = match place.read() {
        Ok(Some(seen)) => seen.text,
        Ok(None) => return Vec::new(),
        Err(error) => {
            findings.problem(ABOUT, error.to_string(), "let it be read");
            return Vec::new();
        }
    };
    let found = match Found::read(&text) {
        Ok(found) => found,
        // An empty file has no hooks.
        Err(_) if text.trim().is_empty() => return Vec::new(),
        Err(refusal) => {
            let text = format!("{}: {refusal}", place.path().display());
            findings.problem(ABOUT, text, "correct it");
            return Vec::new();
        }
    };
    if found.is_switched_off {
        let text = format!("`disableAllHooks` is true in {}: no hook runs", place.path().display());
        findings.problem(ABOUT, text, "set it to false");
    }
    let install = install(agent, scope);
    let ours = found.handlers().filter(|(_, _, handler)| handler.whose != Whose::Foreign);
    let hook = |(event, at, handler): (&Event, [usize; 3], &Handler)| {
        let (command, _) = handler.command.clone()?;
        let limit = handler.timeout.clone().and_then(|at| text[at].parse().ok());
        Some(Hook {
            event: event.name.clone(),
            command,
            limit: limit.unwrap_or(AGENTS_LIMIT),
            matcher: event.entries[at[1]].matcher.clone(),
            file: place.path().to_owned(),
            install: install.clone(),
        })
    };
    ours.filter_map(hook).collect()
}

fn install(agent: Agent, scope: Scope) -> String {
    let agent = if agent == Agent::Codex { " --agent codex" } else { "" };
    let scope = if scope == Scope::Project { " --project" } else { "" };
    format!("callgate install{agent}{scope}")
}

/// Whether each hook starts this program.
fn commands(agent: Agent, hooks: &[Hook], around: &Surroundings, findings: &mut Findings) {
    let mut seen = Vec::new();
    for Hook { command, install, .. } in hooks {
        if seen.contains(&command) {
            continue;
        }
        seen.push(command);
        // What a shell puts together cannot be looked at.
        let Some(program) = program_of(command) else { continue };
        let path = around.expand(Path::new(&program));
        let shown = path.display();
        if !path.is_absolute() {
            let text = format!("{} starts {shown}, wherever its PATH has that", agent.name());
            findings.warning(ABOUT, text, format!("give it the whole path: {install}"));
        } else if !is_program(&path) {
            let text = format!("{} starts {shown}, and there is no such program", agent.name());
            findings.problem(ABOUT, text, install.clone());
        } else if is_another(&path) {
            let text = format!("{} starts another callgate than this: {shown}", agent.name());
            findings.warning(ABOUT, text, format!("if that is not meant so: {install}"));
        }
    }
}

fn is_program(path: &Path) -> bool {
    let metadata = fs::metadata(path);
    metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Whether it is a callgate that is neither this program nor the small one beside it.
fn is_another(path: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().ok();
    let ours = match path.file_name().and_then(OsStr::to_str) {
        Some("callgate") => env::current_exe().ok(),
        Some("callgate-hook") => small_hook(),
        _ => return false,
    };
    real(path.to_owned()) != ours.and_then(real)
}

/// Whether the agent waits for as long as a question may take.
fn limits(agent: Agent, hooks: &[Hook], config: &Config, findings: &mut Findings) {
    let needed = (config.timeout.value + config.grace.value).as_secs();
    for Hook { event, limit, install, .. } in hooks {
        if (is_asking(event) || event == "Elicitation") && *limit < needed {
            let text = format!(
                "{} ends our hook at {event} after {limit} s, but a question may take {needed} s",
                agent.name()
            );
            findings.problem(ABOUT, text, install.clone());
        }
    }
}

fn is_asking(event: &str) -> bool {
    ASKING.iter().any(|asks| asks.event() == event)
}

/// Whether anybody would be asked twice for one call.
fn twice(agent: Agent, hooks: &[Hook], findings: &mut Findings) {
    let asking: Vec<&Hook> = hooks.iter().filter(|hook| is_asking(&hook.event)).collect();
    for (at, hook) in asking.iter().enumerate() {
        // The agents run the same command only once, also when it stands in two files.
        let is_other = |other: &&&Hook| {
            let is_same_command = other.event == hook.event && other.command == hook.command;
            let is_same_file = other.file == hook.file;
            other.matcher == hook.matcher && (is_same_file || !is_same_command)
        };
        if let Some(other) = asking[..at].iter().find(is_other) {
            let (event, file) = (&hook.event, hook.file.display());
            let text = format!(
                "{} asks twice: at {} in {}, and at {event} in {file}",
                agent.name(),
                other.event,
                other.file.display()
            );
            let advice = if other.file == hook.file {
                hook.install.clone()
            } else {
                format!("take one out: {}", hook.install.replace("install", "uninstall"))
            };
            findings.problem(ABOUT, text, advice);
        }
    }
}

/// Whether we hear all that we have to.
fn events(agent: Agent, hooks: &[Hook], install: &str, findings: &mut Findings) {
    let has = |event: &str| hooks.iter().any(|hook| hook.event == event);
    if !ASKING.iter().any(|asks| has(asks.event())) {
        let text = format!("{} has our hook, but not where it asks before it acts", agent.name());
        findings.problem(ABOUT, text, install);
    }
    let wanted = agent.events(Asks::PermissionRequest, std::time::Duration::ZERO);
    let missing: Vec<&str> =
        wanted.iter().map(|(event, _)| *event).filter(|it| !is_asking(it) && !has(it)).collect();
    if !missing.is_empty() {
        let text = format!("{} does not tell us of {}", agent.name(), missing.join(", "));
        findings.warning(ABOUT, text, install);
    }
}

/// Whether this Claude Code asks at the event that we are at.
fn version(hooks: &[Hook], install: &str, findings: &mut Findings) {
    let Some(version) = claude_version() else {
        let text = "`claude --version` says nothing, so it is not known which hooks it runs";
        return findings.warning("claude", text, "put `claude` on your PATH");
    };
    let asks = Asks::of_version(&version);
    let is_at = |event: Asks| hooks.iter().any(|hook| hook.event == event.event());
    if asks == Asks::PreToolUse && is_at(Asks::PermissionRequest) {
        let text = format!(
            "Claude Code {version} does not run PermissionRequest hooks in `-p` runs (2.1.268 does)"
        );
        let advice = format!("update it, or ask before every tool: {install} --pre-tool-use");
        findings.problem("claude", text, advice);
    } else if asks == Asks::PermissionRequest && is_at(Asks::PreToolUse) {
        let text = format!("Claude Code {version} asks before every tool, and need not any more");
        findings.warning("claude", text, install);
    } else {
        findings.ok("claude", format!("Claude Code {version}"));
    }
}
