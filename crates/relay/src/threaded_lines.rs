//! Lines over blocking streams: one thread reads, one writes, and neither holds up the other.

#[cfg(test)]
mod tests;

use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::blocking::fill_lines;
use callgate_link::sync::lock;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::relay::MAX_LINE;
use tokio::sync::mpsc;

use crate::carried_line::{LineArrival, MOST_UNSENT, SharedLine};

/// How many lines that have come may wait.
const MOST_UNREAD: usize = 64;
/// How many bytes of lines may wait, unless it is one line.
const MOST_UNREAD_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct ThreadedLines {
    incoming: mpsc::Receiver<UnreadLine>,
    outgoing: mpsc::Sender<SharedLine>,
    /// Ends when all lines are written.
    written: std::sync::mpsc::Receiver<()>,
    /// When bytes have come last.
    heard_at: Arc<Mutex<Instant>>,
}

/// A line that has come and waits.
#[derive(Debug)]
struct UnreadLine {
    line: LineArrival,
    _share: UnreadShare,
}

/// How many bytes of lines wait.
#[derive(Debug, Default)]
struct UnreadBytes {
    count: Mutex<usize>,
    given_back: Condvar,
}

/// What one line takes of the bytes that may wait. It is given back when this is dropped.
#[derive(Debug)]
struct UnreadShare {
    all: Arc<UnreadBytes>,
    size: usize,
}

impl UnreadShare {
    /// Waits until a line of this size may wait.
    fn take_when_free(all: &Arc<UnreadBytes>, size: usize) -> Self {
        // One line may always wait, however long it is, or a long one would never come.
        let is_full = |count: &mut usize| *count > 0 && *count + size > MOST_UNREAD_BYTES;
        let count = all.given_back.wait_while(lock(&all.count), is_full);
        *count.unwrap_or_else(PoisonError::into_inner) += size;
        Self { all: Arc::clone(all), size }
    }
}

impl Drop for UnreadShare {
    fn drop(&mut self) {
        *lock(&self.all.count) -= self.size;
        self.all.given_back.notify_one();
    }
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
                // The end of this channel is what `close` waits for.
                drop(writing);
            }),
        )?;
        Ok(Self { incoming, outgoing, written, heard_at })
    }

    pub(crate) async fn next(&mut self) -> Option<LineArrival> {
        self.incoming.recv().await.map(|unread| unread.line)
    }

    pub(crate) fn take_arrived(&mut self) -> Option<LineArrival> {
        self.incoming.try_recv().ok().map(|unread| unread.line)
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

fn read_lines(mut input: impl Read, arrived: &mpsc::Sender<UnreadLine>, heard_at: &Mutex<Instant>) {
    let mut lines = LineDecoder::new(MAX_LINE);
    let unread = Arc::new(UnreadBytes::default());
    loop {
        while let Some(line) = lines.next_frame() {
            let size = match &line {
                DecodedLine::Whole(line) => line.len(),
                DecodedLine::TooLong(_) => 0,
            };
            // This comes before the line is copied out of the decoder, so that what waits never
            // exceeds the limit.
            let share = UnreadShare::take_when_free(&unread, size);
            let line = UnreadLine { line: line.into(), _share: share };
            if arrived.blocking_send(line).is_err() {
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
