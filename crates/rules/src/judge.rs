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

pub fn judge(policy: &Policy, act: &Act, disk: &dyn Disk, now: &Moment) -> Verdict {
    let judged = || {
        let verdict = judge_within(policy, act, disk, now);
        if verdict.decision >= RuleDecision::Confirm {
            return verdict;
        }
        let outside = policy.bounds.as_ref().and_then(|bounds| outside::reason(act, bounds, disk));
        let trap = || bare_repository::reason(act, disk).filter(|_| !verdict.wants_person);
        match outside.or_else(trap) {
            Some(reason) => {
                Verdict { is_guarded: verdict.is_guarded, ..Verdict::ask_person(reason) }
            }
            None => verdict,
        }
    };
    steps::within(steps::JUDGING, judged).0
}

fn judge_within(policy: &Policy, act: &Act, disk: &dyn Disk, now: &Moment) -> Verdict {
    let follower = PathFollower::new(disk);
    match act.followed(&follower) {
        FollowedAct::Same => policy.decide(act, now),
        FollowedAct::Led(led) => {
            let verdict = policy.decide(&led, now);
            let is_undecided = verdict.decision == RuleDecision::Ask && !verdict.wants_person;
            if is_undecided && policy.decide(act, now).decision == RuleDecision::Allow {
                let because = format!("it leads through a link, and {}", verdict.because);
                return Verdict::ask_person(because);
            }
            verdict
        }
        FollowedAct::TooMany => too_many(policy.decide(act, now)),
    }
}

/// Judges an act and says which rules were considered.
pub fn explain(policy: &Policy, act: &Act, disk: &dyn Disk, now: &Moment) -> Explanation {
    let follower = PathFollower::new(disk);
    let verdict = judge(policy, act, disk, now);
    let mut explanation = match act.followed(&follower) {
        FollowedAct::Led(led) => policy.explain(&led, now),
        FollowedAct::Same | FollowedAct::TooMany => policy.explain(act, now),
    };
    explanation.verdict = verdict;
    explanation
}

/// Returns the verdict by names alone, if not all of them could be followed.
fn too_many(verdict: Verdict) -> Verdict {
    if verdict.decision >= RuleDecision::Confirm || verdict.is_guarded {
        return verdict;
    }
    Verdict::ask_person(format!("{}: it has too many paths to follow", steps::TOO_LONG))
}

#[cfg(test)]
mod tests;
