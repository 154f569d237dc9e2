//! The numbers of the runtime's responses, and which are missing.

use std::time::Duration;

/// The next expected number, and the replay of missing ones.
///
/// When numbers are missing, the runtime is asked to send everything again from the first of them
/// on. Lines that arrive before that are ignored, since they come again in order.
#[derive(Debug, Default)]
pub(super) struct SequenceNumbers {
    next: Option<u64>,
    /// How many lines without a readable number were received.
    unnumbered: u64,
    replay: Option<PendingReplay>,
}

#[derive(Debug)]
struct PendingReplay {
    id: String,
    from: u64,
    until: Duration,
}

/// What to do with a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SequenceVerdict {
    /// Handle it: it is the next.
    Take,
    /// Ignore it: it was received before.
    Repeated,
    /// Ignore it: it comes again.
    Early,
    /// Request a replay: lines are missing, from this number on.
    Missing(u64),
}

impl SequenceNumbers {
    /// Returns what to do with a line with this number.
    pub(super) fn take_number(&mut self, seq: Option<u64>) -> SequenceVerdict {
        let Some(seq) = seq else { return SequenceVerdict::Take };
        // After a reset, any number is a new beginning.
        let next = self.next.unwrap_or(seq);
        if seq < next {
            return SequenceVerdict::Repeated;
        }
        // A line that was too long to be read had a number as well.
        if seq - next <= self.unnumbered {
            self.next = Some(seq.saturating_add(1));
            self.unnumbered = 0;
            return SequenceVerdict::Take;
        }
        if self.replay.is_some() { SequenceVerdict::Early } else { SequenceVerdict::Missing(next) }
    }

    /// Counts a line that would be lost again.
    pub(super) fn pass_one(&mut self) {
        self.unnumbered += 1;
    }

    pub(super) fn start_replay(&mut self, id: String, from: u64, until: Duration) {
        self.replay = Some(PendingReplay { id, from, until });
    }

    pub(super) fn is_replay(&self, id: &str) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.id == id)
    }

    /// Ends the replay. Returns true if the missing lines were received.
    pub(super) fn end_replay(&mut self) -> bool {
        let replay = self.replay.take();
        replay.is_some_and(|replay| self.next.is_some_and(|next| next > replay.from))
    }

    /// Starts again with whatever number comes next.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.replay.as_ref().map(|replay| replay.until)
    }
}

#[cfg(test)]
mod tests;
