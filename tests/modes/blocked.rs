//! What Claude Code's auto mode has blocked comes to the desk, and a yes there lets it try again.

use callgate_testkit::trial::{AgentProgram, TrialMode};

use crate::gate::{Desk, Gate};

/// Commands outside the project wait for a check at the vendor's, which cannot be reached here.
const COMMAND: &str = "echo x >> ../outside";
const OTHER: &str = "echo x >> ../other";

/// The yes lets that very call through, and once.
#[test]
fn what_auto_mode_blocked_may_try_again_once() {
    let agent = AgentProgram::Claude;
    let mode = TrialMode { agent, mode: "auto", is_attended: false, is_escalated: false };
    let commands = [COMMAND, OTHER, COMMAND, COMMAND];
    let Some(gate) = Gate::new(mode, &commands, Desk::Answers, "") else { return };
    let played = gate.play(&commands);
    let asked = |command: &str| ("PermissionDenied".to_owned(), command.to_owned());
    assert_eq!(played.questions, [asked(COMMAND), asked(OTHER), asked(COMMAND)]);
    assert_eq!(played.outcome.read("../outside").as_deref(), Some("x\n"));
    assert_eq!(played.outcome.read("../other"), None, "{:?}", played.outcome.results);
}
