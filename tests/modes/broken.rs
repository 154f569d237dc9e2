//! What agents do when the hook fails: killed, out of time, or with half an answer.

use std::fs;
use std::path::Path;

use callgate_testkit::script::{copy_program, write_program};
use callgate_testkit::tools::lasting_folder;
use callgate_testkit::trial::AgentProgram;

use crate::gate::{Desk, Gate, callgate};
use crate::{Start, cell};

/// What the hook does in place of its answer.
const FAILURES: [&str; 3] = [
    "kill -KILL $$",
    r#"printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"de'"#,
    LATE,
];

/// Longer than the agent waits; not so long that it would stay.
const LATE: &str = "exec sleep 30";

/// The command that a rule denies, and the file that it makes.
const DENIED: (&str, &str) = ("touch denied", "denied");

/// Runs one row: a command that a rule denies, once with each failure.
pub(crate) fn row(start: Start) -> Option<Vec<&'static str>> {
    FAILURES.iter().map(|failure| play(start, failure)).collect()
}

fn play(start: Start, failure: &str) -> Option<&'static str> {
    // A copy of callgate, whose hook becomes another program after it was installed.
    let folder = lasting_folder("callgate-");
    let program = folder.path().join("callgate");
    let hook = folder.path().join("callgate-hook");
    copy_program(Path::new(callgate()), &program);
    copy_program(Path::new(env!("CARGO_BIN_EXE_callgate-hook")), &hook);
    let gate = Gate::with_program(start.mode, &[DENIED.0], Desk::Absent, "", &program)?;
    let script =
        format!("#!/bin/sh\ncase $(cat) in *PreToolUse*|*PermissionRequest*) {failure};; esac\n");
    write_program(&hook, &script);
    let gate = if failure == LATE { with_short_time(gate, start.mode.agent) } else { gate };
    let played = gate.play(&[DENIED.0]);
    Some(cell(&played, Desk::Absent, start, 0, DENIED, &format!("{}, {failure}", start.shown)))
}

/// The agent with a second for its hooks, in place of the hour that install gives them.
fn with_short_time(gate: Gate, agent: AgentProgram) -> Gate {
    let file = gate.hooks_file();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("4260"), "{text}");
    fs::write(&file, text.replace("4260", "1")).unwrap();
    match agent {
        AgentProgram::Claude => gate,
        // It trusts no hook whose time was changed.
        AgentProgram::Codex => gate.args(&["--dangerously-bypass-hook-trust"]),
    }
}
