//! The open questions as a list, and what is unusual about each.

use serde::{Deserialize, Serialize};

use crate::approval::AllowDemands;

/// All open questions, those that run out first on top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskInbox {
    /// The number of the last entry that this list takes into account.
    pub head: u64,
    /// How many questions are open, which may be more than there are rows.
    pub open: u64,
    pub rows: Vec<InboxRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxRow {
    pub question: String,
    /// The number of the entry with which it was asked.
    pub seq: u64,
    /// The agent that asks, by the name that people know.
    pub agent: String,
    /// The folder the agent works in.
    pub project: String,
    pub session: String,
    /// The agent's name for the tool.
    pub tool: String,
    /// What a call of the tool does, in words, such as "Run a command".
    #[serde(default)]
    pub deed: String,
    /// What the question is about, on one line, shortened.
    pub summary: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: i64,
    /// Until when an answer counts, in milliseconds since 1970.
    pub until_ms: i64,
    pub ruling: AskedRuling,
    /// Why a person is asked, if a rule says so.
    pub because: Option<String>,
    pub needs: AnswerNeeds,
    pub mode: Option<String>,
    pub risks: Vec<RiskNote>,
    /// Equal for questions that may be answered together; `None` if it has to be answered alone.
    pub alike: Option<String>,
    /// The machine on which the agent runs, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    #[serde(default, skip_serializing_if = "AllowDemands::is_empty")]
    pub demands: AllowDemands,
    /// Who has allowed it, while another person has to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<String>,
}

impl InboxRow {
    /// Returns what has to happen before it is allowed, in a sentence without its end; nothing if
    /// one person decides.
    pub fn demand_text(&self) -> Option<String> {
        match &self.allowed_by {
            Some(by) => Some(format!("{by} allowed; one more person is needed")),
            None => self.demands.sentence().map(str::to_owned),
        }
    }

    /// Returns where the agent works: the folder, and the machine if it is another one.
    pub fn shown_place(&self) -> String {
        match &self.machine {
            Some(machine) => format!("{} on {machine}", self.project),
            None => self.project.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedRuling {
    /// A rule says so, or no rule decides.
    Ask,
    /// It touches callgate itself.
    Guard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerNeeds {
    Press,
    /// A press and a typed word.
    Confirm,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RiskNote {
    pub kind: RiskKind,
    /// What it is, in words for a person.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskKind {
    /// Nothing like it was allowed in this project before.
    FirstTime,
    /// It reaches outside the project's folder.
    Outside,
    /// It uses the network.
    Network,
    Deletes,
    /// It touches callgate itself, or what determines whether an agent asks.
    Gate,
    /// Part of what would run is masked.
    Hidden,
    /// What it does is not fully known.
    Unclear,
}
