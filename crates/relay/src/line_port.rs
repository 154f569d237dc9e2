//! Lines over a pair of byte streams.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::carried_line::{LineArrival, SharedLine};
use crate::line_budget::LineBudget;
use crate::streamed_lines::StreamedLines;
use crate::threaded_lines::ThreadedLines;

/// How many lines are handled together.
const MOST_TOGETHER: usize = 64;
/// After how many bytes no more lines are handled together.
const MOST_BYTES_TOGETHER: usize = 1024 * 1024;

#[derive(Debug)]
pub struct LinePort(LineCarrier);

#[derive(Debug)]
enum LineCarrier {
    Threads(ThreadedLines),
    Stream(Box<StreamedLines>),
}

impl LinePort {
    /// Carries lines over these streams: one thread reads, one writes, and neither holds up the
    /// other. The threads end with the streams.
    pub fn open(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        ThreadedLines::open(input, output).map(|lines| Self(LineCarrier::Threads(lines)))
    }

    /// Carries lines over an asynchronous stream, without a thread or a task. It reads and writes
    /// while [`next`](Self::next) is awaited. What arrives counts against the budget.
    pub fn over_stream(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        budget: Arc<LineBudget>,
    ) -> Self {
        Self(LineCarrier::Stream(Box::new(StreamedLines::new(Box::new(stream), budget))))
    }

    /// Waits for the next line; `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<LineArrival> {
        match &mut self.0 {
            LineCarrier::Threads(lines) => lines.next().await,
            LineCarrier::Stream(lines) => lines.next().await,
        }
    }

    /// Waits for the next line, and returns it with the lines that have come already; none at the
    /// end. It returns as many as are handled together, so that a side that never pauses holds up
    /// nothing else. Dropping the future loses nothing.
    pub async fn next_lines(&mut self) -> Vec<LineArrival> {
        let mut lines: Vec<LineArrival> = self.next().await.into_iter().collect();
        let mut size: usize = lines.iter().map(LineArrival::size).sum();
        while !lines.is_empty() && lines.len() < MOST_TOGETHER && size < MOST_BYTES_TOGETHER {
            let Some(line) = self.take_arrived() else { break };
            size += line.size();
            lines.push(line);
        }
        lines
    }

    /// Returns a line that has come already.
    fn take_arrived(&mut self) -> Option<LineArrival> {
        match &mut self.0 {
            LineCarrier::Threads(lines) => lines.take_arrived(),
            LineCarrier::Stream(lines) => lines.take_arrived(),
        }
    }

    /// Returns when bytes have come last, also of a line that is not whole yet.
    pub fn heard_at(&self) -> Instant {
        match &self.0 {
            LineCarrier::Threads(lines) => lines.heard_at(),
            LineCarrier::Stream(lines) => lines.heard_at(),
        }
    }

    /// Sends a line without waiting. Returns false if the other side reads too slowly, or is gone.
    pub fn send(&mut self, line: impl Into<SharedLine>) -> bool {
        match &mut self.0 {
            LineCarrier::Threads(lines) => lines.send(line.into()),
            LineCarrier::Stream(lines) => lines.send(line.into()),
        }
    }

    /// Ends the line, and waits for what was sent to be written, but not longer than this.
    pub async fn close(self, within: Duration) {
        match self.0 {
            LineCarrier::Threads(lines) => lines.close(within),
            LineCarrier::Stream(lines) => lines.close(within).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[tokio::test]
    async fn a_side_that_never_pauses_holds_up_nothing() {
        let beats = b"{}\n".repeat(100_000);
        let mut port = LinePort::open(io::Cursor::new(beats), io::sink()).unwrap();
        let mut all = 0;
        loop {
            let lines = port.next_lines().await.len();
            assert!(lines <= MOST_TOGETHER, "{lines} at once");
            all += lines;
            if lines == 0 {
                break;
            }
        }
        assert_eq!(all, 100_000, "none is lost");
        let long = format!("{}\n", "x".repeat(MOST_BYTES_TOGETHER)).repeat(2);
        let mut port = LinePort::open(io::Cursor::new(long), io::sink()).unwrap();
        assert_eq!((port.next_lines().await.len(), port.next_lines().await.len()), (1, 1));
    }
}
