//! Lines that wait to be written to the runtime.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// The most lines that wait. Requests are limited before, so that only a runtime that reads nothing
/// and makes the client ask again and again comes near it.
const MOST_LINES: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct LineOutbox(VecDeque<OutgoingLine>);

#[derive(Debug)]
pub(crate) struct OutgoingLine {
    line: Vec<u8>,
    written: usize,
    /// The id of its request, if somebody waits for it.
    pub(crate) of: Option<Arc<str>>,
    /// Its share of the unsent bytes.
    _room: Option<OwnedSemaphorePermit>,
}

impl LineOutbox {
    pub(crate) fn push(
        &mut self,
        line: Vec<u8>,
        of: Option<Arc<str>>,
        room: Option<OwnedSemaphorePermit>,
    ) {
        // Nobody waits for a line that is not a request.
        if of.is_none() && self.0.len() >= MOST_LINES {
            return;
        }
        self.0.push_back(OutgoingLine { line, written: 0, of, _room: room });
    }

    pub(crate) fn pop(&mut self) -> Option<OutgoingLine> {
        self.0.pop_front()
    }

    pub(crate) fn withdraw(&mut self, id: &str) {
        // A line whose writing has begun is not here any more, because half of it would spoil the
        // next.
        self.0.retain(|outgoing| outgoing.of.as_deref() != Some(id));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl OutgoingLine {
    /// Returns the part that is not written yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.line[self.written..]
    }

    /// Notes that `count` bytes were written. Returns true if the line is complete.
    pub(crate) fn mark_written(&mut self, count: usize) -> bool {
        self.written = (self.written + count).min(self.line.len());
        self.written == self.line.len()
    }
}

#[cfg(test)]
mod tests;
