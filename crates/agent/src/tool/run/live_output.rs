//! The output of a command while it runs, in pieces of limited rate and size.

use std::fmt::Write;
use std::time::{Duration, Instant};

use callgate_wire::session::ToolStream;

use super::kept_output::{is_inner, unfinished_bytes};
use crate::tool::ProgressSink;

/// The shortest time between two pieces.
pub(super) const PAUSE: Duration = Duration::from_millis(50);
/// The size limit of a piece; further output before the next piece is dropped, and a note says so.
pub(super) const LARGEST_PIECE: usize = 8 * 1024;
/// The limit of one stream's live output; the result contains the end of it.
pub(super) const MOST_LIVE: usize = 1024 * 1024;

pub(super) struct LiveOutput {
    stream: ToolStream,
    pending: Vec<u8>,
    left_out: u64,
    is_after_gap: bool,
    given: usize,
    next: Instant,
}

impl LiveOutput {
    /// Creates an empty value, whose first piece may be sent at once.
    pub(super) fn new(stream: ToolStream, now: Instant) -> Self {
        let (pending, left_out, is_after_gap) = (Vec::new(), 0, false);
        Self { stream, pending, left_out, is_after_gap, given: 0, next: now }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        // The note about a gap is at the end of a piece, so nothing may follow the gap in it.
        if self.given >= MOST_LIVE || self.left_out > 0 {
            self.left_out += bytes.len() as u64;
            return;
        }
        if self.is_after_gap && !bytes.is_empty() {
            // The gap may have cut a character in two.
            let cut = bytes.iter().take(3).take_while(|byte| is_inner(**byte)).count();
            bytes = &bytes[cut..];
            self.is_after_gap = false;
        }
        let (taken, rest) = bytes.split_at(bytes.len().min(LARGEST_PIECE - self.pending.len()));
        self.pending.extend_from_slice(taken);
        self.left_out = rest.len() as u64;
        if self.left_out > 0 {
            let cut = unfinished_bytes(&self.pending);
            self.pending.truncate(self.pending.len() - cut);
            self.left_out += cut as u64;
        }
    }

    /// Returns when the next piece is due, if there is any output for it.
    pub(super) fn due(&self) -> Option<Instant> {
        let is_waiting =
            self.given < MOST_LIVE && self.pending.len() > unfinished_bytes(&self.pending);
        is_waiting.then_some(self.next)
    }

    pub(super) fn send_due(&mut self, now: Instant, progress: &ProgressSink) {
        if self.due().is_some_and(|due| due <= now) {
            self.next = now + PAUSE;
            self.send_piece(self.pending.len() - unfinished_bytes(&self.pending), progress);
        }
    }

    pub(super) fn finish(&mut self, progress: &ProgressSink) {
        if self.given < MOST_LIVE {
            self.send_piece(self.pending.len(), progress);
        }
    }

    fn send_piece(&mut self, count: usize, progress: &ProgressSink) {
        let mut text = String::from_utf8_lossy(&self.pending[..count]).into_owned();
        self.pending.drain(..count);
        if self.left_out > 0 {
            // A `String` takes everything.
            write!(text, "\n… {} bytes left out …\n", self.left_out).ok();
            (self.left_out, self.is_after_gap) = (0, true);
        }
        self.given += text.len();
        if self.given >= MOST_LIVE {
            text.push_str("\n… the rest is not shown while it runs …\n");
            self.pending = Vec::new();
        }
        if !text.is_empty() {
            progress(self.stream, &text);
        }
    }
}

#[cfg(test)]
mod tests;
