//! Remembers decisions about tool calls, so that nobody is asked twice about one call.
//!
//! One call can reach the desk up to three times: before it runs (a check), when the agent asks for
//! permission, and when the agent has blocked it. Requests about the same call are recognized by a
//! keyed digest of session, prompt, tool and input ([`CallDigest::of_call`]), because agents do not
//! send an id with all of them. Everything here is bounded, expires after [`REMEMBERED`], and is
//! lost when the desk ends, which at worst means that a person is asked once more.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use callgate_wire::approval::RequestId;

use super::digest::CallDigest;
use super::question::DeskDecision;

/// How long a decision about a call is remembered.
pub(super) const REMEMBERED: Duration = Duration::from_mins(10);
/// How many decisions of each kind are remembered; then the oldest is forgotten.
pub(super) const MOST: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct CallMemory {
    /// Decisions of people at a check, for the question that may follow about the same call.
    pub(super) answers: ExpiringMap<CheckAnswer>,
    pub(super) denials: ExpiringMap<String>,
    /// Calls that the agent has blocked and that a person lets through once.
    pub(super) grants: ExpiringMap<Grant>,
}

#[derive(Debug)]
pub(super) struct CheckAnswer {
    decided: DeskDecision,
    /// The calls that it was decided for and that have not asked again, by the agent's ids of them.
    calls: VecDeque<Option<String>>,
}

/// A person's permission to try one blocked call again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    /// The question that was answered with yes.
    pub(super) question: RequestId,
    pub(super) by: String,
}

impl CallMemory {
    /// Remembers what a person decided at the check of a call.
    pub(super) fn remember_answer(
        &mut self,
        now: Duration,
        call: CallDigest,
        tool_use_id: Option<String>,
        decided: &DeskDecision,
    ) {
        // Two calls that are alike may both be checked before either of them asks: each takes the
        // answer once.
        let mut calls = VecDeque::new();
        // A different decision replaces the earlier one, so that no allow outlives a later deny of
        // the same call.
        if let Some(earlier) = self.answers.take(now, &call)
            && earlier.decided.decision == decided.decision
        {
            calls = earlier.calls;
        }
        calls.push_back(tool_use_id);
        // Whoever pressed is told once, when the question is over.
        let decided = DeskDecision { reply_to: None, ..decided.clone() };
        self.answers.insert(now + REMEMBERED, call, CheckAnswer { decided, calls });
    }

    /// Takes what was decided at the check of this call, if it was not taken yet.
    pub(super) fn take_answer(&mut self, now: Duration, call: &CallDigest) -> Option<DeskDecision> {
        let (until, mut answer) = self.answers.take_with_time(now, call)?;
        answer.calls.pop_front()?;
        let decided = answer.decided.clone();
        if !answer.calls.is_empty() {
            // With the old end: a call that takes its answer does not prolong it for the others.
            self.answers.insert(until, *call, answer);
        }
        Some(decided)
    }

    /// Forgets what was decided for a call that is over, or whose agent never got the answer.
    pub(super) fn forget_answer(&mut self, call: &CallDigest, tool_use_id: Option<&str>) {
        self.answers.change(call, |answer| {
            let is_it = |id: &Option<String>| id.as_deref() == tool_use_id;
            if let Some(at) = answer.calls.iter().position(is_it) {
                answer.calls.remove(at);
            }
            !answer.calls.is_empty()
        });
    }

    pub(super) fn remember_denial(&mut self, now: Duration, call: CallDigest, by: &str) {
        self.denials.insert(now + REMEMBERED, call, by.to_owned());
    }
}

/// Values by digest, each with the time at which it expires.
#[derive(Debug)]
pub(super) struct ExpiringMap<T> {
    pub(super) entries: HashMap<CallDigest, (Duration, T)>,
    /// The digests in the order of insertion; some may be gone already.
    order: VecDeque<(Duration, CallDigest)>,
}

impl<T> Default for ExpiringMap<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> ExpiringMap<T> {
    pub(super) fn insert(&mut self, until: Duration, key: CallDigest, value: T) {
        self.entries.insert(key, (until, value));
        self.order.push_back((until, key));
        while self.order.len() > MOST
            && let Some((until, oldest)) = self.order.pop_front()
        {
            // A newer value under the same digest has an entry of its own in the order.
            if self.entries.get(&oldest).is_some_and(|(now, _)| *now == until) {
                self.entries.remove(&oldest);
            }
        }
    }

    pub(super) fn get(&self, now: Duration, key: &CallDigest) -> Option<&T> {
        self.entries.get(key).filter(|(until, _)| *until > now).map(|(_, value)| value)
    }

    pub(super) fn take(&mut self, now: Duration, key: &CallDigest) -> Option<T> {
        self.take_with_time(now, key).map(|(_, value)| value)
    }

    fn take_with_time(&mut self, now: Duration, key: &CallDigest) -> Option<(Duration, T)> {
        self.entries.remove(key).filter(|(until, _)| *until > now)
    }

    pub(super) fn remove(&mut self, key: &CallDigest) {
        self.entries.remove(key);
    }

    /// Changes a value, which stays only if `keeps` returns true.
    pub(super) fn change(&mut self, key: &CallDigest, keeps: impl FnOnce(&mut T) -> bool) {
        if let Some((_, value)) = self.entries.get_mut(key)
            && !keeps(value)
        {
            self.entries.remove(key);
        }
    }
}
