//! What was decided and run: rows, figures and exports.

use serde::{Deserialize, Serialize};

use crate::ledger::AnswerChannel;

pub const MOST_HISTORY_ROWS: u64 = 200;

/// Selects rows of the history. Each condition narrows the selection; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryFilter {
    /// Words that all have to occur in the summary, the input, the words or the names, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The machine on which the agent ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The project's folder: its whole path, or the end of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The beginning of the session's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<HistoryDecision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<HistoryDecider>,
    /// At this time or later, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Before this time, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryDecision {
    Allow,
    Deny,
    Timeout,
    /// Its asker went away before anybody answered.
    Withdrawn,
    Open,
    /// It ran, and callgate learned of it afterwards.
    Ran,
    /// It was no call: somebody saved the rules.
    Saved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryDecider {
    Person,
    Rule,
}

/// A page of the history, the newest row first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskHistory {
    pub rows: Vec<HistoryRow>,
    /// The number before which the next page begins; `None` at the end.
    pub next: Option<u64>,
}

/// A question with its decision, a call that a rule decided, or a call that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// The number of its first entry.
    pub seq: u64,
    /// When that was, in milliseconds since 1970.
    pub at_ms: i64,
    /// The question's id, if anybody was asked.
    pub question: Option<String>,
    /// The agent's name for the tool.
    pub tool: String,
    /// What it was about, on one line, shortened.
    pub summary: String,
    /// The folder the agent worked in.
    pub project: String,
    pub session: String,
    pub agent: Option<String>,
    /// The machine on which the agent ran, if it was another one. No rule is made from a call
    /// there, because the rules of this machine do not apply to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The agent's permission mode.
    pub mode: Option<String>,
    pub decision: HistoryDecision,
    pub by: Option<String>,
    pub channel: Option<AnswerChannel>,
    /// How long the answer took, in milliseconds.
    pub took_ms: Option<u64>,
    /// Whether the tool succeeded, if it is known.
    pub ok: Option<bool>,
    pub words: Option<String>,
    pub edited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated values, with a header on the first page.
    Csv,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedPage {
    pub text: String,
    /// The number before which the next part begins; `None` at the end.
    pub next: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerFigures {
    /// The hours in which anything happened, in order.
    pub hours: Vec<HourFigures>,
    pub answer_ms: AnswerTimes,
    pub shares: DecisionShares,
    /// By project, the largest first.
    pub by_project: Vec<NamedFigures>,
    /// By agent, the largest first.
    pub by_agent: Vec<NamedFigures>,
    /// By tool, the largest first.
    pub by_tool: Vec<NamedFigures>,
    /// By machine, without this one, the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_machine: Vec<NamedFigures>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourFigures {
    /// When the hour began, in milliseconds since 1970.
    pub at_ms: i64,
    /// How many questions were put to people.
    pub asked: u64,
    /// How many calls people allowed.
    pub allowed: u64,
    /// How many calls people denied.
    pub denied: u64,
    /// How many calls rules decided.
    pub by_rule: u64,
}

/// How long people took to answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerTimes {
    /// Half of the answers took at most this long; `None` without answers.
    pub p50: Option<u64>,
    /// Nine of ten answers took at most this long.
    pub p90: Option<u64>,
    /// The answers by how long they took.
    pub buckets: Vec<AnswerTimeBucket>,
}

/// The answers that took at most this long, and longer than the bucket before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerTimeBucket {
    /// The longest time in it, in milliseconds; `None` in the last one.
    pub up_to_ms: Option<u64>,
    pub count: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionShares {
    /// Allowed by people.
    pub allowed: u64,
    /// Denied by people.
    pub denied: u64,
    /// Decided by rules.
    pub by_rule: u64,
    /// Not answered in time.
    pub timeout: u64,
}

/// The calls of one project, agent or tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFigures {
    pub name: String,
    pub count: u64,
    /// How many of them were allowed, by people or by rules.
    pub allowed: u64,
    /// How many of them were denied, by people or by rules.
    pub denied: u64,
}

/// What a walk along the ledger's chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedLedger {
    pub whole: bool,
    pub entries: u64,
    /// The head of the chain, as `SEQ:HASH`, to be noted elsewhere.
    pub head: Option<String>,
    /// What that means, in words for a person.
    pub text: String,
}
