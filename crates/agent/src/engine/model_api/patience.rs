//! Decides how long to wait for an answer. Pure: the time is passed in.
//!
//! Bytes show that the connection is alive, events with content show that the answer is. A model
//! that thinks for minutes may send nothing but pings, so these count for a while, but not for
//! ever, since a server or proxy whose model has died may keep sending them.

use std::time::Duration;

use tokio::time::Instant;

/// The limit for nothing but pings, as a multiple of the limit for silence.
const PINGS_ALONE: u32 = 5;

/// The remaining time to wait for an answer.
#[derive(Debug)]
pub(super) struct AnswerPatience {
    idle: Duration,
    /// Since when a caller has been waiting for bytes.
    since: Option<Instant>,
    /// How long callers have waited since the last content, up to the last bytes.
    without_answer: Duration,
}

impl AnswerPatience {
    pub(super) fn new(idle: Duration) -> Self {
        Self { idle, since: None, without_answer: Duration::ZERO }
    }

    /// Starts to wait, unless a wait is in progress, and returns when to give up.
    pub(super) fn start_wait(&mut self, now: Instant) -> Instant {
        let since = *self.since.get_or_insert(now);
        since + self.idle.min(self.most_pinging().saturating_sub(self.without_answer))
    }

    /// Records that bytes arrived. `is_answer` says whether they contained a part of the answer.
    pub(super) fn note_bytes(&mut self, now: Instant, is_answer: bool) {
        let waited = self.since.take().map_or(Duration::ZERO, |since| now - since);
        self.without_answer = if is_answer { Duration::ZERO } else { self.without_answer + waited };
    }

    /// Returns how long nothing of the answer has arrived, after `wait` has given up.
    pub(super) fn waited(&self) -> Duration {
        (self.without_answer + self.idle).min(self.most_pinging())
    }

    fn most_pinging(&self) -> Duration {
        self.idle * PINGS_ALONE
    }
}

#[cfg(test)]
mod tests;
