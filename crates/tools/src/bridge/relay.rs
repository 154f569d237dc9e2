//! Carries calls to the host and answers back.
//!
//! Each connection carries one call at a time. The thread that reads requests sends a call on a
//! free connection, dials a new one if there may be more, or lets the call wait. Each connection
//! has a thread that reads the answers. So a call costs one read and one write on each side, and
//! nothing else.
//!
//! A connection ends in one of two ways. If the *host* closes it, the call on it fails and nothing
//! is dialled any more. If *we* close it, because its call was cancelled or its stream cannot be
//! trusted, the next call dials anew. An answer that is still on its way on such a connection is
//! never read, so it cannot be taken for another call's.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use callgate_link::blocking::fill_frames;
use callgate_link::socket;
use callgate_link::sync::lock;
use callgate_wire::frame::{FrameDecoder, OversizedFrame, PREFIX};
use callgate_wire::tools::{ErrorPayload, HostResponse, MAX_MESSAGE, error_type};

use super::connections::{HostConnection, HostConnections, OutgoingCall, PendingCall, UnsentRest};
use super::output::BridgeOutput;
use crate::mcp::McpCall;

const HOST_IS_GONE: &str = "the program that owns the tools has closed the connection: \
                            start it again, then start a new agent session";
const HOST_WENT_AWAY: &str = "the program that owns the tools closed the connection before it \
                              answered; the tool may or may not have run";
const TOO_MANY_WAIT: &str = "too many calls are waiting for the program that owns the tools: \
                             call again when some have been answered";

