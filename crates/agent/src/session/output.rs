//! The events of all tasks, on their way to standard output.
//!
//! Lines are put together in memory and written by a thread, so that nothing in the runtime waits
//! for a front end that does not read. A task that sends much waits for [room] first, so that a
//! slow reader loses nothing and costs no more memory than [`ROOM`] and the events under way.
//!
//! [room]: SessionOutput::wait_for_room

mod line_fit;
mod question_form;
mod replay_buffer;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_wire::session::{
    MAX_LINE, ReplayedRange, RuntimeReady, SessionCommand, SessionEvent, SessionResponse,
    capability,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::{Notify, watch};

use super::order::{OpenItems, RequestDetails, RequestOrder, RequestRefusal};
use super::{LogLevel, SessionLog};
use line_fit::{needed_capability, too_long, without_extensions};
pub(crate) use question_form::QuestionForm;
use replay_buffer::ReplayBuffer;

/// How many bytes may wait to be written before senders wait.
pub const ROOM: usize = 64 * 1024;
/// How many bytes may wait before the output of running tools is left out; the result has it too.
const TOO_MUCH: usize = 16 * ROOM;
/// How many bytes may wait before no more requests are read.
const FULL: usize = 64 * ROOM;
/// How many bytes a writable pipe takes without blocking.
const SURE_TO_FIT: usize = 4096;
/// The largest buffer that is kept for reuse.
const KEPT_BUFFER: usize = 2 * ROOM;

/// The output of the session. Clones write to the same output.
#[derive(Clone)]
pub(crate) struct SessionOutput(Arc<OutputShared>);

struct OutputShared {
    state: Mutex<OutputState>,
    filled: Condvar,
    room: Notify,
    /// True when nothing can be written any more.
    gone: watch::Sender<bool>,
    log: SessionLog,
}

#[derive(Default)]
struct OutputState {
    order: RequestOrder,
    takes: Option<TakenExtensions>,
    pending: Vec<u8>,
    seq: u64,
    ring: ReplayBuffer,
    /// Whether nothing more will be sent.
    closed: bool,
    /// Whether the thread waits for something to write.
    idle: bool,
    /// A handle for lines that need not wait for the thread.
    short_cut: Option<File>,
}

/// The optional kinds of events that the front end accepts.
type TakenExtensions = Vec<&'static str>;

const CHOICES: [&str; 8] = [
    capability::THINKING,
    capability::TOOL_PROGRESS,
    capability::TOOL_INPUT,
    capability::USAGE,
    capability::PERMISSION,
    capability::QUESTION,
    capability::NOTICE,
    capability::TURN_DIFF,
];

#[derive(Debug)]
pub struct Greeting(Vec<u8>);

/// Writes `ready`, before anything is started that could delay it.
pub fn write_greeting(sink: &mut impl Write) -> io::Result<Greeting> {
    let line = SessionResponse::Ready(RuntimeReady::at(now_ms())).to_line();
    sink.write_all(&line)?;
    sink.flush()?;
    Ok(Greeting(line))
}

impl SessionOutput {
    /// Starts the thread that writes to `sink`, usually a pipe. What surely fits into the pipe is
    /// written at once, because waking a thread takes longer.
    pub(crate) fn start_on(
        mut sink: impl Write + AsFd + Send + 'static,
        log: SessionLog,
    ) -> io::Result<Self> {
        let short_cut = Some(File::from(sink.as_fd().try_clone_to_owned()?));
        let state = OutputState { short_cut, ..OutputState::default() };
        Self::with_writer(move |shared| shared.write_to(&mut sink), state, log)
    }

    fn with_writer(
        write: impl FnOnce(&OutputShared) + Send + 'static,
        state: OutputState,
        log: SessionLog,
    ) -> io::Result<Self> {
        let shared = Arc::new(OutputShared {
            state: Mutex::new(state),
            filled: Condvar::new(),
            room: Notify::new(),
            gone: watch::Sender::new(false),
            log,
        });
        let output = Self(Arc::clone(&shared));
        thread::Builder::new().name("output".to_owned()).spawn(move || write(&shared))?;
        Ok(output)
    }

