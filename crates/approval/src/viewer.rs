//! A viewer's side of the desk socket: blocking, for commands that look or press and end.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use callgate_link::socket::{self, SocketError};
use callgate_wire::desk::{
    Answer, Command, Link, MAX_MESSAGE, Message, Request, Secret, Status, Unreadable,
    UnreadableReason,
};
use callgate_wire::frame::{DecodedLine, LineDecoder};

use crate::asker::Unwanted;

/// How long an answer may take that needs nobody to think.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How many messages that nobody has taken yet are kept while an answer is waited for.
const MOST_KEPT: usize = 1024;

/// Why the desk is of no help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewerError {
    /// There is no desk.
    #[error("no desk listens at {0}: start one with `callgate up`")]
    NoDesk(PathBuf),
    /// The socket cannot be used.
    #[error(transparent)]
    Socket(SocketError),
    /// The connection failed.
    #[error("cannot talk to the desk: {0}")]
    Io(#[from] io::Error),
    /// The desk has ended, or shows us out.
    #[error("the desk closed the connection: look at `callgate up`")]
    Closed,
    /// The desk is silent.
    #[error("the desk gave no answer within {} s: look at `callgate up`", .0.as_secs())]
    TimedOut(Duration),
    /// The desk says something that is none of its messages.
    #[error("the desk's message cannot be used ({0}): is another program at its socket?")]
    Unreadable(#[from] Unreadable),
    /// The desk's message is over the limit.
    #[error("the desk's message has more than {MAX_MESSAGE} bytes: is another program there?")]
    TooLong,
    /// The desk answers something else than it was asked.
    #[error("the desk's answer does not fit the question: is it of another version?")]
    Unexpected,
    /// More has come than can be kept while an answer is waited for.
    #[error("the desk sent {MOST_KEPT} messages before its answer")]
    TooMany,
    /// The desk cannot serve the request.
    #[error("the desk cannot do that: {0}")]
    Refused(String),
}

/// A connection to the desk.
#[derive(Debug)]
pub struct Viewer {
    stream: UnixStream,
    lines: LineDecoder,
    next_id: u64,
    /// What came while an answer was waited for.
    kept: VecDeque<Message>,
}

impl Viewer {
    /// Connects to the desk, or says at once that there is none.
    pub fn connect(path: &Path) -> Result<Self, ViewerError> {
        let stream = socket::connect(path).map_err(|error| match &error {
            SocketError::Io { source, .. } if is_absent(source) => {
                ViewerError::NoDesk(path.to_owned())
            }
            _ => ViewerError::Socket(error),
        })?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, lines: LineDecoder::new(MAX_MESSAGE), next_id: 1, kept: VecDeque::new() })
    }

    /// Sends a request and gives its id; the answer comes by [`next`](Self::next).
    pub fn send(&mut self, command: Command) -> Result<String, ViewerError> {
        let id = self.next_id.to_string();
        self.next_id += 1;
        let line = Request { id: id.clone(), command }.to_line();
        self.stream.write_all(&line)?;
        Ok(id)
    }

    /// Sends a request and waits for its answer. What else comes meanwhile is kept.
    pub fn ask(&mut self, command: Command, within: Duration) -> Result<Answer, ViewerError> {
        self.ask_people(command, within, &mut |_| {})
    }

    /// Like [`ask`](Self::ask), for what somebody who is linked may have to allow first: then
    /// `waiting` is told so, and the answer may take as long as they do.
    pub fn ask_people(
        &mut self,
        command: Command,
        mut within: Duration,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<Answer, ViewerError> {
        let id = self.send(command)?;
        let mut end = Instant::now() + within;
        loop {
            let message = self.receive(end)?.ok_or(ViewerError::TimedOut(within))?;
            match message {
                Message::Waiting { id: of, text, seconds } if of == id => {
                    waiting(&text);
                    // The desk gives up by itself, and says so.
                    within = Duration::from_secs(seconds) + PATIENCE;
                    end = Instant::now() + within;
                }
                Message::Answer { id: of, answer } if of == id => return Ok(answer),
                Message::Error { id: of, text } if of.as_ref().is_none_or(|of| *of == id) => {
                    return Err(ViewerError::Refused(text));
                }
                _ if self.kept.len() >= MOST_KEPT => return Err(ViewerError::TooMany),
                other => self.kept.push_back(other),
            }
        }
    }

    /// The next message; nothing when none has come until then.
    pub fn next(&mut self, end: Instant) -> Result<Option<Message>, ViewerError> {
        match self.kept.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.receive(end),
        }
    }

    fn receive(&mut self, end: Instant) -> Result<Option<Message>, ViewerError> {
        loop {
            match self.lines.next_frame() {
                Some(DecodedLine::Whole(line)) => match Message::decode(line) {
                    // A later desk may have more to say.
                    Err(Unreadable { reason: UnreadableReason::UnknownKind(_), .. }) => continue,
                    message => return Ok(Some(message?)),
                },
                Some(DecodedLine::TooLong(_)) => return Err(ViewerError::TooLong),
                None => {}
            }
            if self.lines.is_dropping() {
                return Err(ViewerError::TooLong);
            }
            match Unwanted::default().fill(&self.stream, &mut self.lines, end) {
                Ok(None) => return Ok(None),
                Ok(Some(0)) => return Err(ViewerError::Closed),
                Ok(Some(_)) => {}
                Err(error) => return Err(ViewerError::Io(io::Error::other(error))),
            }
        }
    }

    /// How the desk is.
    pub fn status(&mut self) -> Result<Status, ViewerError> {
        match self.ask(Command::Status, PATIENCE)? {
            Answer::Status(status) => Ok(status),
            _ => Err(ViewerError::Unexpected),
        }
    }

    /// Watches the ledger from this number on, or from now on; gives the last number there is.
    pub fn watch(&mut self, from: Option<u64>) -> Result<u64, ViewerError> {
        match self.ask(Command::Watch { from }, PATIENCE)? {
            Answer::Watching { head } => Ok(head),
            _ => Err(ViewerError::Unexpected),
        }
    }

    /// A code for pairing, and how long it can be used.
    pub fn code(&mut self) -> Result<(Secret, Duration), ViewerError> {
        self.code_when_allowed(&mut |_| {})
    }

    /// Like [`code`](Self::code); `waiting` is told when somebody has to allow it first.
    pub fn code_when_allowed(
        &mut self,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<(Secret, Duration), ViewerError> {
        match self.ask_people(Command::Code, PATIENCE, waiting)? {
            Answer::Code { code, seconds } => Ok((code, Duration::from_secs(seconds))),
            Answer::Told { text, .. } => Err(ViewerError::Refused(text)),
            _ => Err(ViewerError::Unexpected),
        }
    }

    /// Has a link taken back; gives what came of it, and whether it was done.
    pub fn unpair(
        &mut self,
        link: &str,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<(bool, String), ViewerError> {
        let command = Command::Unpair { link: link.to_owned() };
        match self.ask_people(command, PATIENCE, waiting)? {
            Answer::Told { done, text } => Ok((done, text)),
            _ => Err(ViewerError::Unexpected),
        }
    }

    /// Who was linked with a code.
    pub fn links(&mut self) -> Result<Vec<Link>, ViewerError> {
        match self.ask(Command::Links, PATIENCE)? {
            Answer::Links(links) => Ok(links),
            _ => Err(ViewerError::Unexpected),
        }
    }

    /// Asks for something that is answered with words; gives them, and whether it was done.
    pub fn told(&mut self, command: Command) -> Result<(bool, String), ViewerError> {
        match self.ask(command, PATIENCE)? {
            Answer::Told { done, text } => Ok((done, text)),
            _ => Err(ViewerError::Unexpected),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}
