//! What `callgate install` says about the hooks of an agent.

use callgate_wire::hook::agents::{CallFate, HookFailures, LimitUnit};

use crate::agents::CodingAgent;
use crate::config::{Config, WhenAbsent};

/// Returns the time limit of a hook in words, if there is one.
pub(super) fn limit_words(agent: CodingAgent, timeout: u64) -> String {
    match agent.settings.unit {
        LimitUnit::Seconds => format!(" (up to {timeout} s)"),
        LimitUnit::Milliseconds => format!(" (up to {} s)", timeout / 1000),
        LimitUnit::None => String::new(),
    }
}

/// Says what happens to a call that no rule covers while nobody can be asked.
pub(super) fn absent_words(agent: CodingAgent, config: &Config) -> String {
    let (holds, so) = match config.gate.when_absent_of(Some(agent.word)) {
        WhenAbsent::Deny => ("deny", "is denied"),
        WhenAbsent::Agent => ("agent", "is left to the agent"),
    };
    let HookFailures { missing, exit, .. } = agent.failures;
    let fails = if [missing, exit].contains(&CallFate::GoesOn) {
        "a hook that is missing or killed counts as a yes in modes that ask nobody"
    } else {
        "a hook that is missing or killed counts as a no"
    };
    format!(
        "when_absent = {holds}: without `callgate up`, what no rule covers {so}; with it, no answer \
         is a no; {fails}"
    )
}
