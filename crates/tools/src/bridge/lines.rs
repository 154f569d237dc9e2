//! The connections to the host and the calls on them: the relay's state.

use std::collections::VecDeque;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_wire::tools::Progress;

use super::frame::{Frame, Sent};
use crate::mcp::Ticket;

/// How many bytes of calls may wait for a connection.
const MOST_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// What a waiting call takes beside its payload, in bytes, about.
const WAITING_OVERHEAD: usize = 1024;
/// A heartbeat must be more than the progress before it, and less than the host's next.
const HEARTBEAT_STEP: f64 = 1e-6;

/// Connections, and calls that wait for one.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: Vec<Line>,
    waiting: VecDeque<(Pending, Frame<'static>)>,
    /// The bytes of the calls that wait.
    waiting_bytes: usize,
    next_number: u64,
    /// Answers that have been taken off a line and are not written yet.
    pub(super) answering: usize,
    /// Somebody waits for the last answer.
    pub(super) is_ending: bool,
    /// The host has ended a connection: nothing is dialled any more.
    pub(super) host_is_gone: bool,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Line {
    number: u64,
    stream: Arc<UnixStream>,
    /// The call that has been sent and not been answered.
    pub(super) call: Option<Pending>,
    /// Whether the last frame has been sent to its end.
    is_sent: Arc<AtomicBool>,
}

/// A call that has no answer yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) ticket: Ticket,
    /// What the client was told last; less than any number before.
    progress: f64,
    beats: u32,
}

impl Lines {
    /// Whether any call has no answer yet.
    pub(super) fn is_busy(&self) -> bool {
        let is_running = self.open.iter().any(|line| line.call.is_some());
        is_running || self.answering > 0 || !self.waiting.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Whether a call could go out now: on a free line, or on a new one.
    pub(super) fn has_free(&self, connections: usize) -> bool {
        self.open.len() < connections || self.open.iter().any(|line| line.call.is_none())
    }

    pub(super) fn free(&mut self) -> Option<&mut Line> {
        self.open.iter_mut().find(|line| line.call.is_none())
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut Line> {
        self.open.iter_mut().find(|line| line.number == number)
    }

    /// Adds a connection; gives its number.
    pub(super) fn add(&mut self, stream: Arc<UnixStream>) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.open.push(Line { number, stream, call: None, is_sent: Arc::default() });
        number
    }

    /// Forgets a connection. Its thread finds it gone and ends.
    pub(super) fn remove(&mut self, number: u64) -> Option<Line> {
        let place = self.open.iter().position(|line| line.number == number)?;
        Some(self.open.swap_remove(place))
    }

    /// Ends a connection on purpose: the host sees it at once, and the next call dials anew.
    pub(super) fn hang_up(&mut self, number: u64) -> Option<Line> {
        let line = self.remove(number)?;
        // An error means that the other side was quicker.
        line.stream.shutdown(Shutdown::Both).ok();
        Some(line)
    }

    /// Drops the call with this id; its connection is of no use any more.
    pub(super) fn cancel(&mut self, id: &str) {
        self.waiting.retain(|(pending, frame)| {
            let is_kept = !pending.ticket.has_id(id);
            if !is_kept {
                self.waiting_bytes -= cost(frame);
            }
            is_kept
        });
        let runs = |line: &&Line| line.call.as_ref().is_some_and(|call| call.ticket.has_id(id));
        if let Some(number) = self.open.iter().find(runs).map(|line| line.number) {
            self.hang_up(number);
        }
    }

    /// Lets a call wait for its turn; gives it back when too many do.
    pub(super) fn wait(&mut self, pending: Pending, frame: Frame<'_>) -> Result<(), Pending> {
        let bytes = self.waiting_bytes + cost(&frame);
        if bytes > MOST_WAITING_BYTES {
            return Err(pending);
        }
        self.waiting_bytes = bytes;
        self.waiting.push_back((pending, frame.into_owned()));
        Ok(())
    }

    /// The call that has waited longest.
    pub(super) fn next_waiting(&mut self) -> Option<(Pending, Frame<'static>)> {
        let next = self.waiting.pop_front()?;
        self.waiting_bytes -= cost(&next.1);
        Some(next)
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// All calls without an answer.
    pub(super) fn pending(&mut self) -> impl Iterator<Item = &mut Pending> {
        let running = self.open.iter_mut().filter_map(|line| line.call.as_mut());
        running.chain(self.waiting.iter_mut().map(|(pending, _)| pending))
    }
}

/// Returns how much of the room for waiting calls a call takes.
fn cost(frame: &Frame<'_>) -> usize {
    frame.size() + WAITING_OVERHEAD
}

impl Line {
    /// Sends a call on a free line.
    pub(super) fn send<'a>(&mut self, pending: Pending, frame: Frame<'a>) -> Sent<'a> {
        self.call = Some(pending);
        self.is_sent = Arc::default();
        frame.send(&self.stream, &self.is_sent)
    }

    /// Whether another call may follow an answer on this line: not into the middle of a frame.
    pub(super) fn is_sent(&self) -> bool {
        self.is_sent.load(Ordering::Acquire)
    }
}

impl Pending {
    pub(super) fn new(ticket: Ticket) -> Self {
        Self { ticket, progress: f64::NEG_INFINITY, beats: 0 }
    }

    /// What to tell the client at each beat of the clock: nothing in the first, which may have
    /// come a moment after the call.
    pub(super) fn beat(&mut self) -> Option<Vec<u8>> {
        self.beats += 1;
        if self.beats == 1 {
            return None;
        }
        let last = if self.progress.is_finite() { self.progress } else { 0.0 };
        self.progress = (last + HEARTBEAT_STEP).max(last.next_up());
        let message = Some("still working".into());
        self.ticket.progress(&Progress { progress: self.progress, total: None, message })
    }

    /// What to tell the client of the host's progress: nothing unless it has grown.
    pub(super) fn report(&mut self, progress: &Progress<'_>) -> Option<Vec<u8>> {
        if progress.progress <= self.progress {
            return None;
        }
        self.progress = progress.progress;
        self.beats = 0;
        self.ticket.progress(progress)
    }
}
