//! The way to the desk: one connection, and another when it breaks.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use callgate_link::socket::{self, SocketError};
use callgate_wire::approval::{MAX_LINE, RequestId, Response};
use callgate_wire::frame::{Line, Lines};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{NoAnswer, Settings, Unwanted};

/// How often a desk that has gone away is dialled.
const REDIAL_EVERY: Duration = Duration::from_millis(100);

/// What became of a line.
pub(super) enum Sent {
    Whole,
    /// The connection broke.
    Lost,
}

/// How to reach the desk, and until when.
#[derive(Debug)]
pub(super) struct Dial<'a> {
    pub(super) settings: &'a Settings,
    pub(super) unwanted: &'a Unwanted<'a>,
    pub(super) end: Instant,
}

impl Dial<'_> {
    /// The first connection: without a desk it fails at once. A desk that has not yet accepted
    /// the many who came before is there, and waited for.
    pub(super) fn first(&self) -> Result<UnixStream, NoAnswer> {
        let patience = Instant::now() + self.settings.grace;
        loop {
            match socket::connect(&self.settings.socket) {
                Ok(stream) => return Ok(stream),
                Err(error) => match kind(&error) {
                    Some(io::ErrorKind::WouldBlock) if self.pause(patience)? => {}
                    Some(io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                        return Err(NoAnswer::NoDesk(self.settings.socket.clone()));
                    }
                    _ => return Err(error.into()),
                },
            }
        }
    }

    /// Another connection, after one has broken.
    pub(super) fn again(&self) -> Result<UnixStream, NoAnswer> {
        let patience = Instant::now() + self.settings.grace;
        while self.pause(patience)? {
            match socket::connect(&self.settings.socket) {
                Ok(stream) => return Ok(stream),
                Err(error) if kind(&error).is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(NoAnswer::Gone(self.settings.grace))
    }

    /// Waits until it is time to dial again; `false` when it has taken too long.
    fn pause(&self, patience: Instant) -> Result<bool, NoAnswer> {
        let now = Instant::now();
        if now >= patience.min(self.end) {
            return Ok(false);
        }
        self.unwanted.wait(None, now + REDIAL_EVERY)?;
        Ok(true)
    }

    /// Asks on this connection; no answer when it broke.
    pub(super) fn exchange(
        &self,
        stream: &UnixStream,
        line: &[u8],
        id: &RequestId,
    ) -> Result<Option<Response>, NoAnswer> {
        match self.send(stream, line)? {
            Sent::Whole => self.receive(stream, id),
            Sent::Lost => Ok(None),
        }
    }

    pub(super) fn send(&self, stream: &UnixStream, mut rest: &[u8]) -> Result<Sent, NoAnswer> {
        while !rest.is_empty() {
            match send(stream, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::AGAIN) => self.wait(stream, PollFlags::OUT)?,
                Err(Errno::INTR) => {}
                Err(_) => return Ok(Sent::Lost),
            }
        }
        Ok(Sent::Whole)
    }

    fn receive(&self, stream: &UnixStream, id: &RequestId) -> Result<Option<Response>, NoAnswer> {
        let mut lines = Lines::new(MAX_LINE);
        let mut received = 0;
        loop {
            self.wait(stream, PollFlags::IN)?;
            let count = match recv(stream.as_fd(), lines.space(), RecvFlags::DONTWAIT) {
                Ok((count, _)) => count,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(_) => 0,
            };
            match count {
                0 if received == 0 => return Ok(None),
                0 => return Err(NoAnswer::Cut),
                _ => lines.filled(count),
            }
            received += count;
            match lines.next_frame() {
                Some(Line::Whole(line)) => return read(line, id).map(Some),
                Some(Line::TooLong(_)) => return Err(NoAnswer::TooLong),
                // Two bytes at most end a line.
                None if received > MAX_LINE + 2 => return Err(NoAnswer::TooLong),
                None => {}
            }
        }
    }

    fn wait(&self, stream: &UnixStream, on: PollFlags) -> Result<(), NoAnswer> {
        if self.unwanted.wait(Some((stream, on)), self.end)? {
            return Ok(());
        }
        Err(NoAnswer::TimedOut(self.settings.timeout))
    }
}

fn kind(error: &SocketError) -> Option<io::ErrorKind> {
    match error {
        SocketError::Io { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn read(line: &[u8], id: &RequestId) -> Result<Response, NoAnswer> {
    let response = Response::decode(line)?;
    if response.request_id == *id { Ok(response) } else { Err(NoAnswer::OtherQuestion) }
}
