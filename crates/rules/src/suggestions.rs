//! Suggests the few rules that would have answered most of what people allowed anyway.
//!
//! No suggestion covers a past denial: each rule is tried on all of them, alone, together with the
//! user's rules, and at last together with the other suggestions.

use std::collections::HashMap;

use crate::act::Act;
use crate::disk::NoLinks;
use crate::file::RuleFile;
use crate::guard::GuardedSet;
use crate::judge::judge_act;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::proposal::{RuleConditions, RuleProposal, similar_conditions};
use crate::rule::{RuleDecision, Trust};

const MOST_SUGGESTIONS: usize = 8;
const FEWEST_SAVED: u64 = 2;
/// The most rules that are tried. Each is judged on all denied calls and on those that it covers.
const MOST_TRIED: usize = 64;

/// A call, and how often what was decided about it.
#[derive(Debug, Clone)]
pub struct DecidedCall {
    pub act: Act,
    /// How often a person was asked about it and allowed it.
    pub allowed: u64,
    pub denied: u64,
    pub undecided: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSuggestion {
    pub rule: RuleProposal,
    /// How many questions it would have saved that the suggestions before it would not.
    pub saves: u64,
    /// The calls that it would have let through although nobody allowed them, by their indexes.
    pub beyond: Vec<usize>,
}

struct TriedRule {
    rule: RuleProposal,
    file: RuleFile,
    /// The calls that it saves, by their indexes.
    saves: Vec<usize>,
}

/// Suggests rules for calls that people allowed, to be added to a policy, the one that saves most
/// first. `go_on` is called now and then with how much is done of how much; returns `None` if it
/// returned false.
pub fn suggest_rules(
    policy: &Policy,
    guarded: &GuardedSet,
    calls: &[DecidedCall],
    now: &Moment,
    go_on: &dyn Fn(usize, usize) -> bool,
) -> Option<Vec<RuleSuggestion>> {
    let judged = JudgedCalls { policy, guarded, calls, now };
    let candidates = judged.candidates(go_on)?;
    let total = candidates.len();
    let mut tried = Vec::new();
    for (at, (conditions, covered)) in candidates.into_iter().enumerate() {
        if !go_on(at, total) {
            return None;
        }
        tried.extend(judged.try_rule(&conditions, covered));
    }
    let chosen = judged.choose_rules(tried);
    Some(chosen.into_iter().map(|(tried, saves)| judged.suggestion(tried, saves)).collect())
}

struct JudgedCalls<'a> {
    policy: &'a Policy,
    guarded: &'a GuardedSet,
    calls: &'a [DecidedCall],
    now: &'a Moment,
}

