//! Reports the mode in which each agent starts, and what callgate does in it.

use super::finding::Findings;
use callgate_wire::hook::agents::{CODEX, CallFate};

use crate::agents::CodingAgent;
use crate::agents::starting_mode::StartingMode;
use crate::config::{Config, Surroundings};

const ABOUT: &str = "modes";

/// Says in which mode the agent starts, what callgate does in it, and what the agent does if a hook
/// fails.
pub(super) fn check_starting_mode(
    agent: CodingAgent,
    config: &Config,
    around: &Surroundings,
    findings: &mut Findings,
) {
    findings.add_ok(ABOUT, StartingMode::for_agent(agent, around).text(config.gate.unattended));
    let also = if *agent == CODEX {
        ", and does not ask before it types into a running program"
    } else {
        ""
    };
    let name = agent.name;
    let text = if agent.failures.is_open() {
        format!(
            "{name} takes a hook that is {} for \"go on\"{also}: in a mode that asks nobody the call \
             then runs",
            open_failures(agent)
        )
    } else {
        format!("{name} takes a hook that fails in any way for a no")
    };
    findings.add_ok(ABOUT, text);
}

/// Says which failures of a hook let the call run.
fn open_failures(agent: CodingAgent) -> String {
    let failures = [
        (agent.failures.missing, "missing"),
        (agent.failures.exit, "killed"),
        (agent.failures.timeout, "out of time"),
        (agent.failures.garbage, "garbled"),
    ];
    let open = failures.iter().filter(|(fate, _)| *fate == CallFate::GoesOn);
    let open: Vec<&str> = open.map(|(_, what)| *what).collect();
    match open.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
