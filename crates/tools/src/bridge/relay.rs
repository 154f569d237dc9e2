//! Carries calls to the host and answers back.
//!
//! Each connection is strictly sequential. The thread that reads requests sends a call on a
//! connection that is free, dials one if there may be more, or lets the call wait; each
//! connection has a thread that reads the answers. So a call costs one read and one write on
//! each side, and nothing else.
//!
//! A connection ends in one of two ways. The *host* breaks it: the call on it fails and nothing
//! is dialled any more. *We* break it, because its call was cancelled or its stream cannot be
//! trusted: the next call dials anew. An answer that is on its way on such a connection is never
//! read, so it cannot be taken for another call's.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use callgate_link::blocking::fill_frames;
use callgate_link::socket;
use callgate_wire::frame::{PREFIX, Prefixed, TooLarge};
use callgate_wire::tools::{ErrorPayload, MAX_MESSAGE, Response, error_type};

use super::frame::{Frame, Sent};
use super::lines::{Line, Lines, Pending};
use super::output::Output;
use crate::mcp::Call;

const HOST_IS_GONE: &str = "the program that owns the tools has closed the connection: \
                            start it again, then start a new agent session";
const HOST_WENT_AWAY: &str = "the program that owns the tools closed the connection before it \
                              answered; the tool may or may not have run";
const TOO_MANY_WAIT: &str = "too many calls are waiting for the program that owns the tools: \
                             call again when some have been answered";

