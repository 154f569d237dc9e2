//! The memory of calls beside a plain list of what happened: whatever the order of events, an allow
//! is given only to a call for which one was left.

use std::time::Duration;

use callgate_wire::approval::Decision;

use super::super::calls::{CallMemory, Grant, MOST, REMEMBERED};
use super::super::digest::CallDigest;
use super::super::question::{DecisionDetails, DeskDecision};
use super::{id, request};

fn digest(number: u64) -> CallDigest {
    CallDigest::of_call(&[1; 32], &request(1, &format!("make part{number}")))
}

fn decided(decision: Decision) -> DeskDecision {
    DeskDecision {
        decision,
        by: "Ada".to_owned(),
        members: Vec::new(),
        with: DecisionDetails::default(),
        reply_to: None,
    }
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % most
    }
}

#[test]
fn no_history_gives_an_answer_more_often_than_it_was_given() {
    let digests: Vec<CallDigest> = (0..4).map(digest).collect();
    for seed in 0..300_u64 {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut memory = CallMemory::default();
        let mut now = Duration::ZERO;
        // What is left of each call: the decision that holds, and when and for which id it was
        // made.
        let mut left: Vec<Vec<(Decision, Duration, u64)>> = vec![Vec::new(); 4];
        for _ in 0..400 {
            let which = usize::try_from(chance.below(4)).unwrap();
            let (call, plain) = (digests[which], &mut left[which]);
            match chance.below(4) {
                0 => {
                    let allow = chance.below(2) == 0;
                    let decision = if allow { Decision::Allow } else { Decision::Deny };
                    let tool_use = chance.below(3);
                    memory.remember_answer(
                        now,
                        call,
                        Some(tool_use.to_string()),
                        &decided(decision),
                    );
                    // Another decision takes the place of those before it, and the same one makes
                    // all of them last longer.
                    plain.retain(|(other, at, _)| *other == decision && now < *at + REMEMBERED);
                    for (_, at, _) in plain.iter_mut() {
                        *at = now;
                    }
                    plain.push((decision, now, tool_use));
                }
                1 => {
                    plain.retain(|(_, at, _)| now < *at + REMEMBERED);
                    let expected = (!plain.is_empty()).then(|| plain.remove(0).0);
                    let taken = memory.take_answer(now, &call).map(|decided| decided.decision);
                    assert_eq!(taken, expected, "history {seed}");
                }
                2 => {
                    let tool_use = chance.below(3);
                    memory.forget_answer(&call, Some(&tool_use.to_string()));
                    if let Some(at) = plain.iter().position(|(_, _, id)| *id == tool_use) {
                        plain.remove(at);
                    }
                }
                _ => now += Duration::from_secs(chance.below(200)),
            }
        }
    }
}

#[test]
fn what_is_remembered_is_bounded_and_the_oldest_is_forgotten_first() {
    let mut memory = CallMemory::default();
    let grant = |number| Grant { question: id(number), by: "Ada".to_owned() };
    let last = MOST as u64;
    for number in 0..=last {
        let call = digest(number);
        memory.grants.insert(REMEMBERED, call, grant(number));
        memory.remember_denial(Duration::ZERO, call, "Ada");
    }
    assert_eq!(memory.grants.take(Duration::ZERO, &digest(0)), None);
    assert_eq!(memory.denials.get(Duration::ZERO, &digest(0)), None);
    for number in [1, last] {
        assert_eq!(memory.denials.get(Duration::ZERO, &digest(number)).unwrap(), "Ada");
        assert_eq!(memory.grants.take(Duration::ZERO, &digest(number)), Some(grant(number)));
        assert_eq!(memory.grants.take(Duration::ZERO, &digest(number)), None);
    }
}
