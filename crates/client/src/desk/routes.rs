//! Where each message of the desk goes: to the request that it answers, or to whoever watches.

use std::collections::HashMap;
use std::sync::Mutex;

use callgate_link::sync::lock;
use callgate_link::tokio::fill_lines;
use callgate_wire::desk::{DeskMessage, MAX_MESSAGE};
use callgate_wire::frame::LineDecoder;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

use crate::desk_error::{DeskError, next_message};

/// How many messages may wait for the reader of one request.
const UNREAD: usize = 8;
/// How many of these places are reserved for the answer: other messages are dropped if they are not
/// read.
const KEPT_FREE: usize = 4;
/// How many entries may wait for whoever watches. They are few, because what is not read stays with
/// the desk, which has all of it anyway.
const UNREAD_ENTRIES: usize = 2;

#[derive(Debug, Default)]
pub(super) struct MessageRoutes(Mutex<OpenRoutes>);

#[derive(Debug, Default)]
struct OpenRoutes {
    /// By the ids of their requests.
    replies: HashMap<String, mpsc::Sender<DeskMessage>>,
    /// Whoever watches, by the id of the request.
    watch: Option<(String, mpsc::Sender<DeskMessage>)>,
    is_locked: bool,
    /// Why the connection has ended.
    ended: Option<String>,
}

impl MessageRoutes {
    pub(super) fn add_request(&self, id: &str) -> Result<mpsc::Receiver<DeskMessage>, DeskError> {
        let mut open = lock(&self.0);
        if let Some(reason) = &open.ended {
            return Err(DeskError::Closed(reason.clone()));
        }
        let (sender, receiver) = mpsc::channel(UNREAD);
        open.replies.insert(id.to_owned(), sender);
        Ok(receiver)
    }

    /// Removes a request that nobody waits for.
    pub(super) fn remove(&self, id: &str) {
        lock(&self.0).replies.remove(id);
    }

    /// Adds the watcher of the request `id`, in place of an earlier watcher.
    pub(super) fn add_watcher(&self, id: &str) -> mpsc::Receiver<DeskMessage> {
        let (sender, receiver) = mpsc::channel(UNREAD_ENTRIES);
        lock(&self.0).watch = Some((id.to_owned(), sender));
        receiver
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.0).ended.is_some()
    }

    pub(super) fn is_locked(&self) -> bool {
        lock(&self.0).is_locked
    }

    /// Returns the error for whoever still waits for something.
    pub(super) fn closed_error(&self) -> DeskError {
        let reason = lock(&self.0).ended.clone();
        DeskError::Closed(reason.unwrap_or_else(|| "nothing can be sent".to_owned()))
    }

    /// Reads messages until the connection ends, and notes why.
    pub(super) async fn read_messages(&self, input: impl AsyncRead + Unpin) {
        let reason = self.read_all(input).await;
        let mut open = lock(&self.0);
        // An error that was about no request says more.
        open.ended.get_or_insert(reason);
        open.replies.clear();
        open.watch = None;
    }

    async fn read_all(&self, mut input: impl AsyncRead + Unpin) -> String {
        let mut lines = LineDecoder::new(MAX_MESSAGE);
        loop {
            loop {
                match next_message(&mut lines) {
                    Ok(Some(message)) => self.route(message).await,
                    Ok(None) => break,
                    Err(error) => return error.to_string(),
                }
            }
            match fill_lines(&mut input, &mut lines).await {
                Ok(0) => return "the desk closed it".to_owned(),
                Ok(_) => {}
                Err(error) => return error.to_string(),
            }
        }
    }

    /// Passes a message on. Only entries wait for their reader: an answer never waits for the
    /// reader of another.
    async fn route(&self, message: DeskMessage) {
        // The lock is not held while the watcher is waited for, because requests come and go
        // meanwhile.
        let (watch, message) = {
            let mut open = lock(&self.0);
            if let DeskMessage::Locked { .. } = message {
                open.is_locked = true;
            }
            let Some(message) = open.route_reply(message) else { return };
            (open.watch.as_ref().map(|(_, watch)| watch.clone()), message)
        };
        if let Some(watch) = watch {
            // An error means that nobody watches any more.
            watch.send(message).await.ok();
        }
    }
}

impl OpenRoutes {
    /// Passes a message to its request. Returns one that is for whoever watches.
    fn route_reply(&mut self, message: DeskMessage) -> Option<DeskMessage> {
        let (id, is_last) = match &message {
            DeskMessage::Entry(_) | DeskMessage::Locked { .. } => return Some(message),
            DeskMessage::Error { id: None, text } => {
                // It is about no request: the desk ends the connection after it.
                self.ended.get_or_insert_with(|| text.clone());
                return None;
            }
            DeskMessage::Answer { id, .. } | DeskMessage::Error { id: Some(id), .. } => (id, true),
            DeskMessage::Waiting { id, .. } | DeskMessage::Progress { id, .. } => (id, false),
        };
        match self.replies.get(id) {
            // Progress that is not read is dropped, so that the answer always finds a place.
            Some(reader) if is_last || reader.capacity() > KEPT_FREE => {
                // An error means that nobody waits for it any more.
                reader.try_send(message).ok();
                None
            }
            Some(_) => None,
            // A watch that has begun may fail later.
            None => self.watch.as_ref().is_some_and(|(watch, _)| watch == id).then_some(message),
        }
    }
}
