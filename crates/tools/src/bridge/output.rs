//! The bridge's standard output, shared by the threads that write to it.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use callgate_link::sync::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How many bytes a pipe that polls as writable takes without blocking.
/// It is `PIPE_BUF` of Linux.
const SURE_TO_FIT: usize = 4096;
/// How many answers may wait for a client that does not read.
const LATE_ANSWERS: usize = 64;
/// How many bytes those may have together; a larger answer waits alone.
const LATE_BYTES: usize = 16 * 1024 * 1024;
/// How often a full queue is checked for room.
const A_MOMENT: Duration = Duration::from_millis(5);
/// How long the bridge waits at its end for a client that does not read. SDKs send SIGTERM two
/// seconds after they have closed the input.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Writes whole lines. Threads that answer calls wait for the client to read. The thread that reads
/// requests must not wait, or it would miss a cancellation or the end, so it leaves a line that may
/// not fit to a thread of its own.
#[derive(Debug)]
pub(super) struct BridgeOutput {
    sink: Mutex<File>,
    /// The queue of the lines that wait; absent until one has to.
    late: Mutex<Option<SyncSender<LateLine>>>,
    /// The size of the lines that wait.
    late_bytes: AtomicUsize,
    /// Where the client's requests come from; shows whether the client is still there.
    input: OwnedFd,
}

enum LateLine {
    Line(Vec<u8>),
    /// Everything before this has been written.
    Flush(Sender<()>),
}

impl LateLine {
    fn size(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Flush(_) => 0,
        }
    }
}

impl BridgeOutput {
    pub(super) fn new(sink: OwnedFd, input: OwnedFd) -> Arc<Self> {
        let sink = Mutex::new(File::from(sink));
        Arc::new(Self { sink, late: Mutex::new(None), late_bytes: AtomicUsize::new(0), input })
    }

    /// Writes one line made of `parts`, however long the client takes to read it.
    pub(super) fn write_line(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut sink = lock(&self.sink);
        write_all(&mut sink, parts)
    }

    /// Writes one line if that does not block; returns false if it was not written.
    pub(super) fn write_now(&self, line: &[u8]) -> io::Result<bool> {
        // Whoever has the lock may be waiting for the client.
        let Ok(mut sink) = self.sink.try_lock() else { return Ok(false) };
        // The pipe is asked and not set to non-blocking, because other processes may share it.
        if line.len() > SURE_TO_FIT || !is_writable(&sink)? {
            return Ok(false);
        }
        write_all(&mut sink, &mut [IoSlice::new(line)]).map(|()| true)
    }

    /// Writes one line now, or later if the client does not read. This waits only for a client with
    /// a full queue, and not for one that is ending.
    pub(super) fn write_soon(self: &Arc<Self>, line: Vec<u8>) -> io::Result<()> {
        // Held to the end: two threads that both find no queue would each start a writer, and their
        // lines could overtake each other.
        let mut late = lock(&self.late);
        // Once a line has had to wait, all further ones go through the queue, so that none
        // overtakes it.
        if late.is_none() && self.write_now(&line)? {
            return Ok(());
        }
        let sender = match &*late {
            Some(sender) => sender,
            None => match self.start_late_writer() {
                Ok(sender) => late.insert(sender),
                // Without a thread, waiting is all that is left.
                Err(_) => return self.write_line(&mut [IoSlice::new(&line)]),
            },
        };
        self.hand_over(sender, LateLine::Line(line))
    }

    /// Waits until a client that still reads has received the late lines.
    pub(super) fn wait_for_late_lines(&self) {
        let late = lock(&self.late).take();
        let Some(late) = late else { return };
        let (done, flushed) = channel();
        if self.hand_over(&late, LateLine::Flush(done)).is_ok() {
            flushed.recv_timeout(LAST_WORDS).ok();
        }
    }

    /// Waits for room in the queue of late lines; once the client has closed its end, not for long.
    fn hand_over(&self, sender: &SyncSender<LateLine>, mut late: LateLine) -> io::Result<()> {
        let mut patience = LAST_WORDS;
        loop {
            late = match self.try_hand_over(sender, late) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(late)) if !patience.is_zero() => late,
                Err(_) => return Err(io::ErrorKind::BrokenPipe.into()),
            };
            thread::sleep(A_MOMENT);
            if has_hung_up(&self.input)? {
                patience = patience.saturating_sub(A_MOMENT);
            }
        }
    }

    /// Adds a line to the queue if there is room, by number and by size.
    fn try_hand_over(
        &self,
        sender: &SyncSender<LateLine>,
        late: LateLine,
    ) -> Result<(), TrySendError<LateLine>> {
        let size = late.size();
        // Counted before it is sent, because the writer may take it at once, and what it subtracts
        // must have been added.
        let before = self.late_bytes.fetch_add(size, Ordering::Relaxed);
        let fits = before == 0 || before + size <= LATE_BYTES;
        let handed = if fits { sender.try_send(late) } else { Err(TrySendError::Full(late)) };
        if handed.is_err() {
            self.late_bytes.fetch_sub(size, Ordering::Relaxed);
        }
        handed
    }

    fn start_late_writer(self: &Arc<Self>) -> io::Result<SyncSender<LateLine>> {
        let (sender, lines) = sync_channel(LATE_ANSWERS);
        let output = Arc::clone(self);
        thread::Builder::new().spawn(move || output.write_late(&lines))?;
        Ok(sender)
    }

    /// Writes late lines until a write fails: then nobody reads any more, and the next thread to
    /// write finds that out too.
    fn write_late(&self, lines: &Receiver<LateLine>) {
        for late in lines {
            let size = late.size();
            match late {
                LateLine::Line(line) if self.write_line(&mut [IoSlice::new(&line)]).is_err() => {
                    return;
                }
                LateLine::Line(_) => {}
                LateLine::Flush(done) => drop(done.send(())),
            }
            // Only now, because a line that is being written takes memory, too.
            self.late_bytes.fetch_sub(size, Ordering::Relaxed);
        }
    }
}

fn write_all(sink: &mut File, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    while !parts.is_empty() {
        match sink.write_vectored(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut parts, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Some clients hand over a pipe in non-blocking mode.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(&*sink, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns true if the client has closed its end, even if it left something unread there.
fn has_hung_up(input: &OwnedFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(input, PollFlags::RDHUP)];
    Ok(poll(&mut fds, Some(&Timespec::default()))? == 1)
}

fn is_writable(sink: &File) -> io::Result<bool> {
    let mut fds = [PollFd::new(sink, PollFlags::OUT)];
    Ok(poll(&mut fds, Some(&Timespec::default()))? == 1)
}
