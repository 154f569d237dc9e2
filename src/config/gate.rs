//! The section `[gate]`: what holds where an agent asks nobody, and where no desk can be asked.

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

/// What becomes of a call that no rule names, in a mode in which the agent asks nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unattended {
    /// It is left to the mode.
    Rules,
    /// A person is asked at the desk, and no answer is a deny.
    Ask,
}

/// What becomes of a call that no rule denies, while no desk can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenAbsent {
    /// It is left to the agent, which asks its user or not.
    Agent,
    /// It is denied unless a rule allows it.
    Deny,
}

impl Unattended {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "rules" => Some(Self::Rules),
            "ask" => Some(Self::Ask),
            _ => None,
        }
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
        let unattended = self.word("gate.unattended", Unattended::parse, must, Unattended::Rules);
        let otherwise = match unattended.value {
            Unattended::Rules => WhenAbsent::Agent,
            Unattended::Ask => WhenAbsent::Deny,
        };
        let must = "must be agent or deny";
        let when_absent = self.word("gate.when_absent", WhenAbsent::parse, must, otherwise);
        GateSettings { unattended, when_absent }
    }
}
