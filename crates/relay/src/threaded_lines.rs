//! Lines over blocking streams: one thread reads, one writes, and neither holds up the other.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use callgate_link::blocking::fill_lines;
use callgate_wire::frame::LineDecoder;
use callgate_wire::relay::MAX_LINE;
use tokio::sync::mpsc;

use crate::carried_line::{LineArrival, MOST_UNSENT, SharedLine};

/// How many lines that have come may wait.
const MOST_UNREAD: usize = 16;

#[derive(Debug)]
pub(crate) struct ThreadedLines {
    incoming: mpsc::Receiver<LineArrival>,
    outgoing: mpsc::Sender<SharedLine>,
    /// Ends when all lines are written.
    written: std::sync::mpsc::Receiver<()>,
    /// Whether bytes have come lately.
    is_active: Arc<AtomicBool>,
}

impl ThreadedLines {
    pub(crate) fn open(
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

    pub(crate) async fn next(&mut self) -> Option<LineArrival> {
        self.incoming.recv().await
    }

    pub(crate) fn take_arrived(&mut self) -> Option<LineArrival> {
        self.incoming.try_recv().ok()
    }

    pub(crate) fn take_activity(&self) -> bool {
        self.is_active.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn close(self, within: Duration) {
        drop(self.outgoing);
        // Nothing is ever received: the other end is dropped, or it takes too long.
        self.written.recv_timeout(within).ok();
    }

    pub(crate) fn send(&self, line: SharedLine) -> bool {
        self.outgoing.try_send(line).is_ok()
    }
}

fn read_lines(mut input: impl Read, arrived: &mpsc::Sender<LineArrival>, is_active: &AtomicBool) {
    let mut lines = LineDecoder::new(MAX_LINE);
    loop {
        while let Some(line) = lines.next_frame() {
            if arrived.blocking_send(LineArrival::from(line)).is_err() {
                return;
            }
        }
        if !matches!(fill_lines(&mut input, &mut lines), Ok(1..)) {
            return;
        }
        is_active.store(true, Ordering::Relaxed);
    }
}

fn write_lines(mut output: impl Write, mut unsent: mpsc::Receiver<SharedLine>) {
    while let Some(line) = unsent.blocking_recv() {
        if output.write_all(&line).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
