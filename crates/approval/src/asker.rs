//! Asks the desk and waits for its answer: blocking, without a thread, and never for ever.
//!
//! The one asker of the product. Whatever goes wrong ends in [`NoAnswer`], and no answer never
//! means allow.

mod dial;
mod refusals;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use callgate_link::socket::SocketError;
use callgate_wire::approval::{MAX_LINE, Malformed, Request, RequestId, Response};
use dial::{Dial, Sent};
use refusals::Refusals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getppid, pidfd_open};

/// The desk answers within its own time limit; this much later it is not waited for any more.
pub const MARGIN: Duration = Duration::from_secs(3);
/// How long a desk that has gone away is dialled again, unless set otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(15);
/// How long [`tell`] tries.
const TELL_WITHIN: Duration = Duration::from_secs(1);

/// Where the desk is and how long to wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The desk's socket.
    pub socket: PathBuf,
    /// Within which time the desk answers.
    pub timeout: Duration,
    /// How long a desk that goes away during the question is dialled again.
    pub grace: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// There is nobody to ask.
    #[error("no desk listens at {0}: start one with `callgate up`")]
    NoDesk(PathBuf),
    /// The socket cannot be used.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The question does not fit into a line.
    #[error("the question has {0} bytes, and a line may have {MAX_LINE}: ask in fewer words")]
    TooLarge(usize),
    /// The desk is silent.
    #[error("the desk gave no answer within {} s: look at `callgate up`", .0.as_secs())]
    TimedOut(Duration),
    /// The desk went away.
    #[error(
        "the desk went away and was not back within {} s: start it again with `callgate up`",
        .0.as_secs()
    )]
    Gone(Duration),
    /// The desk does not want the question.
    #[error("the desk closed the connection without an answer: look at what `callgate up` says")]
    Refused,
    /// The answer is not one.
    #[error("the desk's answer cannot be used ({0}): is another program at its socket?")]
    Malformed(#[from] Malformed),
    /// The answer ended before its line did.
    #[error("the desk's answer was cut off: look at `callgate up`")]
    Cut,
    /// The answer is over the limit.
    #[error("the desk's answer has more than {MAX_LINE} bytes: is another program at its socket?")]
    TooLong,
    /// The answer belongs to another question.
    #[error("the desk answered another question: is another program at its socket?")]
    OtherQuestion,
    /// The system did not let us wait.
    #[error("cannot wait for the desk: {0}")]
    Wait(io::Error),
    /// Whoever wanted the answer has gone.
    #[error("nobody waits for the answer any more")]
    Unwanted,
}

/// By which descriptors an asker learns that nobody wants the answer any more.
#[derive(Debug, Clone, Default)]
pub struct Unwanted<'a>(Vec<(BorrowedFd<'a>, PollFlags)>);

impl<'a> Unwanted<'a> {
    /// Also when the other end of `fd` is closed.
    #[must_use]
    pub fn when_closed(mut self, fd: BorrowedFd<'a>) -> Self {
        self.0.push((fd, PollFlags::empty()));
        self
    }

    /// Also when `fd` can be read, as a pidfd can once its process has ended.
    #[must_use]
    pub fn when_readable(mut self, fd: BorrowedFd<'a>) -> Self {
        self.0.push((fd, PollFlags::IN));
        self
    }

    /// Waits until `stream` is ready; `false` when that takes too long.
    fn wait(
        &self,
        stream: Option<(&UnixStream, PollFlags)>,
        until: Instant,
    ) -> Result<bool, NoAnswer> {
        let mut fds: Vec<_> = self.0.iter().map(|(fd, on)| PollFd::new(fd, *on)).collect();
        let watched = fds.len();
        fds.extend(stream.map(|(stream, on)| PollFd::new(stream, on)));
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match poll(&mut fds, Some(&timespec(left))) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(NoAnswer::Wait(error.into())),
                Ok(0) => return Ok(false),
                Ok(_) => {}
            }
            let is_unwanted = fds[..watched].iter().any(|fd| !fd.revents().is_empty());
            return if is_unwanted { Err(NoAnswer::Unwanted) } else { Ok(true) };
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: i64::from(time.subsec_nanos()) }
}

/// The process that started us. The kernel's death signal would not do: it is sent when the
/// *thread* ends that started us.
#[must_use]
pub fn parent() -> Option<OwnedFd> {
    getppid().and_then(|parent| pidfd_open(parent, PidfdFlags::empty()).ok())
}

/// A name for a question that nobody has asked before.
#[must_use]
pub fn fresh_id() -> RequestId {
    loop {
        // It is what it should be at the first attempt.
        if let Ok(id) = RequestId::parse(&uuid::Uuid::new_v4().to_string()) {
            return id;
        }
    }
}

/// Asks, and waits for the answer.
pub fn ask(
    settings: &Settings,
    request: &Request,
    unwanted: &Unwanted<'_>,
) -> Result<Response, NoAnswer> {
    Asker::dial(settings, unwanted)?.ask(request)
}

/// Tells the desk something that gets no answer, and does not wait for it.
pub fn tell(settings: &Settings, request: &Request) -> Result<(), NoAnswer> {
    let (unwanted, end) = (Unwanted::default(), Instant::now() + TELL_WITHIN);
    let dialled = Dial { settings, unwanted: &unwanted, end };
    let stream = dialled.first()?;
    match dialled.send(&stream, &line(request)?)? {
        Sent::Whole => Ok(()),
        Sent::Lost => Err(NoAnswer::Refused),
    }
}

fn line(request: &Request) -> Result<Vec<u8>, NoAnswer> {
    let line = request.to_line();
    match line.len() - 1 {
        size if size > MAX_LINE => Err(NoAnswer::TooLarge(size)),
        _ => Ok(line),
    }
}

/// An asker that has reached the desk.
#[derive(Debug)]
pub struct Asker<'a> {
    dial: Dial<'a>,
    stream: UnixStream,
}

impl<'a> Asker<'a> {
    /// Reaches the desk, or says at once that there is none.
    pub fn dial(settings: &'a Settings, unwanted: &'a Unwanted<'a>) -> Result<Self, NoAnswer> {
        let end = Instant::now() + settings.timeout + MARGIN;
        let dial = Dial { settings, unwanted, end };
        let stream = dial.first()?;
        Ok(Self { dial, stream })
    }

    /// Asks, and waits for the answer.
    ///
    /// When the desk goes away meanwhile it is dialled again and asked the same question under
    /// the same id. The connection is closed as soon as the answer is read: by that the desk
    /// knows that it has arrived.
    pub fn ask(self, request: &Request) -> Result<Response, NoAnswer> {
        let Self { dial, mut stream } = self;
        let line = line(request)?;
        let mut refusals = Refusals::default();
        loop {
            refusals.ask(&stream, &dial.settings.socket);
            if let Some(answer) = dial.exchange(&stream, &line, &request.request_id)? {
                return Ok(answer);
            }
            drop(stream);
            if refusals.closed() {
                return Err(NoAnswer::Refused);
            }
            stream = dial.again()?;
        }
    }
}
