//! What Claude Code's auto mode has blocked is asked at the desk, and a yes there lets it try
//! again.

use callgate_testkit::messages::ToolCheck;
use callgate_testkit::trial::{AgentProgram, TrialMode};

use crate::gate::{Desk, Gate};

/// Commands outside the project wait for a check of the model's service.
const COMMAND: &str = "echo x >> ../outside";
const OTHER: &str = "echo x >> ../other";

/// Runs Claude Code in auto mode with commands that it blocks. Returns the questions at the desk,
/// and what is in the two files. A yes lets that very call through, and once.
fn play(mode: TrialMode<'_>, check: Option<ToolCheck>) -> Option<(Vec<String>, [String; 2])> {
    let commands = [COMMAND, OTHER, COMMAND, COMMAND];
    let gate = Gate::checked(mode, &commands, Desk::Answers, "", check)?;
    let played = gate.play(&commands);
    let question = |(event, command): &(String, String)| format!("{event}: {command}");
    let file = |name: &str| played.outcome.read(name).unwrap_or_default();
    let questions = played.questions.iter().map(question).collect();
    Some((questions, [file("../outside"), file("../other")]))
}

const fn claude(mode: &str, is_attended: bool) -> TrialMode<'_> {
    TrialMode { agent: AgentProgram::Claude, mode, is_attended, is_escalated: false }
}

/// At a terminal, as it is started without any options, with a service that flags the commands.
#[test]
fn what_auto_mode_blocked_at_a_terminal_may_try_again_once() {
    let flagged = ToolCheck::Flagged("It writes outside of the project.");
    let Some((questions, files)) = play(claude("", true), Some(flagged)) else { return };
    // The third time it does not block, but asks: in its own dialog, and with it at the desk.
    let expected = [
        format!("PermissionDenied: {COMMAND}"),
        format!("PermissionDenied: {OTHER}"),
        format!("PermissionRequest: {COMMAND}"),
    ];
    assert_eq!(questions, expected);
    assert_eq!(files, ["x\nx\n", ""]);
}

/// Without a terminal, with a service that says nothing.
#[test]
fn what_auto_mode_blocked_may_try_again_once() {
    let Some((questions, files)) = play(claude("auto", false), None) else { return };
    let expected = [COMMAND, OTHER, COMMAND].map(|it| format!("PermissionDenied: {it}"));
    assert_eq!(questions, expected);
    assert_eq!(files, ["x\n", ""]);
}
