//! A call on its way to the host.

use std::borrow::Cow;
use std::io::IoSlice;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use callgate_wire::frame::{TooLarge, prefix};
use callgate_wire::tools::{CallFrame, MAX_MESSAGE};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use crate::mcp::Call;

/// A `call_tool` request in the pieces it is written in; the arguments are not copied unless
/// they have to wait.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    prefix: [u8; 4],
    around: CallFrame,
    arguments: Cow<'a, str>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(call: &Call<'a>) -> Result<Self, TooLarge> {
        let around = CallFrame::new(&call.name, call.meta, call.retry);
        let prefix = prefix(around.size(call.arguments.len()), MAX_MESSAGE)?;
        Ok(Self { prefix, around, arguments: Cow::Borrowed(call.arguments) })
    }

    pub(super) fn into_owned(self) -> Frame<'static> {
        let arguments = Cow::Owned(self.arguments.into_owned());
        Frame { arguments, ..self }
    }

    /// The size of the request's payload.
    pub(super) fn size(&self) -> usize {
        self.around.size(self.arguments.len())
    }

    fn pieces(&self) -> [&[u8]; 4] {
        [
            &self.prefix,
            self.around.head.as_bytes(),
            self.arguments.as_bytes(),
            self.around.tail.as_bytes(),
        ]
    }

    /// Sends as much as the socket takes at once.
    pub(super) fn send(self, stream: &Arc<UnixStream>, is_sent: &Arc<AtomicBool>) -> Sent<'a> {
        let (stream, is_sent) = (Arc::clone(stream), Arc::clone(is_sent));
        let mut rest = Rest { stream, frame: self, sent: 0, is_sent };
        if rest.send_more() { Sent::All } else { Sent::Part(rest) }
    }
}

/// What became of a frame.
#[derive(Debug)]
#[must_use]
pub(super) enum Sent<'a> {
    /// It is on its way; or the host is gone, and the thread that reads the connection is about
    /// to see it.
    All,
    /// The socket was full before its end.
    Part(Rest<'a>),
}

/// The rest of a frame that did not fit into its socket.
#[derive(Debug)]
pub(super) struct Rest<'a> {
    stream: Arc<UnixStream>,
    frame: Frame<'a>,
    sent: usize,
    /// Set at the frame's end.
    is_sent: Arc<AtomicBool>,
}

impl Rest<'_> {
    /// Sends the rest while the host reads and the client is silent. Should the client say
    /// something first, perhaps that the call is cancelled, a thread takes over.
    pub(super) fn finish(mut self, client: &impl AsFd) {
        while !self.send_more() {
            let mut fds =
                [PollFd::new(&*self.stream, PollFlags::OUT), PollFd::new(client, PollFlags::IN)];
            let is_polled = poll(&mut fds, None).is_ok();
            if !is_polled || !fds[1].revents().is_empty() {
                return self.finish_elsewhere();
            }
        }
    }

    /// Leaves the rest to a thread.
    pub(super) fn finish_elsewhere(self) {
        let Self { stream, frame, sent, is_sent } = self;
        let line = Arc::clone(&stream);
        let mut rest = Rest { stream, frame: frame.into_owned(), sent, is_sent };
        let send = move || {
            while !rest.send_more() {
                if poll(&mut [PollFd::new(&*rest.stream, PollFlags::OUT)], None).is_err() {
                    return;
                }
            }
        };
        if thread::Builder::new().spawn(send).is_err() {
            // The thread that reads the connection finds it closed, and answers the call.
            line.shutdown(Shutdown::Both).ok();
        }
    }

    /// Sends as much as the socket takes; `true` when there is no more to do.
    fn send_more(&mut self) -> bool {
        let pieces = self.pieces();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
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
        let is_sent = self.sent == self.frame.prefix.len() + self.frame.size();
        self.is_sent.store(is_sent, Ordering::Release);
        is_sent
    }

    fn pieces(&self) -> [IoSlice<'_>; 4] {
        let mut skip = self.sent;
        self.frame.pieces().map(|piece| {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            IoSlice::new(&piece[skipped..])
        })
    }
}
