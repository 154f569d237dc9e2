//! The numbers of the runtime's responses: what was there, what is missing.

use std::time::Duration;

/// Which number comes next, and what is done about one that is missing.
///
/// When numbers are missing, the runtime is asked for everything from the first of them on, and
/// what comes before that is passed over: it comes again, and in its order.
#[derive(Debug, Default)]
pub(super) struct SequenceNumbers {
    next: Option<u64>,
    /// How many lines there were that had no room for a number, and may have had one.
    unnumbered: u64,
    replay: Option<PendingReplay>,
}

/// What was asked for again.
#[derive(Debug)]
struct PendingReplay {
    id: String,
    from: u64,
    until: Duration,
}

/// What is to be done with a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SequenceVerdict {
    /// It is the next.
    Take,
    /// It was there before.
    Repeated,
    /// It comes again.
    Early,
    /// Some are missing before it, from this number on.
    Missing(u64),
}

impl SequenceNumbers {
    /// Returns what is to be done with a line of this number.
    pub(super) fn take(&mut self, seq: Option<u64>) -> SequenceVerdict {
        let Some(seq) = seq else { return SequenceVerdict::Take };
        let next = self.next.unwrap_or(seq);
        if seq < next {
            return SequenceVerdict::Repeated;
        }
        if seq - next <= self.unnumbered {
            self.next = Some(seq.saturating_add(1));
            self.unnumbered = 0;
            return SequenceVerdict::Take;
        }
        if self.replay.is_some() { SequenceVerdict::Early } else { SequenceVerdict::Missing(next) }
    }

    /// There was a line that would be lost again.
    pub(super) fn pass_one(&mut self) {
        self.unnumbered += 1;
    }

    /// The runtime was asked to say again what is missing.
    pub(super) fn asked(&mut self, id: String, from: u64, until: Duration) {
        self.replay = Some(PendingReplay { id, from, until });
    }

    /// Returns true if this is the request that asks for what is missing.
    pub(super) fn is_replay(&self, id: &str) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.id == id)
    }

    /// Returns the runtime has said again what it could; whether it was what was missing.
    pub(super) fn replayed(&mut self) -> bool {
        let replay = self.replay.take();
        replay.is_some_and(|replay| self.next.is_some_and(|next| next > replay.from))
    }

    /// Begins anew with whatever number comes next.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// When what is missing has to be there.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.replay.as_ref().map(|replay| replay.until)
    }
}

#[cfg(test)]
mod tests {
    use super::SequenceVerdict::{Early, Missing, Repeated, Take};
    use super::*;

    #[test]
    fn a_gap_is_asked_for_and_filled_in_order() {
        let mut numbers = SequenceNumbers::default();
        let steps = [(5, Take), (6, Take), (6, Repeated), (5, Repeated), (9, Missing(7))];
        for (seq, expected) in steps {
            assert_eq!(numbers.take(Some(seq)), expected, "{seq}");
        }
        numbers.asked("r".into(), 7, Duration::ZERO);
        assert!(numbers.is_replay("r") && !numbers.is_replay("s"));
        let steps = [(10, Early), (7, Take), (8, Take), (9, Take), (10, Take), (10, Repeated)];
        for (seq, expected) in steps {
            assert_eq!(numbers.take(Some(seq)), expected, "{seq}");
        }
        assert!(numbers.replayed());
        assert_eq!(numbers.take(Some(12)), Missing(11));
        numbers.asked("s".into(), 11, Duration::ZERO);
        assert_eq!(numbers.take(Some(12)), Early);
        assert!(!numbers.replayed());
    }

    #[test]
    fn a_line_without_room_for_a_number_counts_as_one_or_none() {
        let mut numbers = SequenceNumbers::default();
        assert_eq!(numbers.take(Some(1)), Take);
        numbers.pass_one();
        assert_eq!(numbers.take(Some(3)), Take);
        numbers.pass_one();
        assert_eq!(numbers.take(Some(4)), Take);
        assert_eq!(numbers.take(Some(6)), Missing(5));
    }

    #[test]
    fn no_number_is_too_large() {
        let mut numbers = SequenceNumbers::default();
        assert_eq!(numbers.take(Some(u64::MAX)), Take);
        assert_eq!(numbers.take(Some(u64::MAX)), Take);
        assert_eq!(numbers.take(Some(0)), Repeated);
        assert_eq!(numbers.take(None), Take);
    }
}
