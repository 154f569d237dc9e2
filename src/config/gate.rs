//! The section `[gate]`: what holds where an agent asks nobody, and where no desk can be asked.

pub(crate) use callgate_approval::desk::Unattended;

use super::check::Check;
use super::problem::Setting;

/// The settings of the gate before every tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateSettings {
    /// What holds in modes in which the agent asks nobody.
    pub(crate) unattended: Setting<Unattended>,
    /// What holds while no desk can be asked.
    pub(crate) when_absent: Setting<WhenAbsent>,
}

/// What becomes of a call that no rule denies, while no desk can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenAbsent {
    /// It is left to the agent, which asks its user or not.
    Agent,
    /// It is denied unless a rule allows it.
    Deny,
}

fn parse_unattended(text: &str) -> Option<Unattended> {
    match text {
        "rules" => Some(Unattended::Rules),
        "ask" => Some(Unattended::Ask),
        _ => None,
    }
}

impl WhenAbsent {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "agent" => Some(Self::Agent),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl Check<'_> {
    /// Checks the section `[gate]`. Whoever wants to be asked about everything does not want
    /// everything to run while nobody can be.
    pub(super) fn gate(&mut self) -> GateSettings {
        let must = "must be rules or ask";
        let unattended = self.word("gate.unattended", parse_unattended, must, Unattended::Rules);
        let otherwise = match unattended.value {
            Unattended::Rules => WhenAbsent::Agent,
            Unattended::Ask => WhenAbsent::Deny,
        };
        let must = "must be agent or deny";
        let when_absent = self.word("gate.when_absent", WhenAbsent::parse, must, otherwise);
        GateSettings { unattended, when_absent }
    }
}
