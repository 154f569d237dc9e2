//! A tool call whose input no two programs read alike does not run, in a mode that asks nobody.

use std::path::Path;

use callgate_testkit::messages::Turn;
use callgate_testkit::trial::{AgentProgram, Trial, TrialMode};

use crate::gate::{Desk, Gate, callgate};

/// Commands with half of a surrogate pair, which Claude Code hands on to hooks and to the shell.
const COMMANDS: [&str; 2] = [r"touch denied # \ud800", r"touch unnamed # \ud800"];

/// Plays a model that wants these commands in bypassPermissions mode. Returns what it was told.
fn play(desk: Desk) -> Option<Vec<String>> {
    let input =
        |command: &str| format!(r#"{{"command":"{command}","description":"For the test"}}"#);
    let turns = COMMANDS.map(|command| Turn::new().tool_text("Bash", input(command)));
    let mode = "bypassPermissions";
    let trial = Trial::claude_print(mode, turns.to_vec())?;
    let agent = AgentProgram::Claude;
    let mode = TrialMode { agent, mode, is_attended: false, is_escalated: false };
    let gate = Gate::of_trial(trial, mode, desk, "", Path::new(callgate()));
    let played = gate.play(&[]);
    for file in ["denied", "unnamed"] {
        assert!(!played.outcome.made(file), "{file}, {desk:?}: {:?}", played.outcome.results);
    }
    Some(played.outcome.results)
}

#[test]
fn half_of_a_surrogate_pair_gets_nothing_run() {
    for desk in [Desk::Absent, Desk::Nobody] {
        let Some(results) = play(desk) else { return };
        assert_eq!(results.len(), COMMANDS.len(), "{desk:?}: {results:?}");
        for told in results {
            assert!(told.contains("half of a surrogate pair"), "{desk:?}: {told}");
        }
    }
}
