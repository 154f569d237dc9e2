//! Tests the gate: asks the agent whether it runs our hooks, and has the hook deny a command.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use callgate_hooks::hook_command::{find_option, is_small, split_command};
use callgate_rules::SELF_TEST_COMMAND;
use callgate_wire::hook::agents::{
    AGENTS, CODEX, CallFate, HookFailures, RECORDED_CALLS, RECORDED_COMMAND, RECORDED_FOLDER,
};
use callgate_wire::hook::{self, HookReply};
use serde_json::Value;

use super::finding::Findings;
use super::installed_hook::{HookedAgent, InstalledHook};
use crate::agents::codex;
use crate::agents::failure_words::fate_words;
use crate::agents::{AgentOnDisk, CodingAgent};
use crate::config::Surroundings;
use crate::install::codex as codex_trust;
use crate::program::{self, ProgramError};

const ABOUT: &str = "gate";
/// How long the hook may take for the self-test; it takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most that the hook may print, in bytes.
const MOST: usize = 64 * 1024;
/// The exit code of a shell that does not find a program.
const NO_PROGRAM: i32 = 127;
/// What stands for the reason of a deny.
const WORDS: &str = "callgate-self-test";

/// Tests that the agent runs our hooks and that they deny what a rule denies.
pub(super) fn check_hooks_deny(checked: &HookedAgent, findings: &mut Findings) {
    let HookedAgent { agent, hooks, around, .. } = *checked;
    check_redirection(agent, hooks, findings);
    check_shell_wrapping(agent, hooks, findings);
    if *agent == CODEX {
        check_codex_trust(hooks, around, findings);
    }
    let before = hooks.iter().filter(|hook| hook.event == agent.before_tool_event().name);
    let mut tested: Vec<(&str, Option<&Path>)> = Vec::new();
    for hook in before {
        let this = (hook.command.as_str(), hook.program.as_deref());
        if !tested.contains(&this) {
            tested.push(this);
            self_test(agent, hook, around, findings);
        }
    }
}

/// Checks whether the environment that an agent hands on could lead a hook to another desk.
fn check_redirection(agent: CodingAgent, hooks: &[InstalledHook], findings: &mut Findings) {
    let lacks = |hook: &&InstalledHook| {
        ["--config", "--socket", "--rules"]
            .iter()
            .any(|flag| find_option(&hook.command, flag).is_none())
    };
    if let Some(hook) = hooks.iter().find(lacks) {
        let text = format!(
            "{} starts our hook without --config, --socket and --rules, so a project's \
             environment can lead it elsewhere: {}",
            agent.name, hook.command
        );
        findings.add_warning(ABOUT, text, hook.install.clone());
    }
}

/// Checks whether a shell that a project can wrap stands between the agent and a hook.
fn check_shell_wrapping(agent: CodingAgent, hooks: &[InstalledHook], findings: &mut Findings) {
    let is_wrappable = |hook: &&InstalledHook| !hook.is_direct && is_small(&hook.command);
    let Some(hook) = hooks.iter().find(is_wrappable) else { return };
    if agent.starts_directly(agent.is_old_here()) {
        let text = format!(
            "{} starts our hook with a shell, which a project's settings can wrap: {}",
            agent.name, hook.command
        );
        findings.add_warning(ABOUT, text, hook.install.clone());
    }
}

/// Checks whether Codex itself says that it runs our hooks.
fn check_codex_trust(hooks: &[InstalledHook], around: &Surroundings, findings: &mut Findings) {
    let listed = codex::hooks_in_folder(around.here.as_deref().unwrap_or(Path::new("/")));
    if let Err(error) = &listed {
        let text = format!("it is not known whether Codex trusts our hooks: {error}");
        return findings.add_warning(ABOUT, text, "put `codex` on your PATH");
    }
    let mut files: Vec<&InstalledHook> = Vec::new();
    for hook in hooks {
        if files.iter().all(|other| other.file != hook.file) {
            files.push(hook);
        }
    }
    for InstalledHook { file, install, .. } in files {
        // The count is compared, because Codex lists nothing of a file that it does not read, such
        // as one in a project that it does not trust.
        let expected = hooks.iter().filter(|hook| hook.file == *file).count();
        let ours = codex_trust::our_listed_hooks(&listed, file);
        let (running, idle): (Vec<_>, Vec<_>) = ours.partition(|hook| hook.is_run_by_codex());
        if let Some(hook) = idle.first() {
            let state = if hook.enabled { hook.trust_status.as_str() } else { "switched off" };
            let text = format!(
                "Codex skips {} of our hooks in {} without a word; {} is {state}",
                idle.len(),
                file.display(),
                hook.event_name
            );
            findings.add_problem(
                ABOUT,
                text,
                format!("{install}, or trust them in codex at /hooks"),
            );
        } else if running.len() < expected {
            let text = format!("Codex does not read our hooks in {}", file.display());
            findings.add_problem(
                ABOUT,
                text,
                "trust the project in codex, or install without --project",
            );
        } else {
            let text = format!("Codex says that it runs our {} hooks", running.len());
            findings.add_ok(ABOUT, text);
        }
    }
}