impl JudgedCalls<'_> {
    fn allows(&self, policy: &Policy, act: &Act) -> bool {
        judge_act(policy, act, &NoLinks, self.now).decision == RuleDecision::Allow
    }

    /// Returns the conditions that hold for most of the calls that were allowed, with the indexes
    /// of these calls.
    fn candidates(
        &self,
        go_on: &dyn Fn(usize, usize) -> bool,
    ) -> Option<Vec<(RuleConditions, Vec<usize>)>> {
        let mut found: HashMap<RuleConditions, (usize, Vec<usize>)> = HashMap::new();
        for (at, call) in self.calls.iter().enumerate() {
            if at % 256 == 0 && !go_on(at, self.calls.len()) {
                return None;
            }
            let verdict = judge_act(self.policy, &call.act, &NoLinks, self.now);
            if call.allowed == 0 || verdict.decision != RuleDecision::Ask || verdict.is_guarded {
                continue;
            }
            for (width, conditions) in similar_conditions(&call.act).into_iter().enumerate() {
                let (widest, covered) = found.entry(conditions).or_default();
                *widest = width.max(*widest);
                covered.push(at);
            }
        }
        let weight = |covered: &[usize]| covered.iter().map(|at| self.calls[*at].allowed).sum();
        let mut found: Vec<_> = found
            .into_iter()
            .map(|(conditions, (width, covered))| {
                (std::cmp::Reverse::<u64>(weight(&covered)), width, conditions, covered)
            })
            .filter(|(weight, ..)| weight.0 >= FEWEST_SAVED)
            .collect();
        // Of rules that save as much, the narrower one is tried first. The order of the map is
        // another one each time; sorted, the same ledger leads to the same suggestions.
        found.sort();
        found.truncate(MOST_TRIED);
        Some(found.into_iter().map(|(.., conditions, covered)| (conditions, covered)).collect())
    }

    /// Tries a rule. Returns `None` if it covers a denial, saves too little, or has problems.
    fn try_rule(&self, conditions: &RuleConditions, covered: Vec<usize>) -> Option<TriedRule> {
        let rule = conditions.rule(RuleDecision::Allow, None, &[]);
        let file = RuleFile::from_toml("a suggested rule", &rule.toml, Trust::User);
        if !file.problems.is_empty() {
            return None;
        }
        // Alone it covers a denial even where another rule of the user denies the call now.
        let alone = Policy::new(self.guarded.clone()).with_file(&file, None);
        let together = self.policy.clone().with_file(&file, None);
        let covers_denial = |call: &DecidedCall| {
            self.allows(&alone, &call.act) || self.is_new(&together, &call.act)
        };
        if self.calls.iter().any(|call| call.denied > 0 && covers_denial(call)) {
            return None;
        }
        let saves = |at: &usize| self.allows(&together, &self.calls[*at].act);
        let saves: Vec<usize> = covered.into_iter().filter(saves).collect();
        (!saves.is_empty()).then_some(TriedRule { rule, file, saves })
    }

    /// Returns true if a policy allows an act that the user's rules do not allow.
    fn is_new(&self, policy: &Policy, act: &Act) -> bool {
        self.allows(policy, act) && !self.allows(self.policy, act)
    }

    /// Chooses the rules that save most beside each other, each with how much it saves.
    fn choose_rules(&self, mut tried: Vec<TriedRule>) -> Vec<(TriedRule, u64)> {
        let mut is_saved = vec![false; self.calls.len()];
        let mut chosen: Vec<(TriedRule, u64)> = Vec::new();
        while chosen.len() < MOST_SUGGESTIONS {
            let saves = |rule: &TriedRule| -> u64 {
                let fresh = rule.saves.iter().filter(|at| !is_saved[**at]);
                fresh.map(|at| self.calls[*at].allowed).sum()
            };
            // The first of those that save most, which is the narrowest. `max_by_key` returns the
            // last, so the order is reversed.
            let best = (0..tried.len()).rev().max_by_key(|at| saves(&tried[*at]));
            let Some(best) = best.filter(|at| saves(&tried[*at]) >= FEWEST_SAVED) else { break };
            let count = saves(&tried[best]);
            let rule = tried.remove(best);
            if self.cover_no_denial(chosen.iter().map(|(rule, _)| rule).chain([&rule])) {
                rule.saves.iter().for_each(|at| is_saved[*at] = true);
                chosen.push((rule, count));
            }
        }
        chosen
    }

    /// Returns true if these rules together let no denied call through.
    fn cover_no_denial<'t>(&self, rules: impl Iterator<Item = &'t TriedRule>) -> bool {
        let together =
            rules.fold(self.policy.clone(), |policy, rule| policy.with_file(&rule.file, None));
        let mut denied = self.calls.iter().filter(|call| call.denied > 0);
        !denied.any(|call| self.is_new(&together, &call.act))
    }

    fn suggestion(&self, tried: TriedRule, saves: u64) -> RuleSuggestion {
        let together = self.policy.clone().with_file(&tried.file, None);
        let is_beyond = |call: &DecidedCall| {
            call.allowed == 0 && call.undecided > 0 && self.is_new(&together, &call.act)
        };
        let calls = self.calls.iter().enumerate();
        let beyond = calls.filter(|(_, call)| is_beyond(call)).map(|(at, _)| at).collect();
        RuleSuggestion { rule: tried.rule, saves, beyond }
    }
}

#[cfg(test)]
mod tests;
