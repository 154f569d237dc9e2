//! What viewers ask about the rules. The desk itself knows no rules; whoever starts the daemon
//! supplies the answers.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_wire::desk::{
    BacktestReport, CommandSegment, ExplainQuery, ProposedRule, RiskNote, RuleDecision,
    RuleExplanation, RuleProblem, RulesView, SuggestedRules,
};

/// Answers what viewers ask about the rules.
///
/// Every method may block: it is called on a thread of its own and delays nobody. An error is shown
/// to the viewer's user, so it says what to do.
pub trait RuleDesk: fmt::Debug + Send + Sync {
    fn current_rules(&self) -> Result<RulesView, String>;

    fn check_rules(&self, text: &str) -> Vec<RuleProblem>;

    /// Returns what the rules decide about a call.
    fn explain_call(&self, query: &ExplainQuery) -> Result<RuleExplanation, String>;

    /// Returns what these rules would have decided over the whole ledger.
    fn backtest_rules(
        &self,
        text: &str,
        monitor: &WorkMonitor<'_>,
    ) -> Result<BacktestReport, String>;

    /// Replaces the user's rules, unless their text no longer has this hash.
    fn save_rules(&self, text: &str, hash: &str) -> Result<SavedRules, String>;

    /// Returns one rule for a call, which holds for this many seconds or for good.
    fn propose_rule(
        &self,
        call: &RecordedCall,
        decide: RuleDecision,
        seconds: Option<u64>,
    ) -> Result<ProposedRule, String>;

    /// Returns the rules that would have answered most of what was allowed anyway.
    fn suggest_rules(&self, monitor: &WorkMonitor<'_>) -> Result<SuggestedRules, String>;

    /// Splits a command into pieces, which joined are the command.
    fn split_command(&self, command: &str) -> Vec<CommandSegment>;

    /// Returns what is unusual about a call, as far as the call itself shows it.
    fn risks_of_call(&self, call: &RecordedCall) -> Vec<RiskNote>;
}

/// The user's rules after they were replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedRules {
    pub count: usize,
    pub hash: String,
}

impl SavedRules {
    /// Returns what was done, in words for a person.
    pub fn summary(&self) -> String {
        let (count, name) = (self.count, if self.count == 1 { "rule" } else { "rules" });
        let hash = self.hash.get(..8).unwrap_or(&self.hash);
        format!("Saved {count} {name} (hash {hash})")
    }
}

/// A call as the ledger has it: masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// The agent's name for the tool.
    pub tool: String,
    /// The input, as JSON.
    pub input: String,
    /// The folder the agent worked in.
    pub project: String,
    pub agent: String,
}

/// Reports the progress of long work, and tells it when nobody wants its result any more.
#[derive(Clone, Copy)]
pub struct WorkMonitor<'a> {
    cancelled: &'a AtomicBool,
    progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl<'a> WorkMonitor<'a> {
    /// Makes a monitor. The work is to end soon after `cancelled` is set.
    pub fn new(cancelled: &'a AtomicBool, progress: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        Self { cancelled, progress }
    }

    pub fn is_cancelled(&self) -> bool {
        // Relaxed is enough, because the flag guards no other memory.
        self.cancelled.load(Ordering::Relaxed)
    }

    pub fn report_progress(&self, done: u64, total: u64) {
        (self.progress)(done, total);
    }
}
