//! Reports the mode in which each agent starts, and what callgate does in it.

use super::finding::Findings;
use callgate_wire::hook::agents::CODEX;

use crate::agents::CodingAgent;
use crate::agents::starting_mode::StartingMode;
use crate::config::{Config, Surroundings};

const ABOUT: &str = "modes";

/// Says in which mode the agent starts, what callgate does in it, and what the agent does if a hook
/// fails.
pub(super) fn look(
    agent: CodingAgent,
    config: &Config,
    around: &Surroundings,
    findings: &mut Findings,
) {
    findings.ok(ABOUT, StartingMode::of(agent, around).text(config.gate.unattended));
    let also = if *agent == CODEX {
        ", and does not ask before it types into a running program"
    } else {
        ""
    };
    let open = format!(
        "{} takes a hook that is missing, killed or out of time for \"go on\"{also}",
        agent.name
    );
    findings.ok(ABOUT, format!("{open}: in a mode that asks nobody the call then runs"));
}
