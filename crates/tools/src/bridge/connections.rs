//! The connections to the host and the calls on them: the relay's state.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_link::sync::lock;
use callgate_wire::frame::{OversizedFrame, length_prefix};
use callgate_wire::tools::{CallFrame, CallProgress, MAX_MESSAGE};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use crate::mcp::{CallTicket, McpCall};

/// How many bytes of calls may wait for a connection. Their number has no limit of its own, because
/// agents make hundreds of small calls at once.
const MOST_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// Roughly how many bytes a waiting call takes beside its payload.
const WAITING_OVERHEAD: usize = 1024;
/// A heartbeat must be more than the progress before it, and less than the host's next.
const HEARTBEAT_STEP: f64 = 1e-6;

/// The open connections, and the calls that wait for one.
#[derive(Debug, Default)]
pub(super) struct HostConnections {
    open: Vec<HostConnection>,
    pub(super) waiting: VecDeque<(PendingCall, OutgoingCall<'static>)>,
    /// The bytes of the calls that wait.
    waiting_bytes: usize,
    /// Never given twice, so that the thread of a closed connection finds nothing under its number.
    next_number: u64,
    /// Answers that have been taken off a connection and are not written yet.
    pub(super) answering: usize,
    /// Somebody waits for the last answer.
    pub(super) is_ending: bool,
    /// The host has ended a connection: nothing is dialled any more.
    pub(super) host_is_gone: bool,
}

/// One connection, which carries one call at a time.
#[derive(Debug)]
pub(super) struct HostConnection {
    number: u64,
    stream: Arc<UnixStream>,
    /// The call that has been sent and not been answered.
    pub(super) call: Option<PendingCall>,
    /// Whether the last call has been sent to its end. Locked while a part of it is sent: the host
    /// may answer the last part before the thread that sent it runs again.
    is_sent: Arc<Mutex<bool>>,
}

/// A call that has no answer yet.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) ticket: CallTicket,
    /// The progress last reported to the client; less than any number before.
    progress: f64,
    /// The heartbeats since the call arrived or made progress.
    beats: u32,
}

