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
    pub(super) fn wait(&mut self, now: Instant) -> Instant {
        let since = *self.since.get_or_insert(now);
        since + self.idle.min(self.most_pinging().saturating_sub(self.without_answer))
    }

    /// Records that bytes arrived. `is_answer` says whether they contained a part of the answer.
    pub(super) fn heard(&mut self, now: Instant, is_answer: bool) {
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
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(100);
    const MOMENT: Duration = Duration::from_secs(30);

    #[test]
    fn silence_is_borne_as_long_as_the_limit_says() {
        let (start, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
        assert_eq!(patience.wait(start), start + IDLE);
        // Whoever stops waiting and comes back does not begin anew.
        assert_eq!(patience.wait(start + MOMENT), start + IDLE);
        assert_eq!(patience.waited(), IDLE);
        patience.heard(start + MOMENT, true);
        assert_eq!(patience.wait(start + MOMENT), start + MOMENT + IDLE);
    }

    #[test]
    fn pings_alone_are_not_borne_for_ever() {
        let (mut now, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
        let end = now + IDLE * PINGS_ALONE;
        let mut pings = 0;
        while patience.wait(now) > now + MOMENT {
            now += MOMENT;
            patience.heard(now, false);
            pings += 1;
            assert!(pings < 100, "pings keep it alive");
        }
        assert_eq!(patience.wait(now), end);
        assert_eq!(patience.waited(), IDLE * PINGS_ALONE);
    }

    #[test]
    fn an_answer_that_goes_on_is_waited_for() {
        let (mut now, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
        for event in 0..1000 {
            assert!(patience.wait(now) > now + MOMENT, "{event}");
            now += MOMENT;
            // Three pings, then something of the answer.
            patience.heard(now, event % 4 == 3);
        }
    }

    /// A front end that is behind must not make the engine give up.
    #[test]
    fn time_in_which_nobody_waits_does_not_count() {
        let (mut now, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
        for _ in 0..100 {
            patience.wait(now);
            patience.heard(now, false);
            now += IDLE;
        }
        assert_eq!(patience.wait(now), now + IDLE);
    }
}