    pub(crate) fn note_ready(&self, greeting: &Greeting) {
        let mut state = lock(&self.0.state);
        self.0.log_sent("ready", None);
        state.seq += 1;
        let seq = state.seq;
        // It was written before this began, and can be asked for again like every other line.
        state.ring.push(seq, &greeting.0);
    }

    pub(crate) fn open_request(
        &self,
        id: &str,
        command: &SessionCommand,
    ) -> Result<(), RequestRefusal> {
        let mut state = lock(&self.0.state);
        let opened = RequestDetails::new(command, now_ms(), state.seq + 1);
        state.order.open_request(id, opened)
    }

    pub(crate) fn place_request(&self, id: &str, conversation: &str, is_queued: bool) {
        lock(&self.0.state).order.place_request(id, conversation, is_queued);
    }

    pub(crate) fn open_beside(&self, id: &str) -> OpenItems {
        lock(&self.0.state).order.open_beside(id)
    }

    pub(crate) fn is_open(&self, id: &str) -> bool {
        lock(&self.0.state).order.is_open(id)
    }

    /// Sends an event of a request. An event that is out of order is dropped.
    pub(crate) fn send_event(&self, id: &str, event: SessionEvent) {
        self.say_all(id, [event]);
    }

    pub(crate) fn say_all(&self, id: &str, events: impl IntoIterator<Item = SessionEvent>) {
        let mut state = lock(&self.0.state);
        let timestamp = now_ms();
        for event in events {
            if !state.wants(&event) {
                continue;
            }
            let event = match event {
                SessionEvent::Done(_) => event.with_kind(state.order.kind(id).unwrap_or_default()),
                event => event,
            };
            if !state.order.admits(id, &event, timestamp) {
                self.0.log.write_line(LogLevel::Debug, "something out of order was not sent");
                continue;
            }
            self.0.log_sent(event.kind(), Some(id));
            state.write_event(Some(id), event, timestamp);
        }
        self.0.wake(&mut state);
    }

    /// Answers a line that is not an open request: one without an id, or one with an id that is
    /// already open.
    pub(crate) fn refuse(&self, id: Option<&str>, event: SessionEvent) {
        let mut state = lock(&self.0.state);
        // A response without an id is an extension.
        if id.is_none() && state.takes.is_none() {
            return;
        }
        self.0.log_sent(event.kind(), id);
        state.write_event(id, event, now_ms());
        self.0.wake(&mut state);
    }

    pub(crate) fn note_capabilities(&self, capabilities: &[String]) {
        let is_taken = |name: &&str| capabilities.iter().any(|capability| capability == name);
        let mut state = lock(&self.0.state);
        state.takes = Some(CHOICES.into_iter().filter(is_taken).collect());
        state.ring.widen();
    }

    pub(crate) fn is_greeted(&self) -> bool {
        lock(&self.0.state).takes.is_some()
    }

    /// Returns true if the front end takes what this [`capability`] names.
    pub(crate) fn takes(&self, capability: &str) -> bool {
        lock(&self.0.state).takes(capability)
    }

    /// Returns true if the output of a running tool can be sent now.
    pub(crate) fn has_room_for_progress(&self) -> bool {
        let state = lock(&self.0.state);
        state.takes(capability::TOOL_PROGRESS) && state.pending.len() < TOO_MUCH
    }

    /// Sends lines again from this number on. The error is the oldest number that is kept, if this
    /// one is not.
    pub(crate) fn replay(&self, from: u64) -> Result<ReplayedRange, u64> {
        let mut state = lock(&self.0.state);
        let OutputState { ring, pending, seq, .. } = &mut *state;
        ring.copy(from, pending)?;
        let replayed = ReplayedRange { from_seq: from, to_seq: (*seq).max(from.saturating_sub(1)) };
        self.0.wake(&mut state);
        Ok(replayed)
    }

    /// Waits until a slow reader has caught up.
    pub(crate) async fn wait_for_room(&self) {
        self.less_than(ROOM).await;
    }

    /// Waits until further requests may be read: a front end that does not read cannot send without
    /// end.
    pub(crate) async fn room_for_requests(&self) {
        self.less_than(FULL).await;
    }

    async fn less_than(&self, most: usize) {
        loop {
            // Before the look, so that what is freed between it and the wait is noticed.
            let freed = self.0.room.notified();
            {
                let state = lock(&self.0.state);
                if state.pending.len() < most || state.closed {
                    return;
                }
            }
            freed.await;
        }
    }

