//! Lines over blocking streams: one thread reads, one writes, and neither holds up the other.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::blocking::fill_lines;
use callgate_link::sync::lock;
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
    /// When bytes have come last.
    heard_at: Arc<Mutex<Instant>>,
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
        let heard_at = Arc::new(Mutex::new(Instant::now()));
        let heard = Arc::clone(&heard_at);
        spawn("line in", Box::new(move || read_lines(input, &arrived, &heard)))?;
        let (writing, written) = std::sync::mpsc::channel();
        spawn(
            "line out",
            Box::new(move || {
                write_lines(output, unsent);
                drop(writing);
            }),
        )?;
        Ok(Self { incoming, outgoing, written, heard_at })
    }

    pub(crate) async fn next(&mut self) -> Option<LineArrival> {
        self.incoming.recv().await
    }

    pub(crate) fn take_arrived(&mut self) -> Option<LineArrival> {
        self.incoming.try_recv().ok()
    }

    pub(crate) fn heard_at(&self) -> Instant {
        *lock(&self.heard_at)
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

fn read_lines(
    mut input: impl Read,
    arrived: &mpsc::Sender<LineArrival>,
    heard_at: &Mutex<Instant>,
) {
    let mut lines = LineDecoder::new(MAX_LINE);
    loop {
        while let Some(line) = lines.next_frame() {
            // A full queue ends the reading for a while, so that the other side has to wait instead
            // of filling the memory here.
            if arrived.blocking_send(LineArrival::from(line)).is_err() {
                return;
            }
        }
        if !matches!(fill_lines(&mut input, &mut lines), Ok(1..)) {
            return;
        }
        *lock(heard_at) = Instant::now();
    }
}

fn write_lines(mut output: impl Write, mut unsent: mpsc::Receiver<SharedLine>) {
    while let Some(line) = unsent.blocking_recv() {
        if output.write_all(&line).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
