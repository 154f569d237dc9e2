//! The rules as a viewer sees them, and what they would decide.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::CommandSegment;
use crate::approval::RequestId;
use crate::fields::required_json_object;

words! {
    /// What a rule decides about a call. A later variant overrides an earlier one.
    #[derive(PartialOrd, Ord)]
    pub enum RuleDecision {
        Allow "allow",
        Ask "ask",
        /// Somebody has to be asked, and to type a word of what they allow.
        Confirm "confirm",
        Deny "deny",
    }
}

/// The rules that apply now: the user's file whole, the files of projects as lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesView {
    /// The user's file.
    pub path: String,
    /// Its text; empty if there is none.
    pub text: String,
    /// A hash of the text, which `save_rules` repeats.
    pub hash: String,
    pub problems: Vec<RuleProblem>,
    pub rules: Vec<RuleView>,
    /// The text of a file to start with, while the user has no rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<Box<RuleFileView>>,
    pub projects: Vec<RuleFileView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleView {
    pub name: String,
    pub decide: RuleDecision,
    /// The line of its file on which it begins, from 1.
    pub line: u64,
    /// The rule as it is written.
    pub text: String,
    /// When it ends, as it is written.
    pub until: Option<String>,
    pub is_over: bool,
    pub reason: Option<String>,
    pub source: String,
}

/// A file of rules that cannot be changed here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFileView {
    /// The project's file, or the name of the team's rules.
    pub path: String,
    pub problems: Vec<RuleProblem>,
    pub rules: Vec<RuleView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleProblem {
    /// The line, from 1.
    pub line: u64,
    pub level: RuleProblemLevel,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleProblemLevel {
    /// The file cannot be used.
    Error,
    /// The file can be used, but probably does not do what was meant.
    Warning,
}

message_structs! {
    /// A call about which a viewer asks what the rules would decide.
    pub struct ExplainQuery {
        /// The tool; a shell if it is absent.
        tool optional: Option<String> = "a string",
        /// A shell command, instead of an input.
        command optional: Option<String> = "a string",
        /// The tool's input: an object.
        input optional: Option<Box<RawValue>> = required_json_object,
        project: String = "a string",
        agent optional: Option<String> = "a string",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleExplanation {
    pub decision: ExplainedDecision,
    pub because: String,
    /// The rules that were considered, in order.
    pub considered: Vec<RuleMatch>,
    pub segments: Option<Vec<CommandSegment>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExplainedDecision {
    Allow,
    Deny,
    Ask,
    /// A person decides, and types a word to allow it.
    Confirm,
    /// No rule decides: the agent's mode and the settings do.
    Undecided,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleMatch {
    pub rule: String,
    pub matches: bool,
    /// Why, or why not.
    pub text: String,
}

/// What changed rules would have decided over the whole ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacktestReport {
    pub judged: u64,
    /// Calls that were denied and that the rules would allow, the newest first.
    pub let_through: Vec<TurnedCall>,
    /// How many of these there are.
    pub let_through_count: u64,
    /// How many decisions would change, by what they were and would be.
    pub turned: Vec<TurnedCount>,
    /// How many questions the rules would have saved.
    pub saved: u64,
    /// Examples of other decisions that would change.
    pub examples: Vec<TurnedCall>,
}

/// A call about which changed rules would have decided differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnedCall {
    /// The number of its entry.
    pub seq: u64,
    /// When it was, in milliseconds since 1970.
    pub at_ms: i64,
    pub summary: String,
    pub project: String,
    pub was: RuleDecision,
    pub would: RuleDecision,
}

/// How many decisions would change in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnedCount {
    /// What was decided.
    pub from: RuleDecision,
    /// What the rules would decide.
    pub to: RuleDecision,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum ProposalSource {
    /// An open or past question.
    #[serde(rename = "question")]
    Question(RequestId),
    /// A row of the history, by its number.
    #[serde(rename = "seq")]
    Entry(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedRule {
    /// The rule, as one `[[rule]]`.
    pub toml: String,
    pub name: String,
}

/// Rules that would have answered most of what was allowed anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedRules {
    /// The rules, the one that saves most first.
    pub rules: Vec<SuggestedRule>,
}

/// A rule that would have answered questions which were allowed anyway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedRule {
    /// The rule, as one `[[rule]]`.
    pub toml: String,
    pub name: String,
    /// How many questions it would have saved.
    pub saves: u64,
    /// What it would have allowed beyond them.
    pub beyond: Vec<BeyondCall>,
    /// How many of these there are.
    pub beyond_count: u64,
}

/// A call that a suggested rule would have allowed although no person did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeyondCall {
    /// The number of its entry.
    pub seq: u64,
    pub summary: String,
    pub project: String,
}
