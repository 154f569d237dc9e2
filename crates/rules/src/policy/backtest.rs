//! What a policy would have decided on past acts.

use super::Verdict;
use crate::rule::RuleDecision;

/// The most acts that are listed one by one; more are only counted.
pub const LONGEST_LIST: usize = 1_000;

#[derive(Debug, Clone)]
pub struct TurnedVerdict {
    pub label: String,
    pub decided: RuleDecision,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Backtest {
    pub acts: usize,
    /// How many of them would have been allowed, asked, confirmed and denied.
    pub would: [usize; 4],
    /// How many were denied then and would be permitted now.
    pub let_through_count: usize,
    /// The first of them.
    pub let_through: Vec<TurnedVerdict>,
    /// How many were allowed then and would be denied now.
    pub newly_denied_count: usize,
    /// The first of them.
    pub newly_denied: Vec<TurnedVerdict>,
    /// How many a person was asked about then, and nobody would be asked about now.
    pub spared: usize,
    /// How many acts were decided in one way then (the first index) and would be in another now.
    pub turned: [[usize; 4]; 4],
}

impl Backtest {
    /// Returns how many acts would have got this decision.
    pub fn count(&self, decision: RuleDecision) -> usize {
        self.would[decision as usize]
    }

    /// Adds an act with the decision of the policy. `was_asked` is whether a person was asked then.
    pub fn add_act(
        &mut self,
        label: String,
        decided: RuleDecision,
        was_asked: bool,
        verdict: &Verdict,
    ) {
        self.acts += 1;
        self.would[verdict.decision as usize] += 1;
        let asks_nobody = matches!(verdict.decision, RuleDecision::Allow | RuleDecision::Deny);
        self.spared += usize::from(was_asked && asks_nobody);
        self.turned[decided as usize][verdict.decision as usize] += 1;
        let (count, list) = match (decided, verdict.decision) {
            (RuleDecision::Deny, RuleDecision::Allow) => {
                (&mut self.let_through_count, &mut self.let_through)
            }
            (RuleDecision::Allow, RuleDecision::Deny) => {
                (&mut self.newly_denied_count, &mut self.newly_denied)
            }
            _ => return,
        };
        *count += 1;
        if list.len() < LONGEST_LIST {
            list.push(TurnedVerdict { label, decided, verdict: verdict.clone() });
        }
    }

    /// Adds the result for other acts. The lists keep the entries with the first labels.
    pub fn add_result(&mut self, other: Self) {
        self.acts += other.acts;
        for (sum, more) in self.would.iter_mut().zip(other.would) {
            *sum += more;
        }
        for (sum, more) in self.turned.iter_mut().flatten().zip(other.turned.iter().flatten()) {
            *sum += more;
        }
        self.let_through_count += other.let_through_count;
        self.newly_denied_count += other.newly_denied_count;
        self.spared += other.spared;
        for (list, more) in [
            (&mut self.let_through, other.let_through),
            (&mut self.newly_denied, other.newly_denied),
        ] {
            if !more.is_empty() {
                list.extend(more);
                // Several threads judge parts of a ledger, and their results arrive in any order.
                list.sort_by(|one, other| one.label.cmp(&other.label));
                list.truncate(LONGEST_LIST);
            }
        }
    }
}
