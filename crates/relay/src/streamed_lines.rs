//! Lines over an asynchronous stream. A line that is idle has no buffer, so that a desk can have
//! many of them.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use callgate_wire::frame::LineDecoder;
use callgate_wire::relay::MAX_LINE;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::carried_line::{LineArrival, MOST_UNSENT, SharedLine};
use crate::line_budget::{BudgetShare, LineBudget};

/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;
/// How many bytes of a line that is not whole count for nothing, so that whoever takes the whole
/// budget does not end the lines of the others with their next beat.
const FREE: usize = 64 * 1024;

pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

pub(crate) struct StreamedLines {
    stream: Box<dyn ByteStream>,
    /// What has come and was not taken. It has no memory while that is nothing.
    lines: LineDecoder,
    share: BudgetShare,
    unsent: VecDeque<SharedLine>,
    /// How many bytes of the first unsent line are written.
    written: usize,
    is_flushed: bool,
    /// When bytes have come last.
    heard_at: Instant,
}

impl StreamedLines {
    pub(crate) fn new(stream: Box<dyn ByteStream>, budget: Arc<LineBudget>) -> Self {
        Self {
            stream,
            lines: LineDecoder::new(MAX_LINE),
            share: BudgetShare::of(budget),
            unsent: VecDeque::new(),
            written: 0,
            is_flushed: true,
            heard_at: Instant::now(),
        }
    }

    pub(crate) async fn next(&mut self) -> Option<LineArrival> {
        poll_fn(|context| self.poll_next(context)).await
    }

    pub(crate) fn take_arrived(&mut self) -> Option<LineArrival> {
        let arrived = self.lines.next_frame().map(LineArrival::from);
        // While a line that is too long is dropped, nothing is buffered, and yet the decoder must
        // not be replaced.
        if arrived.is_none() && self.lines.buffered() == 0 && !self.lines.is_dropping() {
            // A silent line keeps no buffer: a desk may have thousands of them.
            self.lines = LineDecoder::new(MAX_LINE);
            self.share.resize(0);
        }
        arrived
    }

    pub(crate) fn heard_at(&self) -> Instant {
        self.heard_at
    }

    pub(crate) fn send(&mut self, line: SharedLine) -> bool {
        // The line is only queued, because whoever sends must not wait for the other end. It is
        // written while the next line is awaited.
        let has_room = self.unsent.len() < MOST_UNSENT;
        if has_room {
            self.unsent.push_back(line);
        }
        has_room
    }

    pub(crate) async fn close(mut self, within: Duration) {
        let last = poll_fn(|context| {
            if let Err(error) = ready!(self.poll_unsent(context)) {
                return Poll::Ready(Err(error));
            }
            Pin::new(&mut self.stream).poll_shutdown(context)
        });
        // A line that has ended, or whose other end does not read, is not waited for.
        drop(tokio::time::timeout(within, last).await);
    }

    /// Writes what is to be sent, as far as possible, and returns the next line.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<LineArrival>> {
        // Writing comes first, so that an answer goes out although lines keep coming in.
        if let Poll::Ready(Err(_)) = self.poll_unsent(context) {
            return Poll::Ready(None);
        }
        loop {
            if let Some(arrived) = self.take_arrived() {
                return Poll::Ready(Some(arrived));
            }
            if !matches!(ready!(self.poll_fill(context)), Ok(1..)) {
                return Poll::Ready(None);
            }
            self.heard_at = Instant::now();
            if !self.share.resize(self.lines.buffered().saturating_sub(FREE)) {
                return Poll::Ready(Some(LineArrival::NoRoom));
            }
        }
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // It is on the stack, so that a line that waits has no buffer.
        let mut chunk = [0; CHUNK];
        let mut chunk = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut chunk))?;
        if !chunk.filled().is_empty() {
            self.lines.push(chunk.filled());
        }
        Poll::Ready(Ok(chunk.filled().len()))
    }

    /// Is ready when everything is written.
    fn poll_unsent(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(line) = self.unsent.front() {
            let rest = &line[self.written..];
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_flushed = false;
            self.written += count;
            if self.written == line.len() {
                self.unsent.pop_front();
                self.written = 0;
            }
        }
        if !self.is_flushed {
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.is_flushed = true;
            // A burst leaves no memory behind.
            self.unsent.shrink_to_fit();
        }
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for StreamedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedLines").field("unsent", &self.unsent.len()).finish_non_exhaustive()
    }
}