impl HostConnections {
    /// Returns true if any call has no answer yet.
    pub(super) fn is_busy(&self) -> bool {
        let is_running = self.open.iter().any(|connection| connection.call.is_some());
        is_running || self.answering > 0 || !self.waiting.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Returns true if a call could be sent now, on a free connection or on a new one.
    pub(super) fn has_free(&self, most: usize) -> bool {
        self.open.len() < most || self.open.iter().any(|connection| connection.call.is_none())
    }

    pub(super) fn find_free(&mut self) -> Option<&mut HostConnection> {
        self.open.iter_mut().find(|connection| connection.call.is_none())
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut HostConnection> {
        self.open.iter_mut().find(|connection| connection.number == number)
    }

    /// Adds a connection and returns its number.
    pub(super) fn add(&mut self, stream: Arc<UnixStream>) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.open.push(HostConnection { number, stream, call: None, is_sent: Arc::default() });
        number
    }

    /// Forgets a connection. Its thread finds it gone and ends.
    pub(super) fn remove(&mut self, number: u64) -> Option<HostConnection> {
        let place = self.open.iter().position(|connection| connection.number == number)?;
        Some(self.open.swap_remove(place))
    }

    /// Closes a connection: the host sees it at once, and the next call dials anew.
    pub(super) fn hang_up(&mut self, number: u64) -> Option<HostConnection> {
        let connection = self.remove(number)?;
        // Dropping the stream would not close it, because the thread that reads it holds it, too.
        // An error means that the other side was quicker.
        connection.stream.shutdown(Shutdown::Both).ok();
        Some(connection)
    }

    /// Drops the call with this id, and closes the connection that it was sent on.
    pub(super) fn cancel(&mut self, id: &str) {
        self.waiting.retain(|(pending, call)| {
            let is_kept = !pending.ticket.has_id(id);
            if !is_kept {
                self.waiting_bytes -= call.waiting_cost();
            }
            is_kept
        });
        let has_id = |pending: &PendingCall| pending.ticket.has_id(id);
        let carries = |connection: &&HostConnection| connection.call.as_ref().is_some_and(has_id);
        if let Some(number) = self.open.iter().find(carries).map(|connection| connection.number) {
            // The host has no other way to learn of it.
            self.hang_up(number);
        }
    }

    /// Lets a call wait for its turn; returns it if too many do.
    pub(super) fn add_waiting(
        &mut self,
        pending: PendingCall,
        call: OutgoingCall<'_>,
    ) -> Result<(), PendingCall> {
        let bytes = self.waiting_bytes + call.waiting_cost();
        if bytes > MOST_WAITING_BYTES {
            return Err(pending);
        }
        self.waiting_bytes = bytes;
        // The arguments are copied only here, because the buffer of the line that has them is used
        // again.
        self.waiting.push_back((pending, call.into_owned()));
        Ok(())
    }

    /// Takes the call that has waited longest.
    pub(super) fn next_waiting(&mut self) -> Option<(PendingCall, OutgoingCall<'static>)> {
        let next = self.waiting.pop_front()?;
        self.waiting_bytes -= next.1.waiting_cost();
        Some(next)
    }

    /// Returns all calls without an answer.
    pub(super) fn pending_calls(&mut self) -> impl Iterator<Item = &mut PendingCall> {
        let running = self.open.iter_mut().filter_map(|connection| connection.call.as_mut());
        running.chain(self.waiting.iter_mut().map(|(pending, _)| pending))
    }
}

impl HostConnection {
    /// Sends as much of a call as the socket takes at once, and returns the rest. Without a rest
    /// the call is on its way, or the host is gone and the thread that reads the connection is
    /// about to see it.
    pub(super) fn send<'a>(
        &mut self,
        pending: PendingCall,
        call: OutgoingCall<'a>,
    ) -> Option<UnsentRest<'a>> {
        self.call = Some(pending);
        // The lock is a new one, because a thread may still hold that of an earlier call on this
        // connection.
        self.is_sent = Arc::default();
        let (stream, is_sent) = (Arc::clone(&self.stream), Arc::clone(&self.is_sent));
        let mut rest = UnsentRest { stream, call, sent: 0, is_sent };
        if rest.send_more() { None } else { Some(rest) }
    }

    /// Returns true if the last call has been sent to its end, so that another may follow it.
    pub(super) fn is_sent(&self) -> bool {
        *lock(&self.is_sent)
    }
}

impl PendingCall {
    pub(super) fn new(ticket: CallTicket) -> Self {
        Self { ticket, progress: f64::NEG_INFINITY, beats: 0 }
    }

    /// Returns the notification of a heartbeat. The first beat has none: it may have come a moment
    /// after the call.
    pub(super) fn heartbeat_notification(&mut self) -> Option<Vec<u8>> {
        self.beats += 1;
        if self.beats == 1 {
            return None;
        }
        let last = if self.progress.is_finite() { self.progress } else { 0.0 };
        // The step is too small to change a large number.
        self.progress = (last + HEARTBEAT_STEP).max(last.next_up());
        let message = Some("still working".into());
        self.ticket.progress_notification(&CallProgress {
            progress: self.progress,
            total: None,
            message,
        })
    }

    /// Returns the notification of the host's progress, unless it has not grown.
    pub(super) fn progress_notification(&mut self, progress: &CallProgress<'_>) -> Option<Vec<u8>> {
        // MCP wants each report of progress to be greater than the one before.
        if progress.progress <= self.progress {
            return None;
        }
        self.progress = progress.progress;
        self.beats = 0;
        self.ticket.progress_notification(progress)
    }
}

