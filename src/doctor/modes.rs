//! Reports the mode in which each agent starts, and what callgate does in it.

use super::finding::Findings;
use super::installed_hook::HookedAgent;
use callgate_wire::hook::agents::CODEX;

use crate::agents::failure_words::hook_failure_words;
use crate::agents::starting_mode::StartingMode;

const ABOUT: &str = "modes";

/// Says in which mode the agent starts, what callgate does in it, and what the agent does if a hook
/// fails.
pub(super) fn check_starting_mode(checked: &HookedAgent, findings: &mut Findings) {
    let HookedAgent { agent, config, around, .. } = *checked;
    findings.add_ok(ABOUT, StartingMode::for_agent(agent, around).text(config.gate.unattended));
    let also = if *agent == CODEX {
        "; it does not ask before it types into a running program"
    } else {
        ""
    };
    let fails = hook_failure_words(agent.failures);
    findings.add_ok(ABOUT, format!("{}: {fails}{also}", agent.name));
}
