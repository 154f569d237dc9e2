//! The state of a session, with its process and its open requests: a pure state machine.
//!
//! [`ClientCore::handle_input`] takes the time and a [`CoreInput`] and returns [`CoreOutput`]s in
//! order. Whatever the runtime does, every request has exactly one end, and nothing follows it.

mod life;
mod lines;
mod pending_request;
mod sequence_numbers;
#[cfg(test)]
mod tests;

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::frame::DecodedLine;
use callgate_wire::session::{SessionCommand, SessionRequest, capability};

use crate::event::{PassedOver, RequestEvent, RuntimeState, WatchedItem};
use crate::{ClientError, ClientSettings};
use life::RuntimeLife;
pub(crate) use pending_request::is_turn;
use pending_request::{PendingRequest, RequestStage};
use sequence_numbers::SequenceNumbers;

/// The memory of an event in addition to its line.
pub(crate) const OVERHEAD: usize = 256;

/// Something that happened, or that a caller wants.
#[derive(Debug)]
pub(crate) enum CoreInput<'a> {
    Begin,
    /// A request is sent; `line` is its encoded form.
    Ask {
        request: Arc<SessionRequest>,
        line: Vec<u8>,
    },
    Cancel {
        id: &'a str,
    },
    /// The events of a running request were not read in time.
    NotRead {
        id: &'a str,
    },
    /// A request was completely written to the runtime.
    Written {
        id: &'a str,
    },
    Line(DecodedLine<'a>),
    /// Reading from the runtime is paused because of a slow reader.
    Paused,
    Resumed,
    Started,
    NotStarted {
        reason: String,
    },
    PipeClosed,
    /// The process has ended.
    Exited {
        status: Option<ExitStatus>,
        last_words: Option<String>,
    },
    Restart,
    Leave,
    Tick,
}

/// Something that the caller has to do.
#[derive(Debug)]
pub(crate) enum CoreOutput {
    Start,
    End,
    /// Write a line to the process; `of` is the id of its request, if somebody waits for it.
    Write {
        line: Vec<u8>,
        of: Option<Arc<str>>,
    },
    /// Do not write a request whose writing has not begun.
    Withdraw {
        id: Arc<str>,
    },
    /// Deliver an event to the request and the watchers.
    Happened {
        id: Arc<str>,
        happened: RequestEvent,
        size: usize,
    },
    /// Deliver an item to the watchers.
    Seen {
        what: WatchedItem,
        size: usize,
    },
    Over,
}

#[derive(Debug)]
pub(crate) struct ClientCore {
    settings: ClientSettings,
    /// The prefix of the ids of the client's own requests.
    name: String,
    life: RuntimeLife,
    pub(crate) state: RuntimeState,
    /// The number of the current process.
    pub(crate) epoch: u64,
    deaths: u32,
    is_leaving: bool,
    /// The open requests, in the order in which they were sent.
    open: Vec<PendingRequest>,
    numbers: SequenceNumbers,
    own_requests: u64,
    paused: Option<Duration>,
    pub(crate) passed_over: PassedOver,
    outputs: Vec<CoreOutput>,
}

impl ClientCore {
    pub(crate) fn new(settings: ClientSettings, name: String) -> Self {
        Self {
            settings,
            name,
            life: RuntimeLife::NotBegun,
            state: RuntimeState::Starting,
            epoch: 0,
            deaths: 0,
            is_leaving: false,
            open: Vec::new(),
            numbers: SequenceNumbers::default(),
            own_requests: 0,
            paused: None,
            passed_over: PassedOver::default(),
            outputs: Vec::new(),
        }
    }

