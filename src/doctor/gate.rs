//! Tests the gate: asks the agent whether it runs our hooks, and has the hook deny a command.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use callgate_approval::asker::fresh_id;
use callgate_wire::hook::agents::CODEX;
use serde_json::{Value, json};

use super::finding::Findings;
use super::installed_hook::InstalledHook;
use crate::agents::{AgentOnDisk, CodingAgent};
use crate::codex;
use crate::config::Surroundings;
use crate::hook_command::{is_small, option};
use crate::install::codex as codex_trust;
use crate::program;

const ABOUT: &str = "gate";
/// How long the hook may take for the self-test; it takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most that the hook may print, in bytes.
const MOST: usize = 64 * 1024;
/// The command that the rule of the self-test denies.
const FORBIDDEN: &str = "callgate-self-test";

/// Tests that the agent runs our hooks and that they deny what a rule denies.
pub(super) fn look(
    agent: CodingAgent,
    hooks: &[InstalledHook],
    around: &Surroundings,
    findings: &mut Findings,
) {
    redirectable(agent, hooks, findings);
    wrappable(agent, hooks, findings);
    if *agent == CODEX {
        trusted(hooks, around, findings);
    }
    let before = hooks.iter().filter(|hook| hook.event == "PreToolUse");
    let mut tested: Vec<&str> = Vec::new();
    for hook in before {
        if !tested.contains(&hook.command.as_str()) {
            tested.push(&hook.command);
            self_test(agent, hook, findings);
        }
    }
}

/// Checks whether the environment that an agent hands on could lead a hook to another desk.
fn redirectable(agent: CodingAgent, hooks: &[InstalledHook], findings: &mut Findings) {
    let lacks = |hook: &&InstalledHook| {
        ["--config", "--socket", "--rules"].iter().any(|flag| option(&hook.command, flag).is_none())
    };
    if let Some(hook) = hooks.iter().find(lacks) {
        let text = format!(
            "{} starts our hook without --config, --socket and --rules, so a project's \
             environment can lead it elsewhere: {}",
            agent.name, hook.command
        );
        findings.warning(ABOUT, text, hook.install.clone());
    }
}

/// Checks whether a shell that a project can wrap stands between the agent and a hook.
fn wrappable(agent: CodingAgent, hooks: &[InstalledHook], findings: &mut Findings) {
    let is_wrappable = |hook: &&InstalledHook| !hook.is_direct && is_small(&hook.command);
    let Some(hook) = hooks.iter().find(is_wrappable) else { return };
    if agent.starts_directly(agent.is_old_here()) {
        let text = format!(
            "{} starts our hook with a shell, which a project's settings can wrap: {}",
            agent.name, hook.command
        );
        findings.warning(ABOUT, text, hook.install.clone());
    }
}

/// Checks whether Codex itself says that it runs our hooks.
fn trusted(hooks: &[InstalledHook], around: &Surroundings, findings: &mut Findings) {
    let listed = codex::hooks(around.here().unwrap_or(Path::new("/")));
    if let Err(error) = &listed {
        let text = format!("it is not known whether Codex trusts our hooks: {error}");
        return findings.warning(ABOUT, text, "put `codex` on your PATH");
    }
    let mut files: Vec<&InstalledHook> = Vec::new();
    for hook in hooks {
        if files.iter().all(|other| other.file != hook.file) {
            files.push(hook);
        }
    }
    for InstalledHook { file, install, .. } in files {
        let expected = hooks.iter().filter(|hook| hook.file == *file).count();
        let ours = codex_trust::ours(&listed, file);
        let (running, idle): (Vec<_>, Vec<_>) = ours.partition(|hook| hook.runs());
        if let Some(hook) = idle.first() {
            let state = if hook.enabled { hook.trust_status.as_str() } else { "switched off" };
            let text = format!(
                "Codex skips {} of our hooks in {} without a word; {} is {state}",
                idle.len(),
                file.display(),
                hook.event_name
            );
            findings.problem(ABOUT, text, format!("{install}, or trust them in codex at /hooks"));
        } else if running.len() < expected {
            let text = format!("Codex does not read our hooks in {}", file.display());
            findings.problem(
                ABOUT,
                text,
                "trust the project in codex, or install without --project",
            );
        } else {
            let text = format!("Codex says that it runs our {} hooks", running.len());
            findings.ok(ABOUT, text);
        }
    }
}

/// Runs the installed command as the agent does, with rules that deny one command and without a
/// desk. It must deny that command.
fn self_test(agent: CodingAgent, hook: &InstalledHook, findings: &mut Findings) {
    let advice = format!("{}; if that does not help, please report it", hook.install);
    match denies(agent, &hook.command) {
        Ok(None) => {
            let text = format!("{}: the hook denies what a rule denies", agent.name);
            findings.ok(ABOUT, text);
        }
        Ok(Some(said)) => {
            let text = format!(
                "{}: the hook does not deny what a rule denies; it says {said:?}: {}",
                agent.name, hook.command
            );
            findings.problem(ABOUT, text, advice);
        }
        Err(why) => {
            let text = format!(
                "{}: the hook {why}; the agent takes that for a yes: {}",
                agent.name, hook.command
            );
            findings.problem(ABOUT, text, advice);
        }
    }
}

/// Returns what the hook printed if it did not deny.
fn denies(agent: CodingAgent, command: &str) -> Result<Option<String>, String> {
    let folder = std::env::temp_dir().join(format!("callgate-self-test-{}", fresh_id()));
    let unwritten = |error| format!("cannot be tested: {}: {error}", folder.display());
    DirBuilder::new().mode(0o700).create(&folder).map_err(unwritten)?;
    let said = run(agent, command, &folder);
    // A folder that stays does no harm.
    fs::remove_dir_all(&folder).ok();
    let said = said?;
    let answer: Value = serde_json::from_str(&said).unwrap_or_default();
    let is_no = answer["hookSpecificOutput"]["permissionDecision"] == "deny";
    Ok((!is_no).then_some(said))
}

fn run(agent: CodingAgent, command: &str, folder: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be tested: {error}");
    let (config, rules) = (folder.join("config.toml"), folder.join("rules.toml"));
    let rule = format!(
        "[[rule]]\nname = \"self-test\"\ndecide = \"deny\"\ncommand = \"{FORBIDDEN}\"\nreason = \"a test\"\n"
    );
    fs::write(&rules, rule).map_err(failed)?;
    fs::write(&config, "").map_err(failed)?;
    let input = json!({
        "session_id": "00000000-0000-4000-8000-000000000000",
        "transcript_path": null,
        "cwd": folder,
        "permission_mode": "bypassPermissions",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": FORBIDDEN },
        "tool_use_id": "self-test",
    });
    let mut shell = Command::new("/bin/sh");
    let socket = folder.join("nobody.sock");
    let line =
        format!("exec {command} --agent \"$1\" --config \"$2\" --socket \"$3\" --rules \"$4\"");
    shell.args(["-c", &line, "sh", agent.word]).arg(&config).arg(socket).arg(&rules);
    program::feed(shell, &input.to_string(), PATIENCE, MOST).map_err(|error| error.to_string())
}