/// A call that is on its way or waits, or is given back with the reason why not.
type Placed<'a> = Result<Sent<'a>, (Pending, ErrorPayload<'static>)>;

/// The calls under way and the connections they use.
#[derive(Debug)]
pub(super) struct Relay {
    socket: PathBuf,
    connections: usize,
    output: Arc<Output>,
    lines: Mutex<Lines>,
    all_answered: Condvar,
}

impl Relay {
    pub(super) fn new(socket: PathBuf, connections: usize, output: Arc<Output>) -> Arc<Self> {
        let (lines, all_answered) = (Mutex::default(), Condvar::new());
        Arc::new(Self { socket, connections, output, lines, all_answered })
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a call on. It waits neither for the host nor for the client: while the host takes
    /// its time to read a large call, `client` is listened to; without one, because it has said
    /// more already, a thread waits.
    pub(super) fn call(
        self: &Arc<Self>,
        call: &Call<'_>,
        client: Option<&impl AsFd>,
    ) -> io::Result<()> {
        let pending = Pending::new(call.ticket());
        let frame = match Frame::new(call) {
            Ok(frame) => frame,
            Err(too_large) => return self.refuse(&pending, &size_error("the call", too_large)),
        };
        let mut lines = self.lines();
        let placed = if lines.has_waiting() {
            wait(&mut lines, pending, frame)
        } else {
            self.place(&mut lines, pending, frame)
        };
        drop(lines);
        match placed {
            Ok(Sent::All) => Ok(()),
            Ok(Sent::Part(rest)) => {
                match client {
                    Some(client) => rest.finish(client),
                    None => rest.finish_elsewhere(),
                }
                Ok(())
            }
            Err((pending, error)) => self.refuse(&pending, &error),
        }
    }

    /// Sends a call, or lets it wait; gives it back with the reason when it can do neither.
    fn place<'a>(
        self: &Arc<Self>,
        lines: &mut Lines,
        pending: Pending,
        frame: Frame<'a>,
    ) -> Placed<'a> {
        if let Some(line) = lines.free() {
            return Ok(line.send(pending, frame));
        }
        if lines.count() >= self.connections {
            return wait(lines, pending, frame);
        }
        match self.dial(lines) {
            Ok(line) => Ok(line.send(pending, frame)),
            Err(error) => Err((pending, error)),
        }
    }

    fn dial<'a>(
        self: &Arc<Self>,
        lines: &'a mut Lines,
    ) -> Result<&'a mut Line, ErrorPayload<'static>> {
        if lines.host_is_gone {
            return Err(connection_error(HOST_IS_GONE));
        }
        let stream = socket::connect(&self.socket).map_err(|error| {
            connection_error(format!("{error}; is the program that owns the tools running?"))
        })?;
        let stream = Arc::new(stream);
        let number = lines.add(Arc::clone(&stream));
        let relay = Arc::clone(self);
        let reader = thread::Builder::new().spawn(move || relay.read_answers(number, &stream));
        if let Err(error) = reader {
            lines.remove(number);
            return Err(connection_error(format!("cannot start a thread for the call: {error}")));
        }
        lines.get(number).ok_or_else(|| connection_error(HOST_IS_GONE))
    }

    /// Forgets a call that the client has cancelled: it gets no answer, and its line is free.
    pub(super) fn cancel(self: &Arc<Self>, id: &str) {
        let mut lines = self.lines();
        lines.cancel(id);
        self.send_waiting(lines);
    }

    /// Tells the client of the calls that are still under way.
    pub(super) fn beat(&self) -> io::Result<()> {
        let news: Vec<Vec<u8>> = self.lines().pending().filter_map(Pending::beat).collect();
        news.iter().try_for_each(|line| self.output.write_now(line).map(drop))
    }

    /// Waits until every call that was taken on has been answered.
    pub(super) fn finish(&self) {
        let mut lines = self.lines();
        lines.is_ending = true;
        drop(self.all_answered.wait_while(lines, |lines| lines.is_busy()));
    }

    /// The life of a connection's thread.
    fn read_answers(self: &Arc<Self>, number: u64, mut stream: &UnixStream) {
        let mut frames = Prefixed::new(MAX_MESSAGE);
        loop {
            let buffered = frames.buffered();
            match frames.next_frame() {
                Ok(Some(payload)) => {
                    let is_alone = buffered == PREFIX + payload.len();
                    if !self.take_answer(number, payload, is_alone) {
                        return;
                    }
                }
                Ok(None) => match fill_frames(&mut stream, &mut frames) {
                    Ok(count) if count > 0 => {}
                    _ => return self.lose(number),
                },
                Err(too_large) => return self.refuse_answer(number, too_large),
            }
        }
    }

    /// Hands an answer to the client; `false` when this connection is not to be read any more.
    /// `is_alone` says that nothing has arrived behind it.
    fn take_answer(self: &Arc<Self>, number: u64, payload: &[u8], is_alone: bool) -> bool {
        let response = Response::decode(payload);
        let mut lines = self.lines();
        let Some(line) = lines.get(number) else { return false };
        let Some(mut pending) = line.call.take() else {
            // Nobody asked: what else comes on this stream cannot be trusted.
            lines.hang_up(number);
            return false;
        };
        if let Ok(Response::Progress(progress)) = response {
            let news = pending.report(&progress);
            line.call = Some(pending);
            drop(lines);
            // Progress is news, not an answer: a client that does not read may miss it.
            news.map(|line| self.output.write_now(&line));
            return true;
        }
        // After a message that cannot be read, with more behind the answer, or with the call not
        // sent to its end, the next answer might be taken for another call's.
        let is_in_step = response.is_ok() && is_alone && line.is_sent();
        if !is_in_step {
            lines.hang_up(number);
        }
        lines.answering += 1;
        drop(lines);
        self.answer(&pending, response);
        is_in_step
    }

    /// Writes a call's answer and lets the next one go.
    fn answer(self: &Arc<Self>, pending: &Pending, response: Result<Response<'_>, String>) {
        let mut space = String::new();
        let reply = match response {
            Ok(Response::Result(result)) => pending.ticket.result(result.on_one_line(&mut space)),
            Ok(Response::Error(error)) => pending.ticket.error(&error),
            Ok(Response::Progress(_)) => return,
            Err(reason) => pending.ticket.error(&failure(error_type::PROTOCOL, reason)),
        };
        // A client that is gone is noticed by the thread that reads its requests.
        self.output.write(&mut reply.pieces()).ok();
        let mut lines = self.lines();
        lines.answering -= 1;
        self.send_waiting(lines);
    }

    /// The host has ended the connection: its call fails, and so do those that wait for it.
    fn lose(self: &Arc<Self>, number: u64) {
        let mut lines = self.lines();
        let Some(line) = lines.remove(number) else { return };
        lines.host_is_gone = true;
        self.fail(lines, line, connection_error(HOST_WENT_AWAY));
    }

    /// The host has announced an answer that is too large to be read.
    fn refuse_answer(self: &Arc<Self>, number: u64, too_large: TooLarge) {
        let mut lines = self.lines();
        let Some(line) = lines.hang_up(number) else { return };
        self.fail(lines, line, size_error("the tool's answer", too_large));
    }

    fn fail(
        self: &Arc<Self>,
        mut lines: MutexGuard<'_, Lines>,
        line: Line,
        error: ErrorPayload<'static>,
    ) {
        match line.call {
            Some(pending) => {
                lines.answering += 1;
                drop(lines);
                self.answer(&pending, Ok(Response::Error(error)));
            }
            None => self.send_waiting(lines),
        }
    }

    /// Gives free connections to the calls that wait for one.
    fn send_waiting(self: &Arc<Self>, mut lines: MutexGuard<'_, Lines>) {
        let mut refused: Vec<(Pending, ErrorPayload<'static>)> = Vec::new();
        while lines.has_free(self.connections) {
            let Some((pending, frame)) = lines.next_waiting() else { break };
            match self.place(&mut lines, pending, frame) {
                Ok(Sent::All) => {}
                Ok(Sent::Part(rest)) => rest.finish_elsewhere(),
                Err(refusal) => refused.push(refusal),
            }
        }
        lines.answering += refused.len();
        drop(lines);
        for (pending, error) in &refused {
            // A client that is gone is noticed by the thread that reads its requests.
            self.refuse(pending, error).ok();
        }
        let mut lines = self.lines();
        lines.answering -= refused.len();
        if lines.is_ending && !lines.is_busy() {
            self.all_answered.notify_all();
        }
    }

    /// Answers without waiting for the client.
    fn refuse(&self, pending: &Pending, error: &ErrorPayload<'_>) -> io::Result<()> {
        self.output.write_soon(pending.ticket.error(error).into_line())
    }
}

/// Lets a call wait; gives it back when too many do.
fn wait<'a>(lines: &mut Lines, pending: Pending, frame: Frame<'_>) -> Placed<'a> {
    match lines.wait(pending, frame) {
        Ok(()) => Ok(Sent::All),
        Err(pending) => Err((pending, connection_error(TOO_MANY_WAIT))),
    }
}

fn failure(kind: &'static str, message: impl Into<String>) -> ErrorPayload<'static> {
    ErrorPayload { message: message.into().into(), kind: kind.into() }
}

fn connection_error(message: impl Into<String>) -> ErrorPayload<'static> {
    failure(error_type::CONNECTION, message)
}

fn size_error(what: &str, too_large: TooLarge) -> ErrorPayload<'static> {
    let TooLarge { size, limit } = too_large;
    let message =
        format!("{what} has {size} bytes, but {limit} bytes is the limit: send less at once");
    failure(error_type::MESSAGE_SIZE, message)
}