    /// Handles an input at the time `now`, and returns what to do.
    pub(crate) fn handle_input(&mut self, now: Duration, input: CoreInput<'_>) -> Vec<CoreOutput> {
        match input {
            CoreInput::Begin => self.start_process(),
            CoreInput::Ask { request, line } => self.accept_request(now, &request, line),
            CoreInput::Cancel { id } => self.cancel(now, id),
            CoreInput::NotRead { id } => self.not_read(now, id),
            CoreInput::Written { id } => self.handle_written(now, id),
            CoreInput::Line(line) => self.handle_line(now, line),
            CoreInput::Paused => self.paused = Some(now),
            CoreInput::Resumed => self.handle_resumed(now),
            CoreInput::Started => self.handle_started(now),
            CoreInput::NotStarted { reason } => self.not_started(now, &reason),
            CoreInput::PipeClosed => self.pipe_closed(now),
            CoreInput::Exited { status, last_words } => self.handle_exit(now, status, last_words),
            CoreInput::Restart => self.restart(now),
            CoreInput::Leave => self.handle_leave(now),
            CoreInput::Tick => self.handle_tick(now),
        }
        std::mem::take(&mut self.outputs)
    }

    /// Returns when the next [`CoreInput::Tick`] is due.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let requests = (0..self.open.len()).filter_map(|index| self.due_time(index));
        requests.chain(self.life.deadline()).chain(self.numbers.deadline()).min()
    }

    fn handle_tick(&mut self, now: Duration) {
        // The process first, so that requests that end together with it name its end as the reason.
        self.tick_life(now);
        if self.numbers.deadline().is_some_and(|until| until <= now) {
            self.fail_running_requests(now);
        }
        // The first to end may be what the next was waiting for.
        while let Some(index) = (0..self.open.len()).find(|index| self.is_due(*index, now)) {
            self.expire_request(now, index);
        }
    }

    fn is_due(&self, index: usize, now: Duration) -> bool {
        self.due_time(index).is_some_and(|due| due <= now)
    }

    /// Returns when the request has to make progress.
    fn due_time(&self, index: usize) -> Option<Duration> {
        let open = &self.open[index];
        if open.stage != RequestStage::Written {
            return Some(open.taken_by);
        }
        // Nothing is read meanwhile, so the silence is ours.
        if self.paused.is_some() {
            return None;
        }
        // The runtime owes nothing to a turn that waits for an earlier one.
        let is_behind = self.open[..index].iter().any(|earlier| earlier.is_before(open));
        let is_at_work = open.is_at_work() && !is_behind;
        let idle = is_at_work.then(|| open.heard.saturating_add(self.settings.idle));
        idle.into_iter().chain(open.cancelled_by).min()
    }

    fn expire_request(&mut self, now: Duration, index: usize) {
        let open = &self.open[index];
        let error = if open.stage != RequestStage::Written {
            ClientError::NotTaken { after: self.settings.taken }
        } else if open.cancelled_by.is_some_and(|until| until <= now) {
            ClientError::Cancelled
        } else {
            ClientError::Idle { after: self.settings.idle }
        };
        self.give_up(now, index, error);
    }

    fn accept_request(&mut self, now: Duration, request: &Arc<SessionRequest>, line: Vec<u8>) {
        // First, so that watchers read of the request before its end, which may come at once.
        self.show_to_watchers(WatchedItem::Asked(Arc::clone(request)), line.len() + OVERHEAD);
        let taken_by = now.saturating_add(self.settings.taken);
        self.open.push(PendingRequest::new(request, line, now, taken_by));
        let last = self.open.len() - 1;
        match &self.life {
            _ if self.is_leaving => self.fail_request(now, last, ClientError::Closed),
            RuntimeLife::GivenUp { reason } => {
                let (deaths, reason) = (self.deaths, Arc::clone(reason));
                self.fail_request(now, last, ClientError::GivenUp { deaths, reason });
            }
            RuntimeLife::Ready { .. } => self.send_request(now, last),
            _ => {}
        }
    }

    fn send_request(&mut self, now: Duration, index: usize) {
        let open = &mut self.open[index];
        if let Some(missing) = open.needs.iter().find(|name| !self.life.has_capability(name)) {
            // Nobody has asked for `hello`: the error names what it would have been needed for.
            let kind = if *missing == capability::HELLO { open.kind } else { missing };
            return self.fail_request(now, index, ClientError::NotOffered { kind });
        }
        let line = std::mem::take(&mut open.line);
        open.stage = RequestStage::Sent;
        let of = Some(Arc::clone(&open.id));
        self.outputs.push(CoreOutput::Write { line, of });
    }

    fn handle_written(&mut self, now: Duration, id: &str) {
        match self.find_request(id) {
            Some(index) => {
                self.open[index].stage = RequestStage::Written;
                // The time in which it waited to be written does not count as silence.
                self.open[index].heard = now;
            }
            // It was given up while half of it was in the pipe.
            None => self.send_cancel(id),
        }
    }

    fn cancel(&mut self, now: Duration, id: &str) {
        let Some(index) = self.find_request(id) else { return };
        let open = &self.open[index];
        // Only then will the runtime end it.
        let can_wait = open.stage == RequestStage::Written && open.is_turn() && self.can_cancel();
        if !can_wait {
            return self.give_up(now, index, ClientError::Cancelled);
        }
        if open.cancelled_by.is_none() {
            self.open[index].cancelled_by = Some(now.saturating_add(self.settings.cancelled));
            self.send_cancel(id);
        }
    }

    fn not_read(&mut self, now: Duration, id: &str) {
        let Some(index) = self.find_request(id) else { return };
        let after = self.settings.patience;
        self.give_up(now, index, ClientError::NotRead { after });
    }

    fn handle_resumed(&mut self, now: Duration) {
        let Some(since) = self.paused.take() else { return };
        let pause = now.saturating_sub(since);
        for open in &mut self.open {
            // The time in which nothing was read does not count against the runtime.
            open.heard += pause;
            open.cancelled_by = open.cancelled_by.map(|until| until.saturating_add(pause));
        }
    }

    /// Fails a request, and cancels it at the runtime.
    fn give_up(&mut self, now: Duration, index: usize, error: ClientError) {
        let open = &self.open[index];
        let id = Arc::clone(&open.id);
        match open.stage {
            RequestStage::Sent => self.outputs.push(CoreOutput::Withdraw { id }),
            // The runtime would go on with a turn that nobody waits for any more.
            RequestStage::Written if open.is_turn() && open.cancelled_by.is_none() => {
                self.send_cancel(&id);
            }
            RequestStage::Held | RequestStage::Written => {}
        }
        self.fail_request(now, index, error);
    }

    fn can_cancel(&self) -> bool {
        self.life.has_capability(capability::HELLO) && self.life.has_capability(capability::CANCEL)
    }

    fn send_cancel(&mut self, target: &str) {
        if self.can_cancel() {
            self.send_own_request(SessionCommand::Cancel { target: target.to_owned() });
        }
    }

    /// Writes a request of the client's own and returns its id.
    fn send_own_request(&mut self, command: SessionCommand) -> String {
        // No request of a caller has such an id: after the name, theirs have only a number.
        self.own_requests += 1;
        let id = format!("{}-own-{}", self.name, self.own_requests);
        let line = SessionRequest { id: id.clone(), command }.to_line();
        self.outputs.push(CoreOutput::Write { line, of: None });
        id
    }

    fn find_request(&self, id: &str) -> Option<usize> {
        self.open.iter().position(|open| &*open.id == id)
    }

    fn fail_request(&mut self, now: Duration, index: usize, error: ClientError) {
        self.end_request(now, index, RequestEvent::Failed(error), 0);
    }

    /// Ends a request. Requests are removed only here.
    fn end_request(&mut self, now: Duration, index: usize, happened: RequestEvent, size: usize) {
        let ended = self.open.remove(index);
        for next in &mut self.open[index..] {
            if ended.is_before(next) {
                // Its turn has come: its time begins.
                next.heard = now;
            }
        }
        self.outputs.push(CoreOutput::Happened { id: ended.id, happened, size: size + OVERHEAD });
    }

    fn fail_all(&mut self, now: Duration, error: &ClientError) {
        while !self.open.is_empty() {
            self.fail_request(now, 0, error.clone());
        }
    }

    fn show_to_watchers(&mut self, what: WatchedItem, size: usize) {
        self.outputs.push(CoreOutput::Seen { what, size });
    }
}
