//! Asks the desk and waits for its answer: blocking, on one thread, and with a time limit.
//!
//! Every part of callgate asks through this module. Whatever goes wrong ends in [`NoAnswer`], and
//! no answer never means allow.

mod late_words;
mod refusals;
mod unread_alarm;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use callgate_link::random::random_bytes;
use callgate_link::socket::{self, SocketError};
use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, MAX_LINE, Malformed, RequestId};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use late_words::PendingWords;
use refusals::Refusals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::process::{PidfdFlags, getppid, pidfd_open};

pub use late_words::WordsLook;
pub use unread_alarm::UnreadAlarm;

/// How much longer than its own time limit an asker waits for the desk. The desk gives up first, so
/// that its answer says why.
pub const MARGIN: Duration = Duration::from_secs(3);
/// How often a desk that has gone away is dialled.
const REDIAL_EVERY: Duration = Duration::from_millis(100);
/// How long [`tell_desk`] tries.
const TELL_WITHIN: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskerSettings {
    pub socket: PathBuf,
    /// The time limit within which the desk answers.
    pub timeout: Duration,
    /// How long a desk that goes away during a question is dialled again.
    pub grace: Duration,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    #[error("no desk listens at {0}: start one with `callgate up`")]
    NoDesk(PathBuf),
    /// The socket cannot be used.
    #[error(transparent)]
    Socket(#[from] SocketError),
    #[error("the question has {0} bytes, and a line may have {MAX_LINE}: ask in fewer words")]
    TooLarge(usize),
    #[error("the desk gave no answer within {} s: look at `callgate up`", .0.as_secs())]
    TimedOut(Duration),
    #[error(
        "the desk went away and was not back within {} s: start it again with `callgate up`",
        .0.as_secs()
    )]
    Gone(Duration),
    /// The desk closes the connection each time it gets the question.
    #[error("the desk closed the connection without an answer: look at what `callgate up` says")]
    Refused,
    #[error("the desk's answer cannot be used ({0}): is another program at its socket?")]
    Malformed(#[from] Malformed),
    #[error("the desk's answer was cut off: look at `callgate up`")]
    Cut,
    #[error("the desk's answer has more than {MAX_LINE} bytes: is another program at its socket?")]
    TooLong,
    #[error("the desk answered another question: is another program at its socket?")]
    OtherQuestion,
    #[error("cannot wait for the desk: {0}")]
    Wait(io::Error),
    #[error("nobody waits for the answer any more")]
    Unwanted,
}

/// How an asker notices that nobody wants the answer any more.
#[derive(Debug, Clone, Default)]
pub struct AskerCancellation<'a> {
    /// The descriptors that tell it.
    fds: Vec<(BorrowedFd<'a>, PollFlags)>,
    /// What to do if the desk does not read the question.
    alarm: Option<&'a UnreadAlarm<'a>>,
}

impl<'a> AskerCancellation<'a> {
    /// Adds the condition that the other end of `fd` is closed.
    pub fn when_closed(mut self, fd: BorrowedFd<'a>) -> Self {
        // A hang-up is reported although no event is asked for.
        self.fds.push((fd, PollFlags::empty()));
        self
    }

    /// Adds the condition that `fd` is readable, as a pidfd is once its process has ended.
    pub fn when_readable(mut self, fd: BorrowedFd<'a>) -> Self {
        self.fds.push((fd, PollFlags::IN));
        self
    }

    /// Has an alarm ring if it is due while the question is unread.
    pub fn with_alarm(self, alarm: &'a UnreadAlarm<'a>) -> Self {
        Self { alarm: Some(alarm), ..self }
    }

    /// Waits for bytes from the desk and adds them to `lines`. Returns how many came, 0 if the desk
    /// has closed the connection, and `None` if nothing came until `end`.
    pub(crate) fn fill_lines(
        &self,
        stream: &UnixStream,
        lines: &mut LineDecoder,
        end: Instant,
    ) -> Result<Option<usize>, NoAnswer> {
        while self.wait_for_stream(Some((stream, PollFlags::IN)), end)? {
            let count = match recv(stream.as_fd(), lines.space(), RecvFlags::DONTWAIT) {
                Ok((count, _)) => count,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                // A connection that is broken is closed.
                Err(_) => 0,
            };
            lines.mark_filled(count);
            return Ok(Some(count));
        }
        Ok(None)
    }

