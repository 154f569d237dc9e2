//! A call on its way to the host.

use std::borrow::Cow;
use std::io::{IoSlice, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use callgate_wire::frame::{TooLarge, prefix};
use callgate_wire::tools::{CallFrame, MAX_MESSAGE};
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
        let around = CallFrame::new(&call.name, call.meta);
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

    /// Sends without waiting. What does not fit into the socket's buffer is left to a thread;
    /// whoever reads the connection learns what became of it.
    pub(super) fn send(&self, stream: &Arc<UnixStream>) {
        let pieces = self.pieces().map(IoSlice::new);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = match sendmsg(stream, &pieces, &mut SendAncillaryBuffer::default(), flags) {
            Ok(sent) => sent,
            Err(error) if error == rustix::io::Errno::AGAIN => 0,
            // The host is gone, and the thread that reads the connection is about to see it.
            Err(_) => return,
        };
        if sent < self.prefix.len() + self.size() {
            let rest = self.after(sent);
            let stream = Arc::clone(stream);
            thread::spawn(move || (&*stream).write_all(&rest));
        }
    }

    /// The bytes that follow the first `sent`.
    fn after(&self, sent: usize) -> Vec<u8> {
        let mut rest = Vec::with_capacity(self.prefix.len() + self.size() - sent);
        let mut skip = sent;
        for piece in self.pieces() {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            rest.extend_from_slice(&piece[skipped..]);
        }
        rest
    }
}
