//! The real agents do in their modes, without callgate, what trials rely on.

use callgate_testkit::trial::{AgentProgram, Trial, TrialMode, TrialOutcome};

fn run(agent: AgentProgram, mode: &str, is_attended: bool) -> Option<TrialOutcome> {
    let mode = TrialMode { agent, mode, is_attended, is_escalated: is_attended };
    Some(Trial::new(mode, &["touch made"])?.start().end())
}

#[test]
fn codex_without_a_terminal_runs_what_its_model_wants() {
    let Some(outcome) = run(AgentProgram::Codex, "", false) else { return };
    assert!(outcome.made("made") && !outcome.has_dialog, "{}", outcome.written);
    assert!(outcome.results[0].contains("exited with code 0"), "{:?}", outcome.results);
}

#[test]
fn codex_at_a_terminal_asks_before_a_command_leaves_its_sandbox() {
    let Some(outcome) = run(AgentProgram::Codex, "", true) else { return };
    assert!(!outcome.made("made") && outcome.has_dialog, "{}", outcome.written);
}

/// Its default there is auto mode, which asks nobody.
#[test]
fn claude_code_at_a_terminal_runs_what_its_model_wants() {
    let Some(outcome) = run(AgentProgram::Claude, "", true) else { return };
    assert!(outcome.made("made") && !outcome.has_dialog, "{}", outcome.written);
}

#[test]
fn claude_code_in_its_default_mode_asks_at_a_terminal_and_refuses_without_one() {
    let Some(outcome) = run(AgentProgram::Claude, "default", true) else { return };
    assert!(!outcome.made("made") && outcome.has_dialog, "{}", outcome.written);
    let Some(outcome) = run(AgentProgram::Claude, "", false) else { return };
    assert!(!outcome.made("made") && outcome.results[0].contains("needs approval"));
}
