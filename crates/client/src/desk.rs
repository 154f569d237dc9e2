//! A client of the desk for programs on tokio, such as the host of the page and the shell.
//!
//! One [`DeskClient`] is one connection. Many requests may be under way on it at once; each yields
//! its messages as [`DeskReplies`]. [`DeskClient::watch`] yields the entries of the ledger. Whoever
//! reads them slowly holds up the whole connection, so that they stay with the desk and need no
//! memory here: a program that also makes requests watches on a connection of its own.
//!
//! The connection ends when the client is dropped. It is not made again: the caller connects and
//! watches from the number after its last entry.

mod page_entry;
mod routes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_wire::desk::{DeskAnswer, DeskCommand, DeskMessage, DeskRequest, Unreadable};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::desk_error::{DeskError, dial_desk};
use routes::MessageRoutes;

/// How long an answer may take that needs no person.
pub const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// How many requests may wait to be sent.
const UNSENT: usize = 16;

#[derive(Debug)]
pub struct DeskClient {
    lines: mpsc::Sender<Vec<u8>>,
    routes: Arc<MessageRoutes>,
    next_id: AtomicU64,
    /// The tasks that read and write; they end with this.
    _tasks: JoinSet<()>,
}

/// The messages of the desk for one request. Dropping it ignores those that are still to come.
#[derive(Debug)]
pub struct DeskReplies {
    id: String,
    messages: mpsc::Receiver<DeskMessage>,
    routes: Arc<MessageRoutes>,
    is_answered: bool,
}

/// The entries of the ledger, as the desk sends them.
#[derive(Debug)]
pub struct DeskWatch {
    /// The number of the last entry when the watch began.
    pub head: u64,
    messages: mpsc::Receiver<DeskMessage>,
    routes: Arc<MessageRoutes>,
}

impl DeskClient {
    /// Connects to the desk. Returns an error at once if there is none. Needs a running tokio
    /// runtime.
    pub fn connect(path: &Path) -> Result<Self, DeskError> {
        let stream = dial_desk(path)?;
        stream.set_nonblocking(true)?;
        let (input, output) = UnixStream::from_std(stream)?.into_split();
        let routes = Arc::new(MessageRoutes::default());
        let (lines, unsent) = mpsc::channel(UNSENT);
        let mut tasks = JoinSet::new();
        let reading = Arc::clone(&routes);
        tasks.spawn(async move { reading.read_messages(input).await });
        tasks.spawn(write_lines(output, unsent));
        Ok(Self { lines, routes, next_id: AtomicU64::new(1), _tasks: tasks })
    }

    /// Sends a request. Its messages come from [`DeskReplies::next`].
    pub async fn request(&self, command: DeskCommand) -> Result<DeskReplies, DeskError> {
        self.send_as(self.fresh_id(), command).await
    }

    fn fresh_id(&self) -> String {
        self.next_id.fetch_add(1, Ordering::Relaxed).to_string()
    }

    async fn send_as(&self, id: String, command: DeskCommand) -> Result<DeskReplies, DeskError> {
        let messages = self.routes.add_request(&id)?;
        // From here on, whatever becomes of the request, its route is removed.
        let replies = DeskReplies {
            id: id.clone(),
            messages,
            routes: Arc::clone(&self.routes),
            is_answered: false,
        };
        let line = DeskRequest { id, command }.to_line();
        self.lines.send(line).await.map_err(|_| self.routes.closed_error())?;
        Ok(replies)
    }

    /// Sends a request and returns its answer, which must come within [`ANSWERED_WITHIN`].
    pub async fn ask(&self, command: DeskCommand) -> Result<DeskAnswer, DeskError> {
        self.ask_as(self.fresh_id(), command).await
    }

    async fn ask_as(&self, id: String, command: DeskCommand) -> Result<DeskAnswer, DeskError> {
        let asked = async { self.send_as(id, command).await?.answer().await };
        let in_time = timeout(ANSWERED_WITHIN, asked).await;
        in_time.unwrap_or(Err(DeskError::TimedOut(ANSWERED_WITHIN)))
    }

    /// Watches the ledger from this number on, or from now on. It replaces an earlier watch on this
    /// connection.
    pub async fn watch(&self, from: Option<u64>) -> Result<DeskWatch, DeskError> {
        let id = self.fresh_id();
        // Before the request is sent, so that no entry is missed.
        let messages = self.routes.add_watcher(&id);
        match self.ask_as(id, DeskCommand::Watch { from }).await? {
            DeskAnswer::Watching { head } => {
                Ok(DeskWatch { head, messages, routes: Arc::clone(&self.routes) })
            }
            _ => Err(DeskError::Unexpected),
        }
    }

    pub fn is_closed(&self) -> bool {
        self.routes.is_closed()
    }

    /// Returns true if the link that unlocked this connection was removed.
    pub fn is_locked(&self) -> bool {
        self.routes.is_locked()
    }
}

