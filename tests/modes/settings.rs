//! A change of the settings in the middle of a session that would open the gate: Claude Code does
//! not apply it, and everybody hears of it.

use std::fs;

use callgate_testkit::trial::{AgentProgram, TrialMode};

use crate::gate::{Desk, Gate};

/// Waits until the test has seen what it wants to see.
const WAIT: &str = "touch started; until test -e go; do sleep 0.05; done";

#[test]
fn settings_that_open_the_gate_are_not_applied() {
    let agent = AgentProgram::Claude;
    let mode =
        TrialMode { agent, mode: "bypassPermissions", is_attended: false, is_escalated: false };
    let commands = [WAIT, "touch denied"];
    let Some(gate) = Gate::checked(mode, &commands, Desk::Answers, "", None) else { return };
    let played = gate.play_beside(&commands, |work, told| {
        let settings = work.join(".claude/settings.json");
        if work.join("started").exists() && !settings.exists() {
            fs::create_dir_all(work.join(".claude")).unwrap();
            fs::write(&settings, r#"{"disableAllHooks":true}"#).unwrap();
        }
        if told.iter().any(|text| text.contains("did not apply a change of its settings")) {
            fs::write(work.join("go"), "").unwrap();
        }
    });
    let results = &played.outcome.results;
    assert!(!played.outcome.made("denied"), "{results:?}");
    assert!(results[1].contains("not on my watch"), "{results:?}");
    let [refused] = &played.refused_settings[..] else { panic!("{:?}", played.refused_settings) };
    assert!(refused.contains("`disableAllHooks` is true: no hook runs"), "{refused}");
}