    /// Waits until `stream` is ready. Returns false if that takes too long.
    fn wait_for_stream(
        &self,
        stream: Option<(&UnixStream, PollFlags)>,
        until: Instant,
    ) -> Result<bool, NoAnswer> {
        let mut fds: Vec<_> = self.fds.iter().map(|(fd, on)| PollFd::new(fd, *on)).collect();
        let watched = fds.len();
        fds.extend(stream.map(|(stream, on)| PollFd::new(stream, on)));
        loop {
            let due =
                self.alarm.and_then(|alarm| alarm.ring_if_due(stream.map(|(stream, _)| stream)));
            let due = due.filter(|at| *at < until);
            let left = due.unwrap_or(until).saturating_duration_since(Instant::now());
            match poll(&mut fds, Some(&timespec_of_duration(left))) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(NoAnswer::Wait(error.into())),
                Ok(0) if due.is_some() => continue,
                Ok(0) => return Ok(false),
                Ok(_) => {}
            }
            // Before the stream: an answer that was read counts as delivered.
            let is_unwanted = fds[..watched].iter().any(|fd| !fd.revents().is_empty());
            return if is_unwanted { Err(NoAnswer::Unwanted) } else { Ok(true) };
        }
    }
}

fn timespec_of_duration(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: i64::from(time.subsec_nanos()) }
}

/// Returns a pidfd of the process that started us. The kernel's death signal would not do: it is
/// sent when the *thread* that started us ends.
pub fn parent_pidfd() -> Option<OwnedFd> {
    getppid().and_then(|parent| pidfd_open(parent, PidfdFlags::empty()).ok())
}

/// Returns a new question id.
///
/// # Panics
///
/// If the kernel has no random bytes, which a sandbox can cause.
pub fn fresh_id() -> RequestId {
    // A hook starts for each call, so this is one system call, without a look for other sources.
    let random = random_bytes().unwrap_or_else(|error| panic!("no random bytes: {error}"));
    RequestId::from_random(random)
}

pub fn ask_desk(
    settings: &AskerSettings,
    request: &ApprovalRequest,
    unwanted: &AskerCancellation<'_>,
) -> Result<ApprovalResponse, NoAnswer> {
    Asker::dial(settings, unwanted)?.ask(request)
}

/// Sends the desk a request that gets no answer. Does not wait until the desk has read it.
pub fn tell_desk(settings: &AskerSettings, request: &ApprovalRequest) -> Result<(), NoAnswer> {
    let (unwanted, end) = (AskerCancellation::default(), Instant::now() + TELL_WITHIN);
    let is_sent = Asker::dial_until(settings, &unwanted, end)?.send(&encode_request(request)?)?;
    if is_sent { Ok(()) } else { Err(NoAnswer::Refused) }
}

fn encode_request(request: &ApprovalRequest) -> Result<Vec<u8>, NoAnswer> {
    let line = request.to_line();
    match line.len() - 1 {
        size if size > MAX_LINE => Err(NoAnswer::TooLarge(size)),
        _ => Ok(line),
    }
}

#[derive(Debug)]
pub struct Asker<'a> {
    settings: &'a AskerSettings,
    unwanted: &'a AskerCancellation<'a>,
    /// When the question is given up.
    end: Instant,
    stream: UnixStream,
}

impl<'a> Asker<'a> {
    /// Connects to the desk. Returns an error at once if there is none, because a hook then decides
    /// by the rules while its agent waits.
    pub fn dial(
        settings: &'a AskerSettings,
        unwanted: &'a AskerCancellation<'a>,
    ) -> Result<Self, NoAnswer> {
        Self::dial_until(settings, unwanted, Instant::now() + settings.timeout + MARGIN)
    }

    /// Connects to the desk. A desk whose queue of connections is full is waited for.
    fn dial_until(
        settings: &'a AskerSettings,
        unwanted: &'a AskerCancellation<'a>,
        end: Instant,
    ) -> Result<Self, NoAnswer> {
        let give_up = end.min(Instant::now() + settings.grace);
        loop {
            match socket::connect_to_path(&settings.socket) {
                Ok(stream) => return Ok(Self { settings, unwanted, end, stream }),
                Err(error) => match io_error_kind(&error) {
                    Some(io::ErrorKind::WouldBlock) if wait_to_redial(unwanted, give_up)? => {}
                    Some(io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                        return Err(NoAnswer::NoDesk(settings.socket.clone()));
                    }
                    _ => return Err(error.into()),
                },
            }
        }
    }

