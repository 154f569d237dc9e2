//! Leaves out the events of a stream that are too long. Pure.

use memchr::memchr2;

/// Passes on whole events, each followed by a blank line, and leaves out those over the limit, so
/// that one of them does not end the stream.
#[derive(Debug, Default)]
pub(super) struct EventFilter {
    limit: usize,
    /// What has arrived of the current event, unless it is too long.
    held: Vec<u8>,
    /// Whether the current event is too long.
    is_skipping: bool,
    /// How many events were left out.
    skipped: u64,
    /// Whether a line has ended and the next has not begun.
    is_line_start: bool,
    /// Whether that line ended with CR, so that an LF directly after it belongs to it.
    after_cr: bool,
}

impl EventFilter {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, is_line_start: true, ..Self::default() }
    }

    /// Adds bytes that have arrived, and returns the events that they complete.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let (mut whole, mut rest) = (Vec::new(), chunk);
        while !rest.is_empty() {
            let line_end = memchr2(b'\n', b'\r', rest);
            let (piece, after) = rest.split_at(line_end.map_or(rest.len(), |at| at + 1));
            rest = after;
            self.hold(piece);
            if line_end != Some(0) {
                (self.is_line_start, self.after_cr) = (false, false);
            }
            match piece.last() {
                Some(b'\n') if self.after_cr => self.after_cr = false,
                Some(end @ (b'\n' | b'\r')) => {
                    if self.is_line_start {
                        self.end_event(&mut whole);
                    }
                    (self.is_line_start, self.after_cr) = (true, *end == b'\r');
                }
                _ => {}
            }
        }
        whole
    }

    fn hold(&mut self, piece: &[u8]) {
        self.is_skipping |= self.held.len() + piece.len() > self.limit;
        if self.is_skipping {
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(piece);
        }
    }

    fn end_event(&mut self, whole: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_skipping) {
            self.skipped += 1;
        } else {
            whole.append(&mut self.held);
        }
    }

    /// Returns how many events were left out since the last time.
    pub(super) fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_events_are_left_out_wherever_the_stream_is_cut() {
        for end in ["\n", "\r\n", "\r"] {
            let event = |text: &str| format!("id: 1{end}data: {text}{end}{end}");
            let (short, long) = (event("short"), event(&"x".repeat(40)));
            let all = format!("{short}{long}: ping{end}{end}{short}data: unfinished");
            let expected = format!("{short}: ping{end}{end}{short}");
            for at in 0..all.len() {
                let mut filter = EventFilter::new(30);
                let mut passed = filter.push(&all.as_bytes()[..at]);
                passed.extend(filter.push(&all.as_bytes()[at..]));
                let passed = String::from_utf8(passed).unwrap();
                // The line feed of a CR LF after an event comes with the next one.
                let passed = passed.replace("\r\n", "\n").replace('\r', "\n") + "\n";
                let expected = expected.replace("\r\n", "\n").replace('\r', "\n");
                let blank = |text: &str| text.replace("\n\n\n", "\n\n").trim_start().to_owned();
                assert_eq!(blank(&passed), blank(&expected), "{end:?} {at}");
                assert_eq!((filter.take_skipped(), filter.take_skipped()), (1, 0));
            }
        }
    }
}
