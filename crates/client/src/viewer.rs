//! A blocking viewer on the desk socket, for commands that look or press and then end.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use callgate_link::blocking::fill_lines;
use callgate_wire::desk::{
    DeskAnswer, DeskCommand, DeskMessage, DeskRequest, DeskStatus, HiddenText, MAX_MESSAGE,
    NamedLink,
};
use callgate_wire::frame::LineDecoder;

use crate::desk_error::{DeskError, dial_desk, next_message};

/// How long an answer may take that needs no person.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How many other messages are kept while waiting for an answer.
const MOST_KEPT: usize = 1024;

#[derive(Debug)]
pub struct Viewer {
    stream: UnixStream,
    lines: LineDecoder,
    next_id: u64,
    /// Messages that came while waiting for an answer.
    kept: VecDeque<DeskMessage>,
}

impl Viewer {
    /// Connects to the desk. Returns an error at once if there is none.
    pub fn connect(path: &Path) -> Result<Self, DeskError> {
        let stream = dial_desk(path)?;
        // A desk that reads nothing must not keep a command waiting for ever.
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, lines: LineDecoder::new(MAX_MESSAGE), next_id: 1, kept: VecDeque::new() })
    }

    /// Sends a request and returns its id; the answer comes from [`next`](Self::next).
    pub fn send(&mut self, command: DeskCommand) -> Result<String, DeskError> {
        let id = self.next_id.to_string();
        self.next_id += 1;
        let line = DeskRequest { id: id.clone(), command }.to_line();
        self.stream.write_all(&line)?;
        Ok(id)
    }

    /// Sends a request and waits for its answer. Other messages are kept meanwhile.
    pub fn ask(&mut self, command: DeskCommand, within: Duration) -> Result<DeskAnswer, DeskError> {
        self.ask_people(command, within, &mut |_| {})
    }

    /// Like [`ask`](Self::ask), for a request that somebody who is linked may have to allow first:
    /// then `waiting` is called, and the answer may take as long as they do.
    pub fn ask_people(
        &mut self,
        command: DeskCommand,
        mut within: Duration,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<DeskAnswer, DeskError> {
        let id = self.send(command)?;
        let mut end = Instant::now() + within;
        loop {
            let message = self.receive(end)?.ok_or(DeskError::TimedOut(within))?;
            match message {
                DeskMessage::Waiting { id: of, text, seconds } if of == id => {
                    waiting(&text);
                    // The desk gives up by itself and says so.
                    within = Duration::from_secs(seconds) + PATIENCE;
                    end = Instant::now() + within;
                }
                DeskMessage::Answer { id: of, answer } if of == id => return Ok(answer),
                // Without an id it is about a line that the desk could not read, which can only be
                // this one.
                DeskMessage::Error { id: of, text } if of.as_ref().is_none_or(|of| *of == id) => {
                    return Err(DeskError::Refused(text));
                }
                _ if self.kept.len() >= MOST_KEPT => return Err(DeskError::TooMany(MOST_KEPT)),
                other => self.kept.push_back(other),
            }
        }
    }

    /// Returns the next message, or `None` if none comes until `end`.
    pub fn next(&mut self, end: Instant) -> Result<Option<DeskMessage>, DeskError> {
        match self.kept.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.receive(end),
        }
    }

    fn receive(&mut self, end: Instant) -> Result<Option<DeskMessage>, DeskError> {
        loop {
            if let Some(message) = next_message(&mut self.lines)? {
                return Ok(Some(message));
            }
            match self.wait_for_bytes(end)? {
                None => return Ok(None),
                Some(0) => return Err(DeskError::Closed("look at `callgate up`".to_owned())),
                Some(_) => {}
            }
        }
    }

    /// Waits for bytes from the desk. Returns how many came, 0 if the connection has ended, and
    /// `None` if nothing came until `end`.
    fn wait_for_bytes(&mut self, end: Instant) -> Result<Option<usize>, DeskError> {
        // A timeout of zero would mean none.
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(left))?;
        match fill_lines(&mut self.stream, &mut self.lines) {
            Ok(count) => Ok(Some(count)),
            Err(error) if is_timeout(&error) => Ok(None),
            // A connection that is broken has ended.
            Err(_) => Ok(Some(0)),
        }
    }

    pub fn status(&mut self) -> Result<DeskStatus, DeskError> {
        match self.ask(DeskCommand::Status, PATIENCE)? {
            DeskAnswer::Status { status } => Ok(*status),
            _ => Err(DeskError::Unexpected),
        }
    }

    /// Watches the ledger from this number on, or from now on. Returns the number of the last
    /// entry.
    pub fn watch(&mut self, from: Option<u64>) -> Result<u64, DeskError> {
        match self.ask(DeskCommand::Watch { from }, PATIENCE)? {
            DeskAnswer::Watching { head } => Ok(head),
            _ => Err(DeskError::Unexpected),
        }
    }

    /// Returns a code for pairing, and how long it can be used.
    pub fn code(&mut self) -> Result<(HiddenText, Duration), DeskError> {
        self.code_when_allowed(&mut |_| {})
    }

    /// Like [`code`](Self::code); `waiting` is called if somebody has to allow it first.
    pub fn code_when_allowed(
        &mut self,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<(HiddenText, Duration), DeskError> {
        match self.ask_people(DeskCommand::Code { page: false }, PATIENCE, waiting)? {
            DeskAnswer::Code { code, seconds } => Ok((code, Duration::from_secs(seconds))),
            DeskAnswer::Told { text, .. } => Err(DeskError::Refused(text)),
            _ => Err(DeskError::Unexpected),
        }
    }

    /// Asks for a link to be removed. Returns whether it was, and the desk's reply.
    pub fn unpair(
        &mut self,
        link: &str,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<(bool, String), DeskError> {
        let command = DeskCommand::Unpair { link: link.to_owned() };
        match self.ask_people(command, PATIENCE, waiting)? {
            DeskAnswer::Told { done, text } => Ok((done, text)),
            _ => Err(DeskError::Unexpected),
        }
    }

    pub fn links(&mut self) -> Result<Vec<NamedLink>, DeskError> {
        match self.ask(DeskCommand::Links, PATIENCE)? {
            DeskAnswer::Links { links } => Ok(links),
            _ => Err(DeskError::Unexpected),
        }
    }

    /// Sends a request whose answer is a reply in words. Returns whether it was done, and the
    /// reply.
    pub fn ask_for_reply(&mut self, command: DeskCommand) -> Result<(bool, String), DeskError> {
        match self.ask(command, PATIENCE)? {
            DeskAnswer::Told { done, text } => Ok((done, text)),
            _ => Err(DeskError::Unexpected),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
