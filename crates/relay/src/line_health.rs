//! Heartbeats: both ends send something every few seconds, and notice that the other one does not.

use std::time::Duration;

/// How often an end sends a beat if it has nothing else to send.
pub const BEAT_EVERY: Duration = Duration::from_secs(5);
/// A line on which nothing has come for this long is dead.
/// It is three times as long as between two beats, so that one that is late ends nothing.
pub const DEAD_AFTER: Duration = Duration::from_secs(15);

/// When something was last heard and said on a line, on the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct LineHealth {
    heard: Duration,
    said: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineNeed {
    Nothing,
    Beat,
    /// The line is dead and has to end.
    End,
}

impl LineHealth {
    pub fn begin(now: Duration) -> Self {
        Self { heard: now, said: now }
    }

    pub fn note_heard(&mut self, at: Duration) {
        // Bytes of a line that is not whole yet are noted later than they came.
        self.heard = self.heard.max(at);
    }

    pub fn note_said(&mut self, now: Duration) {
        self.said = now;
    }

    pub fn need_at(&self, now: Duration) -> LineNeed {
        if now.saturating_sub(self.heard) >= DEAD_AFTER {
            LineNeed::End
        } else if now.saturating_sub(self.said) >= BEAT_EVERY {
            LineNeed::Beat
        } else {
            LineNeed::Nothing
        }
    }

    /// Returns when the line needs something next, if nothing happens.
    pub fn next_alarm(&self) -> Duration {
        (self.said + BEAT_EVERY).min(self.heard + DEAD_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_silent_line_is_noticed_after_fifteen_seconds_and_a_busy_one_never() {
        let mut health = LineHealth::begin(at(100));
        assert_eq!((health.need_at(at(104)), health.next_alarm()), (LineNeed::Nothing, at(105)));
        assert_eq!(health.need_at(at(105)), LineNeed::Beat);
        health.note_said(at(105));
        assert_eq!((health.need_at(at(109)), health.next_alarm()), (LineNeed::Nothing, at(110)));
        health.note_said(at(110));
        assert_eq!(health.need_at(at(114)), LineNeed::Nothing);
        assert_eq!(health.need_at(at(115)), LineNeed::End);
        // A beat that came in time keeps it.
        health.note_heard(at(114));
        assert_eq!(health.need_at(at(115)), LineNeed::Beat);
        assert_eq!(health.need_at(at(128)), LineNeed::Beat);
        assert_eq!(health.need_at(at(129)), LineNeed::End);
    }
}
