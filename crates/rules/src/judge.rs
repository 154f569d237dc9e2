//! Judges an act by the rules, on a disk, at a time.
//!
//! The hook, the daemon, the runtime, `callgate rules` and its backtests all use this, so that one
//! act has one verdict. A path that leads through a symbolic link is judged by both its names: a
//! rule that denies or asks applies to either, one that allows has to match both.

use crate::act::Act;
use crate::act::follow::FollowedAct;
use crate::bare_repository;
use crate::disk::{Disk, PathFollower};
use crate::moment::Moment;
use crate::outside;
use crate::policy::{Explanation, Policy, Verdict};
use crate::rule::RuleDecision;
use crate::steps;

pub fn judge_act(policy: &Policy, act: &Act, disk: &dyn Disk, now: &Moment) -> Verdict {
    let judged = || {
        // One follower for all paths of the act, so that each name is looked up once and all of
        // them draw from one limit.
        let follower = PathFollower::new(disk);
        let seen = act.follow_links(&follower);
        let verdict = judge_followed(policy, act, &seen, now);
        let verdict = with_disk_reasons(policy, act, disk, verdict);
        match &seen {
            FollowedAct::Same => policy.with_demands(verdict, act, now, true),
            FollowedAct::Led(led) => policy.with_demands(verdict, led, now, true),
            // Not all targets are known, so what any rule demands may apply.
            FollowedAct::TooMany => policy.with_demands(verdict, act, now, false),
        }
    };
    steps::run_with_budget(steps::JUDGING, judged).0
}

/// Asks a person about what leads out of its folders or into a trap, whatever the rules say.
fn with_disk_reasons(policy: &Policy, act: &Act, disk: &dyn Disk, verdict: Verdict) -> Verdict {
    // A deny or a confirm is stricter than the question that follows here.
    if verdict.decision >= RuleDecision::Confirm {
        return verdict;
    }
    let outside =
        policy.bounds.as_ref().and_then(|bounds| outside::outside_path_reason(act, bounds, disk));
    let trap =
        // Whoever is asked anyway is asked for the reason of the rule.
        || bare_repository::repository_trap_reason(act, disk).filter(|_| !verdict.wants_person);
    let reason = outside.or_else(trap).or_else(|| {
        // Once the budget is spent nothing more is found, which does not mean that nothing is
        // there.
        let is_unknown = steps::is_spent() && !verdict.wants_person;
        is_unknown.then(|| format!("{}: not all of its folders were examined", steps::TOO_LONG))
    });
    match reason {
        Some(reason) => Verdict { is_guarded: verdict.is_guarded, ..Verdict::ask_person(reason) },
        None => verdict,
    }
}

impl Verdict {
    /// Returns true if no rule decides, so that the agent's mode does.
    pub fn is_undecided(&self) -> bool {
        self.decision == RuleDecision::Ask && !self.wants_person
    }
}

fn judge_followed(policy: &Policy, act: &Act, followed: &FollowedAct, now: &Moment) -> Verdict {
    match followed {
        FollowedAct::Same => policy.decide_by_names(act, now),
        FollowedAct::Led(led) => {
            let verdict = policy.decide_by_names(led, now);
            // Where nothing decides, the asker may decide for itself, and it knows only the name
            // that a rule allows. So a person has to be asked about what the link leads to.
            if verdict.is_undecided()
                && policy.decide_by_names(act, now).decision == RuleDecision::Allow
            {
                let because = format!("it leads through a link, and {}", verdict.because);
                return Verdict::ask_person(because);
            }
            verdict
        }
        FollowedAct::TooMany => too_many(policy.decide_by_names(act, now)),
    }
}

/// Judges an act and says which rules were considered.
pub fn explain_act(policy: &Policy, act: &Act, disk: &dyn Disk, now: &Moment) -> Explanation {
    let follower = PathFollower::new(disk);
    let verdict = judge_act(policy, act, disk, now);
    let mut explanation = match act.follow_links(&follower) {
        FollowedAct::Led(led) => policy.explain_by_names(&led, now),
        FollowedAct::Same | FollowedAct::TooMany => policy.explain_by_names(act, now),
    };
    // It is the judge's, so that an explanation never differs from what happens.
    explanation.verdict = verdict;
    explanation
}

/// Returns the verdict by names alone, if not all of them could be followed.
fn too_many(verdict: Verdict) -> Verdict {
    // These stay true wherever the names lead. An allow might not.
    if verdict.decision >= RuleDecision::Confirm || verdict.is_guarded {
        return verdict;
    }
    Verdict::ask_person(format!("{}: it has too many paths to follow", steps::TOO_LONG))
}

#[cfg(test)]
mod tests;
