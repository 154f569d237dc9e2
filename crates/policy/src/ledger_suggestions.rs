//! The rules that would have answered most of what people allowed, found in the ledger.

use std::collections::HashMap;

use callgate_mask::mask_text;
use callgate_rules::{Act, DecidedCall, GuardedSet, Policy, RuleDecision, RuleSuggestion};
use callgate_store::{Store, StoreError};
use callgate_wire::desk::BeyondCall;
use callgate_wire::tool_act::ToolKind;
use sha2::{Digest, Sha256};

use crate::local_clock::RuleSurroundings;
use crate::past_questions::{GoOn, PastQuestion, parse_asked_body, read_questions, request_parts};

/// The most different calls that are considered. All denied calls are considered.
const MOST_CALLS: usize = 20_000;
/// The longest input of a call for which a rule is suggested, in bytes.
const LONGEST_INPUT: usize = 8 * 1024;
/// How many of the calls that a rule would let through without having been allowed are shown.
pub const MOST_BEYOND: usize = 20;

/// Suggested rules, with the calls to which they refer.
pub struct LedgerSuggestions {
    pub suggestions: Vec<RuleSuggestion>,
    /// The first question about each call.
    rows: Vec<BeyondCall>,
}

impl LedgerSuggestions {
    /// Returns the first calls that a suggestion lets through although nobody allowed them, without
    /// secrets.
    pub fn calls_beyond(&self, suggestion: &RuleSuggestion) -> impl Iterator<Item = BeyondCall> {
        let rows = suggestion.beyond.iter().filter_map(|at| self.rows.get(*at)).take(MOST_BEYOND);
        rows.map(|row| BeyondCall { summary: mask_text(&row.summary).into_shown(), ..row.clone() })
    }
}

/// Returns the rules that would have answered most of what people allowed. Returns `None` if the
/// work was stopped early.
pub fn suggest_from_ledger(
    policy: &Policy,
    guarded: &GuardedSet,
    around: &RuleSurroundings,
    store: &Store,
    go_on: GoOn<'_>,
) -> Result<Option<LedgerSuggestions>, StoreError> {
    let mut past = PastCalls { home: around.home.clone(), ..PastCalls::default() };
    if !read_questions(store, go_on, &mut |question| past.add_question(&question))? {
        return Ok(None);
    }
    let now = around.now();
    // The progress begins anew, because this takes as long again as reading the ledger.
    let go_on = |done: usize, total: usize| go_on(done as u64, total as u64);
    let suggestions = callgate_rules::suggest_rules(policy, guarded, &past.calls, &now, &go_on);
    Ok(suggestions.map(|suggestions| LedgerSuggestions { suggestions, rows: past.rows }))
}

/// The different calls of the ledger.
#[derive(Default)]
struct PastCalls {
    home: String,
    calls: Vec<DecidedCall>,
    rows: Vec<BeyondCall>,
    /// The index of each call, by the hash of everything that distinguishes calls.
    known: HashMap<[u8; 32], usize>,
}

impl PastCalls {
    fn add_question(&mut self, question: &PastQuestion) {
        let asked = parse_asked_body(&question.body);
        let is_denied = question.decided == RuleDecision::Deny;
        // What a rule has allowed needs no other rule.
        if !is_denied && !asked.ruling.is_for_people() {
            return;
        }
        let request = asked.recorded_request();
        let [tool, cwd, agent, input] = request_parts(&request);
        // No rule answers a question of the agent to its user.
        if ToolKind::for_tool(agent, tool).asks_a_person() {
            return;
        }
        let hash = Sha256::digest(format!("{tool}\0{cwd}\0{agent}\0{input}")).into();
        let at = match self.known.get(&hash) {
            Some(at) => *at,
            // A suggestion must not cover a denied call, so none of those is left out.
            None if !is_denied
                && (input.len() > LONGEST_INPUT || self.calls.len() >= MOST_CALLS) =>
            {
                return;
            }
            None => {
                let act = Act::from_call(tool, input, cwd, agent, &self.home);
                self.calls.push(DecidedCall { act, allowed: 0, denied: 0, undecided: 0 });
                let summary = asked.summary.clone();
                self.rows.push(BeyondCall { seq: question.seq, summary, project: cwd.to_owned() });
                self.known.insert(hash, self.calls.len() - 1);
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        match question.decided {
            RuleDecision::Allow => call.allowed += 1,
            RuleDecision::Deny => call.denied += 1,
            RuleDecision::Ask | RuleDecision::Confirm => call.undecided += 1,
        }
    }
}
