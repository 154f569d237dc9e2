//! Reads requests from standard input.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::thread;

use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::raw::Json;
use callgate_wire::session::{LONGEST_ID, MAX_LINE, SessionRequest, Unreadable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

/// The most requests of the thread that wait to be handled; then standard input is not read.
const WAITING: usize = 16;

#[derive(Debug)]
pub(crate) enum IncomingLine {
    Request(Box<SessionRequest>),
    Unreadable(Unreadable),
    /// A line over the limit, with its id if it could be found.
    TooLong {
        size: usize,
        id: Option<String>,
    },
    /// Standard input cannot be read. Nothing follows.
    Broken(std::io::Error),
}

/// The requests of a front end, in order.
pub(crate) enum IncomingRequests {
    /// From a pipe or a socket. It is read on the caller's thread, because waking another one takes
    /// longer than reading a request.
    Watched(WatchedInput),
    /// From a thread, which reads what cannot be watched, such as a file.
    Thread(mpsc::Receiver<IncomingLine>),
}

/// An input whose readiness is watched. It may be in blocking mode, which it shares with other
/// processes, so it is only read when it is readable.
pub(crate) struct WatchedInput {
    file: AsyncFd<File>,
    lines: LineDecoder,
    is_over: bool,
}

impl IncomingRequests {
    #[allow(deprecated, reason = "a `File` keeps what the replacement's `unsafe` asks for")]
    pub(crate) fn start(input: impl Read + AsFd + Send + 'static) -> io::Result<Self> {
        // A copy, because the input itself goes to the thread if it cannot be watched.
        let file = File::from(input.as_fd().try_clone_to_owned()?);
        match AsyncFd::with_interest(file, Interest::READABLE) {
            Ok(file) => {
                let lines = LineDecoder::new(MAX_LINE);
                Ok(Self::Watched(WatchedInput { file, lines, is_over: false }))
            }
            Err(_) => Ok(Self::Thread(start_thread(input)?)),
        }
    }

    /// Waits for the next line. Returns `None` after the end of the input. Dropping the future
    /// loses nothing.
    pub(crate) async fn next(&mut self) -> Option<IncomingLine> {
        match self {
            Self::Watched(input) => input.next().await,
            Self::Thread(lines) => lines.recv().await,
        }
    }

    /// Returns the next line if it has already arrived.
    pub(crate) fn next_at_hand(&mut self) -> Option<IncomingLine> {
        match self {
            Self::Watched(input) => input.next_at_hand(),
            Self::Thread(lines) => lines.try_recv().ok(),
        }
    }
}

impl WatchedInput {
    async fn next(&mut self) -> Option<IncomingLine> {
        loop {
            if let Some(line) = self.lines.next_frame() {
                return Some(incoming_line(line));
            }
            if self.is_over {
                return None;
            }
            match self.file.readable().await {
                Ok(mut ready) if !is_readable(ready.get_inner()) => {
                    // Another process that shares the input may have read it.
                    ready.clear_ready();
                    continue;
                }
                Ok(_) => {}
                Err(error) => return Some(self.end_broken(error)),
            }
            if let Some(line) = self.fill() {
                return Some(line);
            }
        }
    }

    fn next_at_hand(&mut self) -> Option<IncomingLine> {
        loop {
            if let Some(line) = self.lines.next_frame() {
                return Some(incoming_line(line));
            }
            if self.is_over || !is_readable(self.file.get_ref()) {
                return None;
            }
            if let Some(line) = self.fill() {
                return Some(line);
            }
        }
    }

    /// Reads once. Returns the last line if the input has ended without a line end.
    fn fill(&mut self) -> Option<IncomingLine> {
        match fill_lines(&mut self.file.get_ref(), &mut self.lines) {
            Ok(0) => {
                self.is_over = true;
                self.lines.finish().map(incoming_line)
            }
            Ok(_) => None,
            Err(error) => Some(self.end_broken(error)),
        }
    }

    fn end_broken(&mut self, error: io::Error) -> IncomingLine {
        self.is_over = true;
        IncomingLine::Broken(error)
    }
}

/// Returns true if reading does not block.
fn is_readable(file: &File) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())) == Ok(1)
}

/// Reads requests on a thread until the input ends; then the channel closes.
fn start_thread(mut input: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<IncomingLine>> {
    let (found, requests) = mpsc::channel(WAITING);
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        // The receiver is dropped when the session ends.
        read_lines(&mut input, &found).ok();
    })?;
    Ok(requests)
}

fn read_lines(
    input: &mut impl Read,
    found: &mpsc::Sender<IncomingLine>,
) -> Result<(), mpsc::error::SendError<IncomingLine>> {
    let mut lines = LineDecoder::new(MAX_LINE);
    loop {
        let count = match fill_lines(input, &mut lines) {
            Ok(count) => count,
            Err(error) => return found.blocking_send(IncomingLine::Broken(error)),
        };
        while let Some(line) = lines.next_frame() {
            found.blocking_send(incoming_line(line))?;
        }
        if count == 0 {
            if let Some(line) = lines.finish() {
                found.blocking_send(incoming_line(line))?;
            }
            return Ok(());
        }
    }
}

fn incoming_line(line: DecodedLine<'_>) -> IncomingLine {
    match line {
        DecodedLine::Whole(line) => match SessionRequest::decode(line) {
            Ok(request) => IncomingLine::Request(Box::new(request)),
            Err(unreadable) => IncomingLine::Unreadable(unreadable),
        },
        DecodedLine::TooLong(line) => {
            let id = line.id.as_deref().and_then(|id| Json::from_text(id).ok()?.string());
            let id = id.map(std::borrow::Cow::into_owned).filter(|id| id.len() <= LONGEST_ID);
            IncomingLine::TooLong { size: line.size, id }
        }
    }
}
