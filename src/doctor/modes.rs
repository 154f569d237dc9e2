//! Reports the mode in which each agent starts, and what callgate does in it.

use super::finding::Findings;
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
    let open = match agent {
        CodingAgent::Claude => {
            "Claude Code takes a hook that is missing, killed or out of time for \"go on\""
        }
        CodingAgent::Codex => {
            "Codex takes a hook that is missing, killed or out of time for \"go on\", and does not \
             ask before it types into a running program"
        }
    };
    findings.ok(ABOUT, format!("{open}: in a mode that asks nobody the call then runs"));
}
