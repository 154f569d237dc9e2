//! The agents that a command is for.

use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::AGENTS;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::agents::{AgentOnDisk, CodingAgent, SettingsScope};
use crate::config::Surroundings;

/// The word for every agent that is here.
const ALL: &str = "all";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentChoice {
    One(CodingAgent),
    /// Every agent that is here.
    All,
}

impl AgentChoice {
    /// Returns what reads it from the command line.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        let names = AGENTS.iter().map(|agent| PossibleValue::new(agent.word).help(agent.name));
        let all = PossibleValue::new(ALL).help("Every agent that is here");
        let choice = |word: String| AgentProfile::find(&word).map_or(Self::All, Self::One);
        PossibleValuesParser::new(names.chain([all])).map(choice)
    }

    /// Returns the agents into whose settings hooks are to be put.
    pub(crate) fn to_install(
        self,
        scope: SettingsScope,
        around: &Surroundings,
    ) -> Vec<CodingAgent> {
        let is_here = |agent: &CodingAgent| {
            let can = scope == SettingsScope::User || agent.settings.project_folder.is_some();
            can && (agent.is_here(around) || agent.has_folder(scope, around))
        };
        self.chosen_agents(is_here)
    }

    /// Returns the agents whose settings may have hooks.
    pub(crate) fn to_uninstall(
        self,
        scope: SettingsScope,
        around: &Surroundings,
    ) -> Vec<CodingAgent> {
        self.chosen_agents(|agent: &CodingAgent| agent.has_folder(scope, around))
    }

    fn chosen_agents(self, is_here: impl Fn(&CodingAgent) -> bool) -> Vec<CodingAgent> {
        match self {
            Self::One(agent) => vec![agent],
            Self::All => AGENTS.into_iter().filter(|agent| is_here(agent)).collect(),
        }
    }
}

/// Says that no agent was found, and which could be named.
pub(super) fn none_found() -> String {
    let words: Vec<&str> = AGENTS.iter().map(|agent| agent.word).collect();
    let words = words.join(", ");
    format!(
        "no agent was found here, neither its program on PATH nor its settings; name one with \
         --agent: {words}"
    )
}

/// Returns a note on an agent that also runs the hooks in the settings of another one.
pub(super) fn shared_settings(agent: CodingAgent) -> Option<String> {
    let other = agent.reads.iter().find_map(|word| AgentProfile::find(word))?;
    Some(format!(
        "{} also runs the hooks in the settings of {}; nobody is asked twice",
        agent.name, other.name
    ))
}