/// A `call_tool` request in the pieces it is written in. The arguments are copied only if they
/// have to wait.
#[derive(Debug)]
pub(super) struct OutgoingCall<'a> {
    prefix: [u8; 4],
    around: CallFrame,
    arguments: Cow<'a, str>,
}

impl<'a> OutgoingCall<'a> {
    pub(super) fn new(call: &McpCall<'a>) -> Result<Self, OversizedFrame> {
        let arguments = call.arguments.get();
        let around = CallFrame::new(&call.name, call.meta, call.retry);
        let prefix = length_prefix(around.size(arguments.len()), MAX_MESSAGE)?;
        Ok(Self { prefix, around, arguments: Cow::Borrowed(arguments) })
    }

    fn into_owned(self) -> OutgoingCall<'static> {
        let arguments = Cow::Owned(self.arguments.into_owned());
        OutgoingCall { arguments, ..self }
    }

    /// Returns the size of the request's payload.
    fn size(&self) -> usize {
        self.around.size(self.arguments.len())
    }

    /// Returns how much of the room for waiting calls this one takes.
    fn waiting_cost(&self) -> usize {
        self.size() + WAITING_OVERHEAD
    }

    /// Returns the pieces without their first `sent` bytes.
    fn unsent_pieces(&self, sent: usize) -> [IoSlice<'_>; 4] {
        let mut skip = sent;
        let (head, tail) = (self.around.head.as_bytes(), self.around.tail.as_bytes());
        [&self.prefix[..], head, self.arguments.as_bytes(), tail].map(|piece| {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            IoSlice::new(&piece[skipped..])
        })
    }
}

/// The rest of a call that did not fit into its socket.
#[derive(Debug)]
#[must_use]
pub(super) struct UnsentRest<'a> {
    stream: Arc<UnixStream>,
    call: OutgoingCall<'a>,
    sent: usize,
    /// Set at the call's end.
    is_sent: Arc<Mutex<bool>>,
}

impl UnsentRest<'_> {
    /// Sends the rest while the host reads and the client is silent. Should the client say
    /// something first, perhaps that the call is cancelled, a thread takes over.
    pub(super) fn finish(mut self, client: &impl AsFd) {
        while !self.send_more() {
            let mut fds =
                [PollFd::new(&*self.stream, PollFlags::OUT), PollFd::new(client, PollFlags::IN)];
            let is_polled = poll(&mut fds, None).is_ok();
            if !is_polled || !fds[1].revents().is_empty() {
                return self.finish_on_thread();
            }
        }
    }

    /// Leaves the rest to a thread.
    pub(super) fn finish_on_thread(self) {
        let Self { stream, call, sent, is_sent } = self;
        let connection = Arc::clone(&stream);
        let mut rest = UnsentRest { stream, call: call.into_owned(), sent, is_sent };
        let send = move || {
            while !rest.send_more() {
                if poll(&mut [PollFd::new(&*rest.stream, PollFlags::OUT)], None).is_err() {
                    return;
                }
            }
        };
        if thread::Builder::new().spawn(send).is_err() {
            // The thread that reads the connection finds it closed, and answers the call.
            connection.shutdown(Shutdown::Both).ok();
        }
    }

    /// Sends as much as the socket takes; returns true if there is no more to do.
    fn send_more(&mut self) -> bool {
        let pieces = self.call.unsent_pieces(self.sent);
        // A flag of this call, because the thread that reads from the socket shares its mode, and
        // has to wait.
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let mut is_sent = lock(&self.is_sent);
        match sendmsg(&*self.stream, &pieces, &mut SendAncillaryBuffer::default(), flags) {
            Ok(count) => self.sent += count,
            Err(Errno::AGAIN | Errno::INTR) => return false,
            Err(_) => {
                // The host does not read any more; the thread that reads the connection has to
                // see that too.
                self.stream.shutdown(Shutdown::Both).ok();
                return true;
            }
        }
        *is_sent = self.sent == self.call.prefix.len() + self.call.size();
        *is_sent
    }
}