/// Runs the installed command as the agent does, with a recorded call of the agent whose command is
/// one that callgate denies whatever the rules are.
fn self_test(
    agent: CodingAgent,
    hook: &InstalledHook,
    around: &Surroundings,
    findings: &mut Findings,
) {
    let advice = format!("{}; if that does not help, please report it", hook.install);
    let shown = hook.program.as_ref().map_or(hook.command.clone(), |it| it.display().to_string());
    match test_hook_denial(agent, hook, around) {
        Ok(None) => {
            let text = format!("{}: the hook denies what it has to deny", agent.name);
            findings.add_ok(ABOUT, text);
        }
        Ok(Some(said)) => {
            let text = format!(
                "{}: the hook does not deny what it has to deny; it says {said:?}: {shown}",
                agent.name
            );
            findings.add_problem(ABOUT, text, advice);
        }
        Err((why, fate)) => {
            let so = fate_words(fate);
            let text = format!("{}: the hook {why}, which {so}: {shown}", agent.name);
            findings.add_problem(ABOUT, text, advice);
        }
    }
}

/// Returns what the hook printed if it did not deny. If it failed, returns why, and what the agent
/// makes of that.
fn test_hook_denial(
    agent: CodingAgent,
    hook: &InstalledHook,
    around: &Surroundings,
) -> Result<Option<String>, (String, CallFate)> {
    let folder = around.here.as_deref().unwrap_or(Path::new("/"));
    let mut command = hook_start_command(hook);
    command.current_dir(folder);
    let input = set_recorded_call(agent, folder, &mut command);
    let HookFailures { missing, exit, timeout, garbage, .. } = agent.failures;
    let ended = program::run_and_capture(command, &input, PATIENCE, MOST).map_err(|error| {
        let fate = match error {
            ProgramError::NotStarted(_) => missing,
            ProgramError::TooSlow(_) => timeout,
            ProgramError::TooMuch(_) | ProgramError::NotText => garbage,
            _ => exit,
        };
        (error.to_string(), fate)
    })?;
    // The answer is compared with a deny in this agent's own form, because the agent would ignore
    // any other.
    let is_no = match hook::call_refusal(agent.before_tool_event(), WORDS) {
        HookReply::Line(expected) if ended.status.success() => {
            let said: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
            let expected: Value = serde_json::from_slice(&expected).unwrap_or_default();
            is_same_but_words(&expected, &said)
        }
        HookReply::Refusal(_) if ended.status.success() => false,
        HookReply::Refusal(_) if ended.status.code() == Some(2) => !ended.stderr.is_empty(),
        _ => {
            let fate = match ended.status.code() {
                Some(2) => agent.failures.exit_two,
                Some(NO_PROGRAM) => missing,
                _ => exit,
            };
            return Err((format!("failed ({})", ended.status), fate));
        }
    };
    Ok((!is_no).then_some(ended.stdout))
}

/// Sets the environment that the agent passes to its hook, and returns the input: the agent's
/// recorded call, in this folder, with the command that is always denied.
fn set_recorded_call(agent: CodingAgent, folder: &Path, command: &mut Command) -> String {
    for other in AGENTS {
        // An agent may have started this command, and its mark would make the hook take it for that
        // agent's.
        other.mark.map(|mark| command.env_remove(mark));
    }
    agent.mark.map(|mark| command.env(mark, "1"));
    let mut calls = RECORDED_CALLS.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let Some(call) = calls.find(|call| call["agent"] == agent.word) else {
        // Every agent has one; a test checks that.
        return String::new();
    };
    let folder = folder.to_string_lossy();
    for (name, value) in call["env"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        command.env(name, if value == RECORDED_FOLDER { &*folder } else { value });
    }
    let text = call["stdin"].to_string().replace(RECORDED_COMMAND, SELF_TEST_COMMAND);
    let quoted = |folder: &str| Value::from(folder).to_string();
    text.replace(&quoted(RECORDED_FOLDER), &quoted(&folder))
}

/// Returns the command as the agent starts it: a program, or a line of the shell.
fn hook_start_command(hook: &InstalledHook) -> Command {
    let (program, arguments) = match &hook.program {
        Some(program) => (program.display().to_string(), Vec::new()),
        None if hook.is_direct => split_command(&hook.command),
        None => ("/bin/sh".to_owned(), vec!["-c".to_owned(), hook.command.clone()]),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Returns true if an answer is the expected one with any words in place of [`WORDS`].
fn is_same_but_words(expected: &Value, said: &Value) -> bool {
    match (expected, said) {
        (Value::Object(expected), Value::Object(said)) => {
            let is_same =
                |(name, value)| said.get(name).is_some_and(|it| is_same_but_words(value, it));
            expected.len() == said.len() && expected.iter().all(is_same)
        }
        (Value::String(expected), Value::String(said)) if expected == WORDS => !said.is_empty(),
        (expected, said) => expected == said,
    }
}