/// A call that could not be taken on, with the reason.
type RefusedCall = (PendingCall, ErrorPayload<'static>);

/// The calls under way and the connections they use.
#[derive(Debug)]
pub(super) struct Relay {
    socket: PathBuf,
    most_connections: usize,
    output: Arc<BridgeOutput>,
    /// No thread holds this while it waits for the client; otherwise a cancellation would wait,
    /// too.
    connections: Mutex<HostConnections>,
    all_answered: Condvar,
}

impl Relay {
    pub(super) fn new(
        socket: PathBuf,
        most_connections: usize,
        output: Arc<BridgeOutput>,
    ) -> Arc<Self> {
        let (connections, all_answered) = (Mutex::default(), Condvar::new());
        Arc::new(Self { socket, most_connections, output, connections, all_answered })
    }

    /// Sends a call, or lets it wait. This waits neither for the host nor for the client: while
    /// the host takes its time to read a large call, `client` is watched for more requests. Without
    /// a `client`, because more has been read already, a thread sends the rest.
    pub(super) fn send_call(
        self: &Arc<Self>,
        call: &McpCall<'_>,
        client: Option<&impl AsFd>,
    ) -> io::Result<()> {
        let pending = PendingCall::new(call.ticket());
        let outgoing = match OutgoingCall::new(call) {
            Ok(outgoing) => outgoing,
            Err(too_large) => return self.refuse(&pending, &size_error("the call", too_large)),
        };
        let mut connections = lock(&self.connections);
        // Calls that wait have come earlier, so a new one lines up behind them even if a connection
        // is free.
        let placed = if connections.waiting.is_empty() {
            self.send_or_queue(&mut connections, pending, outgoing)
        } else {
            queue_call(&mut connections, pending, outgoing)
        };
        // A host may take its time to read, and the answers of others must not wait for that.
        drop(connections);
        match (placed, client) {
            (Ok(None), _) => {}
            (Ok(Some(rest)), Some(client)) => rest.finish(client),
            (Ok(Some(rest)), None) => rest.finish_on_thread(),
            (Err((pending, error)), _) => return self.refuse(&pending, &error),
        }
        Ok(())
    }

    /// Sends a call, or lets it wait; returns what the socket did not take.
    fn send_or_queue<'a>(
        self: &Arc<Self>,
        connections: &mut HostConnections,
        pending: PendingCall,
        call: OutgoingCall<'a>,
    ) -> Result<Option<UnsentRest<'a>>, RefusedCall> {
        if let Some(connection) = connections.find_free() {
            return Ok(connection.send(pending, call));
        }
        if connections.count() >= self.most_connections {
            return queue_call(connections, pending, call);
        }
        match self.dial_host(connections) {
            Ok(connection) => Ok(connection.send(pending, call)),
            Err(error) => Err((pending, error)),
        }
    }

    /// Opens a connection and starts the thread that reads it. The lock on the connections is held
    /// meanwhile, which delays nobody: connecting never waits.
    fn dial_host<'a>(
        self: &Arc<Self>,
        connections: &'a mut HostConnections,
    ) -> Result<&'a mut HostConnection, ErrorPayload<'static>> {
        if connections.host_is_gone {
            return Err(connection_error(HOST_IS_GONE));
        }
        let stream = socket::connect_to_path(&self.socket).map_err(|error| {
            connection_error(format!("{error}; is the program that owns the tools running?"))
        })?;
        let stream = Arc::new(stream);
        let number = connections.add(Arc::clone(&stream));
        let relay = Arc::clone(self);
        let reader = thread::Builder::new().spawn(move || relay.read_answers(number, &stream));
        if let Err(error) = reader {
            // Without a thread that reads it, a call on this connection would never be answered.
            connections.remove(number);
            return Err(connection_error(format!("cannot start a thread for the call: {error}")));
        }
        connections.get(number).ok_or_else(|| connection_error(HOST_IS_GONE))
    }

    /// Forgets a call that the client has cancelled: it gets no answer, and its connection is
    /// closed.
    pub(super) fn cancel(self: &Arc<Self>, id: &str) {
        let mut connections = lock(&self.connections);
        connections.cancel(id);
        self.send_waiting(connections);
    }

    /// Sends the client a heartbeat for each call that is still under way.
    pub(super) fn send_heartbeats(&self) -> io::Result<()> {
        let mut connections = lock(&self.connections);
        let news: Vec<Vec<u8>> =
            connections.pending_calls().filter_map(PendingCall::heartbeat_notification).collect();
        drop(connections);
        // A client that has no room for a heartbeat has other lines to read.
        news.iter().try_for_each(|line| self.output.write_now(line).map(drop))
    }

    /// Waits until every call that was taken on has been answered.
    pub(super) fn wait_for_answers(&self) {
        let mut connections = lock(&self.connections);
        connections.is_ending = true;
        drop(self.all_answered.wait_while(connections, |connections| connections.is_busy()));
    }

    /// Reads the answers on a connection until it ends: the work of the connection's thread.
    fn read_answers(self: &Arc<Self>, number: u64, mut stream: &UnixStream) {
        let mut frames = FrameDecoder::new(MAX_MESSAGE);
        loop {
            let buffered = frames.buffered();
            match frames.next_frame() {
                Ok(Some(payload)) => {
                    // A host answers once and then waits for the next call, so anything behind an
                    // answer is a mistake.
                    let is_alone = buffered == PREFIX + payload.len();
                    if !self.take_answer(number, payload, is_alone) {
                        return;
                    }
                }
                Ok(None) => match fill_frames(&mut stream, &mut frames) {
                    Ok(count) if count > 0 => {}
                    // An error and an answer that is cut short say no more than the end.
                    _ => return self.lose_connection(number),
                },
                Err(too_large) => return self.refuse_answer(number, too_large),
            }
        }
    }

    /// Hands an answer to the client; returns false if this connection is not to be read any more.
    /// `is_alone` says that nothing has arrived behind the answer.
    fn take_answer(self: &Arc<Self>, number: u64, payload: &[u8], is_alone: bool) -> bool {
        let response = HostResponse::decode(payload);
        let mut connections = lock(&self.connections);
        let Some(connection) = connections.get(number) else { return false };
        let Some(mut pending) = connection.call.take() else {
            // Nobody asked: what else comes on this stream cannot be trusted.
            connections.hang_up(number);
            return false;
        };
        if let Ok(HostResponse::Progress(progress)) = response {
            let news = pending.progress_notification(&progress);
            connection.call = Some(pending);
            drop(connections);
            // A client that does not read may miss progress, but never an answer.
            news.map(|line| self.output.write_now(&line));
            return true;
        }
        // After a message that cannot be read, with more behind the answer, or with the call not
        // sent to its end, the next answer might be taken for another call's.
        let is_in_step = response.is_ok() && is_alone && connection.is_sent();
        if !is_in_step {
            connections.hang_up(number);
        }
        // Counted until it is written, so that the bridge does not end before.
        connections.answering += 1;
        drop(connections);
        self.write_answer(&pending, response);
        is_in_step
    }

    /// Writes a call's answer and sends the next call that waits.
    fn write_answer(
        self: &Arc<Self>,
        pending: &PendingCall,
        response: Result<HostResponse<'_>, String>,
    ) {
        let mut space = String::new();
        let reply = match response {
            Ok(HostResponse::Result(result)) => {
                pending.ticket.result_reply(result.on_one_line(&mut space))
            }
            Ok(HostResponse::Error(error)) => pending.ticket.error_reply(&error),
            // These were handled before.
            Ok(HostResponse::Progress(_)) => return,
            Err(reason) => pending.ticket.error_reply(&error_payload(error_type::PROTOCOL, reason)),
        };
        // A client that is gone is noticed by the thread that reads its requests.
        self.output.write_line(&mut reply.pieces()).ok();
        let mut connections = lock(&self.connections);
        connections.answering -= 1;
        self.send_waiting(connections);
    }

    /// The host has ended the connection: its call fails, and so do those that wait for it.
    fn lose_connection(self: &Arc<Self>, number: u64) {
        let mut connections = lock(&self.connections);
        // One that we have closed ourselves is not there any more, and says nothing about the host.
        let Some(connection) = connections.remove(number) else { return };
        // A host that is started again may have other tools than those that the client has listed.
        connections.host_is_gone = true;
        self.fail_call(connections, connection, connection_error(HOST_WENT_AWAY));
    }

    /// The host has announced an answer that is too large to be read.
    fn refuse_answer(self: &Arc<Self>, number: u64, too_large: OversizedFrame) {
        let mut connections = lock(&self.connections);
        let Some(connection) = connections.hang_up(number) else { return };
        self.fail_call(connections, connection, size_error("the tool's answer", too_large));
    }

    fn fail_call(
        self: &Arc<Self>,
        mut connections: MutexGuard<'_, HostConnections>,
        connection: HostConnection,
        error: ErrorPayload<'static>,
    ) {
        match connection.call {
            Some(pending) => {
                connections.answering += 1;
                drop(connections);
                self.write_answer(&pending, Ok(HostResponse::Error(error)));
            }
            None => self.send_waiting(connections),
        }
    }

    /// Gives free connections to the calls that wait for one.
    fn send_waiting(self: &Arc<Self>, mut connections: MutexGuard<'_, HostConnections>) {
        let mut refused: Vec<RefusedCall> = Vec::new();
        while connections.has_free(self.most_connections) {
            let Some((pending, call)) = connections.next_waiting() else { break };
            match self.send_or_queue(&mut connections, pending, call) {
                Ok(None) => {}
                Ok(Some(rest)) => rest.finish_on_thread(),
                Err(refusal) => refused.push(refusal),
            }
        }
        // Counted until they are written, so that the bridge does not end before.
        connections.answering += refused.len();
        drop(connections);
        for (pending, error) in &refused {
            // A client that is gone is noticed by the thread that reads its requests.
            self.refuse(pending, error).ok();
        }
        let mut connections = lock(&self.connections);
        connections.answering -= refused.len();
        if connections.is_ending && !connections.is_busy() {
            self.all_answered.notify_all();
        }
    }

    /// Answers with an error, without waiting for the client.
    fn refuse(&self, pending: &PendingCall, error: &ErrorPayload<'_>) -> io::Result<()> {
        self.output.write_soon(pending.ticket.error_reply(error).into_line())
    }
}

/// Lets a call wait; returns it if too many do.
fn queue_call<'a>(
    connections: &mut HostConnections,
    pending: PendingCall,
    call: OutgoingCall<'_>,
) -> Result<Option<UnsentRest<'a>>, RefusedCall> {
    match connections.add_waiting(pending, call) {
        Ok(()) => Ok(None),
        Err(pending) => Err((pending, connection_error(TOO_MANY_WAIT))),
    }
}

fn error_payload(kind: &'static str, message: impl Into<String>) -> ErrorPayload<'static> {
    ErrorPayload { message: message.into().into(), kind: kind.into() }
}

fn connection_error(message: impl Into<String>) -> ErrorPayload<'static> {
    error_payload(error_type::CONNECTION, message)
}

fn size_error(what: &str, too_large: OversizedFrame) -> ErrorPayload<'static> {
    let OversizedFrame { size, limit } = too_large;
    let message =
        format!("{what} has {size} bytes, but {limit} bytes is the limit: send less at once");
    error_payload(error_type::MESSAGE_SIZE, message)
}