    pub(crate) async fn wait_until_gone(&self) {
        let mut gone = self.0.gone.subscribe();
        // The sender lives as long as we do.
        gone.wait_for(|gone| *gone).await.ok();
    }

    /// Ends every open request, closes the output, and waits until all is written, but no longer
    /// than `within`.
    pub(crate) async fn close(&self, last: impl Fn() -> SessionEvent, within: Duration) {
        let unfinished = lock(&self.0.state).order.open_ids();
        for id in unfinished {
            self.send_event(&id, last());
        }
        {
            let mut state = lock(&self.0.state);
            state.closed = true;
            self.0.wake(&mut state);
        }
        tokio::time::timeout(within, self.wait_until_gone()).await.ok();
    }
}

impl OutputState {
    fn wants(&self, event: &SessionEvent) -> bool {
        needed_capability(event).is_none_or(|needed| self.takes(needed))
    }

    /// Writes the waiting lines, if that does not block.
    fn write_at_once(&mut self) -> bool {
        let Some(file) = &mut self.short_cut else { return false };
        if self.pending.is_empty() || self.pending.len() > SURE_TO_FIT || !is_writable(file) {
            return false;
        }
        // The thread will meet the error too.
        let is_written = file.write(&self.pending).is_ok_and(|count| {
            self.pending.drain(..count);
            self.pending.is_empty()
        });
        if !is_written {
            // Only the thread knows what is left of a line that was written in part.
            self.short_cut = None;
        }
        // Once nothing more follows, the thread is woken all the same, to end.
        is_written && !self.closed
    }

    fn takes(&self, kind: &str) -> bool {
        self.takes.as_ref().is_some_and(|takes| takes.contains(&kind))
    }

    fn write_event(&mut self, id: Option<&str>, event: SessionEvent, timestamp: u64) {
        self.seq += 1;
        let is_greeted = self.takes.is_some();
        let event = if is_greeted { event } else { without_extensions(event) };
        let seq = is_greeted.then_some(self.seq);
        let start = self.pending.len();
        event.write_line(id, timestamp, seq, &mut self.pending);
        let size = self.pending.len() - start;
        // The line end does not count.
        if size > MAX_LINE + 1 {
            self.pending.truncate(start);
            let Some(event) = too_long(event, size) else {
                self.seq -= 1;
                return;
            };
            event.write_line(id, timestamp, seq, &mut self.pending);
        }
        self.ring.push(self.seq, &self.pending[start..]);
    }
}

impl OutputShared {
    fn wake(&self, state: &mut OutputState) {
        if state.idle && state.write_at_once() {
            return;
        }
        if state.idle && (state.closed || !state.pending.is_empty()) {
            state.idle = false;
            self.filled.notify_one();
        }
    }

    fn log_sent(&self, kind: &str, id: Option<&str>) {
        self.log.write_message("sent", kind, id);
    }

    fn write_to(&self, sink: &mut impl Write) {
        let mut lines = Vec::new();
        loop {
            {
                let mut state = lock(&self.state);
                while state.pending.is_empty() && !state.closed {
                    state.idle = true;
                    state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                if state.pending.is_empty() {
                    break;
                }
                // Taken out, so that nobody who sends waits until the front end has read.
                std::mem::swap(&mut state.pending, &mut lines);
            }
            self.room.notify_waiters();
            if sink.write_all(&lines).and_then(|()| sink.flush()).is_err() {
                // Nobody may wait for room that will never be.
                lock(&self.state).closed = true;
                break;
            }
            lines.clear();
            lines.shrink_to(KEPT_BUFFER);
        }
        self.gone.send_replace(true);
        self.room.notify_waiters();
    }
}

/// Returns true if a pipe takes [`SURE_TO_FIT`] bytes now.
fn is_writable(file: &File) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::OUT)];
    let polled = poll(&mut fds, Some(&Timespec::default()));
    // OUT alone, because an error is reported beside it if the reader has gone.
    polled == Ok(1) && fds[0].revents() == PollFlags::OUT
}

fn now_ms() -> u64 {
    u64::try_from(callgate_store::now_ms()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
