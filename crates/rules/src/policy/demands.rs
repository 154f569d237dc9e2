//! What rules demand of an allow, beyond the yes of one person.
//!
//! The demands of all rules that apply are joined, whichever of them decides: a member's own
//! `confirm` does not take the place of a team's `two_people`. A demand also applies to what the
//! rule could be about, where a person is asked for that reason.

use std::sync::Arc;

use callgate_wire::approval::AllowDemands;

use super::{Policy, UnclearCommands, Verdict};
use crate::act::Act;
use crate::moment::Moment;
use crate::rule::{Rule, RuleDecision};
use crate::steps;

impl Policy {
    /// Adds what the rules demand to the verdict on an act, if a rule, the guard or the judge
    /// requires a person. `is_whole` is false if not all that the act is about is known.
    pub(crate) fn with_demands(
        &self,
        verdict: Verdict,
        act: &Act,
        moment: &Moment,
        is_whole: bool,
    ) -> Verdict {
        let is_asked = matches!(verdict.decision, RuleDecision::Ask | RuleDecision::Confirm);
        if !self.has_demands || !is_asked || !verdict.wants_person {
            return verdict;
        }
        let demanding = || self.rules.iter().filter(|rule| !rule.demands.is_empty());
        // Where unclear commands are left to the mode, no rule asks because of what is not known.
        let opened = (self.unclear == UnclearCommands::Ask).then(|| act.with_unknown_opened());
        let opened = opened.flatten();
        let is_concerned = |rule: &&Arc<Rule>| {
            rule.tightens(act, moment).is_ok() || could_concern(rule, act, opened.as_ref(), moment)
        };
        let (found, was_enough) = steps::run_with_budget(steps::JUDGING, || {
            demanding().filter(is_concerned).collect::<Vec<_>>()
        });
        // Comparisons without a budget find nothing, which proves nothing.
        let is_whole = is_whole && was_enough && !act.is_cut;
        // All demands count then, since any of these rules may apply to what was not read.
        let found = if is_whole { found } else { demanding().collect() };
        let demands = found.iter().map(|rule| rule.demands);
        let demands = demands.fold(AllowDemands::default(), AllowDemands::union_with);
        let demanded_by = found.iter().map(|rule| rule.render_name()).collect();
        Verdict { demands, demanded_by, ..verdict }
    }
}

impl Verdict {
    /// Returns what is demanded of an allow and by which rules, in a sentence without its end.
    pub fn demand_text(&self) -> Option<String> {
        let rules = if self.demanded_by.len() == 1 { "rule" } else { "rules" };
        let by = self.demanded_by.join(", ");
        Some(format!("{}, by {rules} {by}", self.demands.sentence()?))
    }
}

/// Returns true if a rule could apply to an act that is not fully known, or to something in a
/// folder that the act uses as a whole. `opened` is the act with all that it could be.
fn could_concern(rule: &Rule, act: &Act, opened: Option<&Act>, moment: &Moment) -> bool {
    (act.runs.anything.is_some() && rule.check_surroundings(act, moment).is_ok())
        || opened.is_some_and(|open| rule.tightens(open, moment).is_ok())
        || rule.reaches_listed(opened.unwrap_or(act), moment).is_some()
        || rule.reaches_swept(act, moment).is_some()
}
