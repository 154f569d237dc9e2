//! Checks the hooks in an agent's settings: that they run this program, once, and have enough time.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use callgate_hooks::hook_command::{find_option, program_of_command};
use callgate_link::file::is_program;
use callgate_wire::hook::AgentHookEvent;
use callgate_wire::hook::agents::CLAUDE;

use super::finding::Findings;
use super::installed_hook::{HookedAgent, InstalledHook};
use crate::agents::{AgentOnDisk, CodingAgent, claude_version, is_old_claude};
use crate::install::small_hook;

const ABOUT: &str = "hooks";

/// Checks the hooks of one agent; there is at least one.
pub(super) fn check_agent_hooks(checked: &HookedAgent, findings: &mut Findings) {
    let HookedAgent { agent, hooks, .. } = *checked;
    let mut files: Vec<String> = hooks.iter().map(|hook| hook.file.display().to_string()).collect();
    files.dedup();
    findings.add_ok(ABOUT, format!("{} has our hook in {}", agent.name, files.join(" and ")));
    check_hook_commands(checked, findings);
    check_hook_sockets(checked, findings);
    check_time_limits(checked, findings);
    check_double_questions(checked, findings);
    check_missing_events(checked, findings);
    if *agent == CLAUDE {
        check_claude_version(findings);
    }
}

/// Checks whether each hook starts this program.
fn check_hook_commands(checked: &HookedAgent, findings: &mut Findings) {
    let HookedAgent { agent, hooks, around, .. } = *checked;
    let mut seen = Vec::new();
    for InstalledHook { command, install, .. } in hooks {
        if seen.contains(&command) {
            continue;
        }
        seen.push(command);
        // A command that a shell puts together cannot be checked.
        let Some(program) = program_of_command(command) else { continue };
        let path = around.expand(Path::new(&program));
        let shown = path.display();
        if !path.is_absolute() {
            let text = format!("{} starts {shown}, wherever its PATH has that", agent.name);
            findings.add_warning(ABOUT, text, format!("use the full path: {install}"));
        } else if !is_program(&path) {
            let text = format!("{} starts {shown}, and there is no such program", agent.name);
            findings.add_problem(ABOUT, text, install.clone());
        } else if is_another(&path) {
            let text = format!("{} starts another callgate than this: {shown}", agent.name);
            findings.add_warning(ABOUT, text, format!("if that is not intended: {install}"));
        }
    }
}

/// Checks whether each hook asks at the socket of these settings.
fn check_hook_sockets(checked: &HookedAgent, findings: &mut Findings) {
    let HookedAgent { agent, hooks, config, .. } = *checked;
    let ours = &config.socket.value;
    let is_other = |hook: &&InstalledHook| {
        find_option(&hook.command, "--socket").is_some_and(|socket| Path::new(&socket) != ours)
    };
    if let Some(hook) = hooks.iter().find(is_other) {
        let socket = find_option(&hook.command, "--socket").unwrap_or_default();
        let text = format!(
            "{} asks at {socket}, but `callgate up` serves {} now",
            agent.name,
            ours.display()
        );
        findings.add_problem(ABOUT, text, hook.install.clone());
    }
}

/// Returns true if it is a callgate other than this program and the small one beside it.
fn is_another(path: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().ok();
    let ours = match path.file_name().and_then(OsStr::to_str) {
        Some("callgate") => env::current_exe().ok(),
        Some("callgate-hook") => small_hook(),
        _ => return false,
    };
    real(path.to_owned()) != ours.and_then(real)
}

/// Checks whether the agent waits as long as a question may take.
fn check_time_limits(checked: &HookedAgent, findings: &mut Findings) {
    let HookedAgent { agent, hooks, config, .. } = *checked;
    let needed = config.timeout_seconds + config.grace_seconds;
    for InstalledHook { event, limit, install, .. } in hooks {
        let Some(limit) = limit.filter(|_| is_asking(agent, event)) else { continue };
        // The hook itself gives up before an agent that does not wait longer.
        let most = agent.event(event).limit.unwrap_or(needed);
        let needed = needed.min(most).as_secs();
        if limit < needed {
            let text = format!(
                "{} ends our hook at {event} after {limit} s, but a question may take {needed} s",
                agent.name
            );
            findings.add_problem(ABOUT, text, install.clone());
        }
    }
}

/// Returns true if a person may be asked at this event, so that the hook may take long.
fn is_asking(agent: CodingAgent, event: &str) -> bool {
    agent.event(event).event.decides()
}

/// Checks whether anybody would be asked twice about one call. A question at `PreToolUse` and
/// another one at `PermissionRequest` do not count: the desk answers the second from memory.
fn check_double_questions(
    &HookedAgent { agent, hooks, .. }: &HookedAgent,
    findings: &mut Findings,
) {
    let asking: Vec<&InstalledHook> =
        hooks.iter().filter(|hook| is_asking(agent, &hook.event)).collect();
    for (at, hook) in asking.iter().enumerate() {
        // The agents run the same command only once, even if it is in two files.
        let is_other = |other: &&&InstalledHook| {
            let is_same_file = other.file == hook.file;
            let is_rival = is_same_file || other.command != hook.command;
            other.event == hook.event && other.matcher == hook.matcher && is_rival
        };
        if let Some(other) = asking[..at].iter().find(is_other) {
            let (event, file) = (&hook.event, hook.file.display());
            let text = format!(
                "{} asks twice: at {} in {}, and at {event} in {file}",
                agent.name,
                other.event,
                other.file.display()
            );
            let advice = if other.file == hook.file {
                hook.install.clone()
            } else {
                format!("take one out: {}", hook.install.replace("install", "uninstall"))
            };
            findings.add_problem(ABOUT, text, advice);
        }
    }
}

/// Checks whether we hear of all events that we need.
fn check_missing_events(&HookedAgent { agent, hooks, .. }: &HookedAgent, findings: &mut Findings) {
    let install = hooks.first().map_or("", |hook| hook.install.as_str());
    let has = |event: &str| hooks.iter().any(|hook| hook.event == event);
    let wanted = agent.wanted_events(agent.is_old_here());
    let missing = wanted.iter().map(|(event, _)| *event).filter(|event| !has(event));
    let (asking, telling): (Vec<&str>, Vec<&str>) =
        missing.partition(|event| is_asking(agent, event));
    for event in asking {
        let so = match agent.event(event).event {
            AgentHookEvent::PreToolUse => "rules do not apply in modes that ask nobody",
            AgentHookEvent::PermissionRequest => "its own questions do not come here",
            AgentHookEvent::PermissionDenied => "what auto mode blocks does not come here",
            _ => "what MCP servers ask does not come here",
        };
        let text = format!("{} does not run our hook at {event}: {so}", agent.name);
        findings.add_problem(ABOUT, text, install);
    }
    if !telling.is_empty() {
        let text = format!("{} does not notify us of {}", agent.name, telling.join(", "));
        findings.add_warning(ABOUT, text, install);
    }
}

/// Checks whether this Claude Code runs the hooks that we need.
fn check_claude_version(findings: &mut Findings) {
    let Some(version) = claude_version() else {
        let text = "`claude --version` says nothing, so it is not known which hooks it runs";
        return findings.add_warning("claude", text, "put `claude` on your PATH");
    };
    if is_old_claude(&version) {
        let text = format!(
            "Claude Code {version} asks nobody in `-p` runs but refuses what no rule allows \
             (2.1.268 asks here)"
        );
        findings.add_warning("claude", text, "update it");
    } else {
        findings.add_ok("claude", format!("Claude Code {version}"));
    }
}
