//! Lines over a pair of byte streams: one thread reads, one writes, and neither holds up the other.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::relay::MAX_LINE;
use tokio::sync::mpsc;

/// How many lines that have come may wait.
const MOST_UNREAD: usize = 16;
/// How many lines may wait to be sent.
const MOST_UNSENT: usize = 4096;

/// What has come on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineArrival {
    Line(Vec<u8>),
    /// A line that was dropped because it is too long.
    TooLong {
        /// How many bytes it has.
        size: usize,
    },
}

/// Both directions of a line.
#[derive(Debug)]
pub struct LinePort {
    incoming: mpsc::Receiver<LineArrival>,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// Ends when all lines are written.
    written: std::sync::mpsc::Receiver<()>,
    /// Whether bytes have come lately.
    is_active: Arc<AtomicBool>,
}

impl LinePort {
    /// Carries lines over these streams. Its threads end with the streams.
    pub fn open(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let (arrived, incoming) = mpsc::channel(MOST_UNREAD);
        let (outgoing, unsent) = mpsc::channel(MOST_UNSENT);
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
        };
        let is_active = Arc::new(AtomicBool::new(false));
        let active = Arc::clone(&is_active);
        spawn("line in", Box::new(move || read_lines(input, &arrived, &active)))?;
        let (writing, written) = std::sync::mpsc::channel();
        spawn(
            "line out",
            Box::new(move || {
                write_lines(output, unsent);
                drop(writing);
            }),
        )?;
        Ok(Self { incoming, outgoing, written, is_active })
    }

    /// Waits for the next line; `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<LineArrival> {
        self.incoming.recv().await
    }

    /// Returns a line that has come already.
    pub fn take_arrived(&mut self) -> Option<LineArrival> {
        self.incoming.try_recv().ok()
    }

    /// Returns true if bytes have come since the last call, also of a line that is not whole yet.
    pub fn take_activity(&self) -> bool {
        self.is_active.swap(false, Ordering::Relaxed)
    }

    /// Ends the line, and waits for what was sent to be written, but not longer than this.
    pub fn close(self, within: Duration) {
        drop(self.outgoing);
        // Nothing is ever received: the other end is dropped, or it takes too long.
        self.written.recv_timeout(within).ok();
    }

    /// Sends a line without waiting. Returns false if the other side reads too slowly, or is gone.
    pub fn send(&self, line: Vec<u8>) -> bool {
        self.outgoing.try_send(line).is_ok()
    }
}

fn read_lines(mut input: impl Read, arrived: &mpsc::Sender<LineArrival>, is_active: &AtomicBool) {
    let mut lines = LineDecoder::new(MAX_LINE);
    loop {
        while let Some(line) = lines.next_frame() {
            let arrival = match line {
                DecodedLine::Whole(line) => LineArrival::Line(line.to_vec()),
                DecodedLine::TooLong(line) => LineArrival::TooLong { size: line.size },
            };
            if arrived.blocking_send(arrival).is_err() {
                return;
            }
        }
        if !matches!(fill_lines(&mut input, &mut lines), Ok(1..)) {
            return;
        }
        is_active.store(true, Ordering::Relaxed);
    }
}

fn write_lines(mut output: impl Write, mut unsent: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = unsent.blocking_recv() {
        if output.write_all(&line).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
