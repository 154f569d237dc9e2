//! How many rounds of one kind there are.

use std::time::{Duration, Instant};

/// The median of fewer rounds means nothing, however slow the machine is.
const FEWEST_ROUNDS: usize = 3;

/// Rounds of one kind.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    rounds: usize,
    /// How often each contender has its turn in a round.
    pub(crate) each: usize,
    /// The time after which no further round begins.
    time: Duration,
}

impl Part {
    pub(crate) fn new(rounds: usize, each: usize, seconds: u64) -> Self {
        Self { rounds, each, time: Duration::from_secs(seconds) }
    }

    /// The most rounds.
    #[allow(dead_code, reason = "not every benchmark asks")]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns true if another round follows those that are done, the first of which began at
    /// `begin`.
    pub(crate) fn goes_on(&self, done: usize, begin: Instant) -> bool {
        done < self.rounds && (done < FEWEST_ROUNDS || begin.elapsed() < self.time)
    }
}