    /// Connects again after the connection has broken.
    fn redial(&mut self) -> Result<(), NoAnswer> {
        let give_up = self.end.min(Instant::now() + self.settings.grace);
        while wait_to_redial(self.unwanted, give_up)? {
            match socket::connect_to_path(&self.settings.socket) {
                Ok(stream) => {
                    self.stream = stream;
                    return Ok(());
                }
                // The system may refuse for many reasons while the desk starts again. Only a socket
                // that is not the desk's own ends this.
                Err(error) if io_error_kind(&error).is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(NoAnswer::Gone(self.settings.grace))
    }

    /// Asks, and waits for the answer.
    ///
    /// If the desk goes away meanwhile, it is dialled again and asked the same question under the
    /// same id. The connection is closed as soon as the answer is read: that tells the desk that
    /// the answer has arrived.
    pub fn ask(self, request: &ApprovalRequest) -> Result<ApprovalResponse, NoAnswer> {
        self.ask_with_words(request, &mut || WordsLook::Never)
    }

    /// Like [`ask`](Self::ask), and calls `look` for the agent's last words while it waits. They
    /// are sent as soon as they are found, and again to a desk that is dialled again.
    pub fn ask_with_words(
        mut self,
        request: &ApprovalRequest,
        look: &mut dyn FnMut() -> WordsLook,
    ) -> Result<ApprovalResponse, NoAnswer> {
        let line = encode_request(request)?;
        let mut refusals = Refusals::default();
        let mut words = PendingWords::new(&request.request_id, look);
        loop {
            refusals.note_asked(&self.stream, &self.settings.socket);
            words.note_connection();
            let answer = if self.send(&line)? { self.wait_for_answer(&mut words)? } else { None };
            if let Some(answer) = answer {
                return Ok(answer);
            }
            if refusals.note_closed() {
                return Err(NoAnswer::Refused);
            }
            self.redial()?;
        }
    }

    /// Sends a line. Returns false if the connection broke.
    fn send(&self, mut rest: &[u8]) -> Result<bool, NoAnswer> {
        while !rest.is_empty() {
            // Without the signal: a desk that has gone is dialled again, and must not end this
            // process.
            match send(&self.stream, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::AGAIN) => {
                    if !self
                        .unwanted
                        .wait_for_stream(Some((&self.stream, PollFlags::OUT)), self.end)?
                    {
                        return Err(NoAnswer::TimedOut(self.settings.timeout));
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Waits for the answer. Returns `None` if the connection broke before anything of it came.
    fn wait_for_answer(
        &self,
        words: &mut PendingWords<'_>,
    ) -> Result<Option<ApprovalResponse>, NoAnswer> {
        let mut lines = LineDecoder::new(MAX_LINE);
        let mut received = 0;
        loop {
            if let Some(line) = words.take_line() {
                // If the connection broke, the answer may have come before.
                self.send(&line)?;
            }
            let until = words.look_at.map_or(self.end, |at| at.min(self.end));
            match self.unwanted.fill_lines(&self.stream, &mut lines, until)? {
                None if until < self.end => continue,
                None => return Err(NoAnswer::TimedOut(self.settings.timeout)),
                // Nothing of an answer has come, so the question can be asked again.
                Some(0) if received == 0 => return Ok(None),
                Some(0) => return Err(NoAnswer::Cut),
                Some(count) => received += count,
            }
            match lines.next_frame() {
                Some(DecodedLine::Whole(line)) => return decode_answer(line, words.id).map(Some),
                Some(DecodedLine::TooLong(_)) => return Err(NoAnswer::TooLong),
                // A line ends with at most two bytes.
                None if received > MAX_LINE + 2 => return Err(NoAnswer::TooLong),
                None => {}
            }
        }
    }
}

/// Waits until it is time to dial again. Returns false if that has been tried for long enough.
fn wait_to_redial(unwanted: &AskerCancellation<'_>, give_up: Instant) -> Result<bool, NoAnswer> {
    let now = Instant::now();
    if now >= give_up {
        return Ok(false);
    }
    unwanted.wait_for_stream(None, now + REDIAL_EVERY)?;
    Ok(true)
}

fn io_error_kind(error: &SocketError) -> Option<io::ErrorKind> {
    match error {
        SocketError::Io { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn decode_answer(line: &[u8], id: &RequestId) -> Result<ApprovalResponse, NoAnswer> {
    let response = ApprovalResponse::decode(line)?;
    if response.request_id == *id { Ok(response) } else { Err(NoAnswer::OtherQuestion) }
}