/// Writes lines until there are no more, or the desk is gone, which the reading half notices.
async fn write_lines(mut output: OwnedWriteHalf, mut unsent: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = unsent.recv().await {
        if output.write_all(&line).await.is_err() {
            return;
        }
    }
}

impl DeskReplies {
    /// Returns the next message; the last one is the answer, or an error of the desk. Returns
    /// `None` after that.
    pub async fn next(&mut self) -> Result<Option<DeskMessage>, DeskError> {
        if self.is_answered {
            return Ok(None);
        }
        let message = self.messages.recv().await.ok_or_else(|| self.routes.closed_error())?;
        self.is_answered =
            matches!(message, DeskMessage::Answer { .. } | DeskMessage::Error { .. });
        Ok(Some(message))
    }

    /// Waits for the answer, and ignores what precedes it.
    pub async fn answer(mut self) -> Result<DeskAnswer, DeskError> {
        loop {
            match self.next().await? {
                Some(DeskMessage::Answer { answer, .. }) => return Ok(answer),
                Some(DeskMessage::Error { text, .. }) => {
                    return Err(DeskError::Refused(text));
                }
                Some(_) => {}
                None => return Err(DeskError::Unexpected),
            }
        }
    }
}

impl Drop for DeskReplies {
    fn drop(&mut self) {
        self.routes.remove(&self.id);
    }
}

impl DeskWatch {
    /// Waits for the next message: an entry, or the notice that the connection was locked. Dropping
    /// the future loses nothing.
    pub async fn next(&mut self) -> Result<DeskMessage, DeskError> {
        match self.messages.recv().await {
            Some(DeskMessage::Error { text, .. }) => Err(DeskError::Refused(text)),
            Some(message) => Ok(message),
            None => Err(self.routes.closed_error()),
        }
    }
}

/// A request that a page makes of the desk, through a host that passes it on.
#[derive(Debug)]
pub struct PageRequest(DeskRequest);

/// The messages of the desk for a request of a page, with the id that the page chose.
#[derive(Debug)]
pub struct PageReplies {
    id: String,
    replies: DeskReplies,
}

impl PageRequest {
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        DeskRequest::decode(line).map(Self)
    }

    /// Returns true for what a page may ask. Keys and codes are not made by pages, and entries have
    /// a stream of their own.
    pub fn is_allowed(&self) -> bool {
        !matches!(
            self.0.command,
            DeskCommand::Watch { .. }
                | DeskCommand::Answer { .. }
                | DeskCommand::Unlock { .. }
                | DeskCommand::Pair { .. }
                | DeskCommand::Code { .. }
                | DeskCommand::Gate { .. }
        )
    }

    /// Returns true for what the page of a person of a team may ask: what is needed to answer, to
    /// see what was decided and by which rules, and to care for their own links. Nothing of the
    /// desk's owner can be changed or tried out. It is a list of what is allowed, so that a new
    /// command is not open to everybody by itself.
    pub fn is_allowed_for_person(&self) -> bool {
        matches!(
            self.0.command,
            DeskCommand::Press { .. }
                | DeskCommand::Inbox
                | DeskCommand::Card { .. }
                | DeskCommand::History { .. }
                | DeskCommand::Figures { .. }
                | DeskCommand::Export { .. }
                | DeskCommand::Verify
                | DeskCommand::Rules
                | DeskCommand::Links
                | DeskCommand::Unpair { .. }
                | DeskCommand::Code { page: false }
        )
    }

    pub fn removed_link(&self) -> Option<&str> {
        match &self.0.command {
            DeskCommand::Unpair { link } => Some(link),
            _ => None,
        }
    }

    pub async fn send(self, desk: &DeskClient) -> Result<PageReplies, DeskError> {
        let DeskRequest { id, command } = self.0;
        // Sent with an id of the client's own, because two pages on one connection may choose the
        // same.
        Ok(PageReplies { id, replies: desk.request(command).await? })
    }
}

impl PageReplies {
    /// Returns the next message; the last one is the answer, or an error of the desk. Returns
    /// `None` after that.
    pub async fn next(&mut self) -> Result<Option<DeskMessage>, DeskError> {
        let mut message = self.replies.next().await?;
        if let Some(
            DeskMessage::Answer { id, .. }
            | DeskMessage::Waiting { id, .. }
            | DeskMessage::Progress { id, .. }
            | DeskMessage::Error { id: Some(id), .. },
        ) = &mut message
        {
            self.id.clone_into(id);
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_make_no_keys_and_no_codes() {
        let is_allowed = |fields: &str| {
            PageRequest::decode(format!(r#"{{"id":"1",{fields}}}"#).as_bytes())
                .unwrap()
                .is_allowed()
        };
        assert!(is_allowed(r#""kind":"status""#) && is_allowed(r#""kind":"links""#));
        assert!(!is_allowed(r#""kind":"watch""#) && !is_allowed(r#""kind":"code""#));
        assert!(!is_allowed(r#""kind":"unlock","token":"t""#));
        assert!(!is_allowed(r#""kind":"pair","code":"c","name":"n""#));
        assert!(PageRequest::decode(b"{}").is_err());
    }
}
