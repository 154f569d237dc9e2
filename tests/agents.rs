//! The hooks that `callgate install` adds to the real agents work in the modes in which they ask
//! nobody.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::trial::{AgentProgram, Trial, TrialMode};

const RULES: &str = "[[rule]]\nname = \"no-touching\"\ndecide = \"deny\"\n\
                     command = \"touch denied\"\nreason = \"not on my watch\"\n";

fn callgate(trial: &Trial, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(arguments).current_dir(trial.work()).env_clear();
    command.envs(trial.environment());
    // No desk of this machine is asked.
    command.env("CALLGATE_SOCKET", trial.home().join("ask.sock"));
    command
}

/// Installs, has doctor prove it, and runs one command that a rule denies and one that none names.
fn check(agent: AgentProgram, mode: &str, is_attended: bool, proofs: &[&str]) {
    let mode = TrialMode { agent, mode, is_attended, is_escalated: false };
    let Some(trial) = Trial::new(mode, &["touch denied", "touch allowed"]) else { return };
    let folder = trial.home().join(".config/callgate");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rules.toml"), RULES).unwrap();
    let install = callgate(&trial, &["install", "--agent", agent.word()]);
    let said = run(install, 2 * DEADLINE).success().stdout;
    assert!(said.contains("PreToolUse"), "{said}");
    let told = run(callgate(&trial, &["doctor"]), 2 * DEADLINE).stdout;
    for proof in proofs {
        assert!(told.contains(proof), "{proof}\n{told}");
    }
    let outcome = trial.start().end();
    assert!(!outcome.made("denied"), "{:?}", outcome.results);
    assert!(outcome.results[0].contains("not on my watch"), "{:?}", outcome.results);
    assert!(outcome.made("allowed"), "{:?}", outcome.results);
    assert!(!outcome.has_dialog, "{}", outcome.written);
}

/// Its hooks run only because install had it trust them.
#[test]
fn codex_without_a_terminal_is_held_by_a_rule() {
    let proofs = [
        "ok       gate      Codex says that it runs our 5 hooks\n",
        "ok       gate      Codex: the hook denies what it has to deny\n",
    ];
    check(AgentProgram::Codex, "", false, &proofs);
}

#[test]
fn codex_at_a_terminal_is_held_by_a_rule() {
    check(AgentProgram::Codex, "", true, &[]);
}

/// Its default at a terminal is auto mode.
#[test]
fn claude_code_at_a_terminal_is_held_by_a_rule() {
    let proofs = [
        "ok       gate      Claude Code: the hook denies what it has to deny\n",
        "ok       claude    Claude Code 2.1.",
        "ok       modes     Claude Code starts in auto mode (its default), which asks nobody",
    ];
    check(AgentProgram::Claude, "", true, &proofs);
}

#[test]
fn claude_code_that_skips_all_permissions_is_held_by_a_rule() {
    check(AgentProgram::Claude, "bypassPermissions", false, &[]);
}
