//! The connections of askers that wait for their answers: no task and no buffer for any of them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use callgate_link::hangup::{Hangups, has_read_all};
use callgate_wire::approval::Response;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::clerk::Letter;
use crate::desk::{AskerId, Input};

/// How long an asker may take to read its answer and hang up. One that keeps its connection open
/// for longer has the answer in its hands.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// Everybody who waits for an answer, or has one on its way.
#[derive(Debug)]
pub(super) struct Askers {
    hangups: Hangups,
    waiting: Mutex<HashMap<AskerId, Asker>>,
    to_desk: mpsc::Sender<Letter>,
    stopper: Mutex<Option<UnixStream>>,
    /// The other end of `stopper`, which is watched like an asker.
    _watched: UnixStream,
}

/// Under this name the end of the watching is reported; no asker has it.
const STOP: u64 = u64::MAX;

#[derive(Debug)]
struct Asker {
    stream: UnixStream,
    /// Whether its answer has been sent.
    answered: bool,
}

impl Askers {
    pub(super) fn new(to_desk: mpsc::Sender<Letter>) -> io::Result<Arc<Self>> {
        let hangups = Hangups::new()?;
        let (stopper, watched) = UnixStream::pair()?;
        hangups.watch(&watched, STOP)?;
        Ok(Arc::new(Self {
            hangups,
            waiting: Mutex::default(),
            to_desk,
            stopper: Mutex::new(Some(stopper)),
            _watched: watched,
        }))
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<AskerId, Asker>> {
        // Nothing in here panics half-way.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the connection of an asker whose question is about to go to the desk.
    pub(super) fn add(&self, id: AskerId, stream: UnixStream) {
        self.waiting().insert(id, Asker { stream, answered: false });
    }

    /// Watches an asker whose question is with the desk. One that cannot be watched is let go.
    pub(super) async fn watch(&self, id: AskerId) {
        let is_watched = match self.waiting().get(&id) {
            Some(asker) => self.hangups.watch(&asker.stream, id.0).is_ok(),
            None => true,
        };
        if !is_watched && self.waiting().remove(&id).is_some() {
            self.to_desk.send(Letter::new(Input::Gone(id))).await.ok();
        }
    }

    /// Sends an asker its answer. The desk hears whether it was read.
    pub(super) fn answer(self: &Arc<Self>, id: AskerId, response: &Response) {
        let line = response.to_line();
        let mut waiting = self.waiting();
        // One that has hung up has been reported.
        let Some(asker) = waiting.get_mut(&id) else { return };
        asker.answered = true;
        let sent = match asker.stream.write(&line) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // Whoever cannot be written to has hung up, which is about to be reported.
            Err(_) => return,
        };
        let rest = (sent < line.len())
            .then(|| asker.stream.try_clone().map(|s| (s, line[sent..].to_vec())));
        drop(waiting);
        let askers = Arc::clone(self);
        tokio::spawn(async move {
            let is_sent = match rest {
                None => true,
                Some(Ok((stream, rest))) => send_rest(stream, &rest).await.is_ok(),
                Some(Err(_)) => false,
            };
            tokio::time::sleep(READ_WITHIN).await;
            askers.give_up_waiting(id, is_sent).await;
        });
    }

    /// An asker that has its answer and has not hung up.
    async fn give_up_waiting(&self, id: AskerId, is_sent: bool) {
        let is_there = self.waiting().remove(&id).is_some();
        if is_there {
            let input = if is_sent { Input::Delivered(id) } else { Input::Lost(id) };
            // A desk that has ended needs no news.
            self.to_desk.send(Letter::new(input)).await.ok();
        }
    }

    /// Tells the desk of everybody who hangs up; for a thread of its own. Ends when
    /// [`stop`](Self::stop) is called.
    pub(super) fn report(&self) -> io::Result<()> {
        loop {
            for name in self.hangups.next()? {
                if name == STOP {
                    return Ok(());
                }
                let id = AskerId(name);
                let asker = self.waiting().remove(&id);
                let input = match asker {
                    Some(asker) if !asker.answered => Input::Gone(id),
                    Some(asker) if has_read_all(&asker.stream) => Input::Delivered(id),
                    Some(_) => Input::Lost(id),
                    None => continue,
                };
                // A desk that has ended needs no news.
                self.to_desk.blocking_send(Letter::new(input)).ok();
            }
        }
    }

    /// Ends [`report`](Self::report).
    pub(super) fn stop(&self) {
        // Closing one end hangs up the other.
        drop(self.stopper.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Sends what did not fit into the socket.
async fn send_rest(stream: UnixStream, rest: &[u8]) -> io::Result<()> {
    let mut stream = tokio::net::UnixStream::from_std(stream)?;
    tokio::time::timeout(READ_WITHIN, stream.write_all(rest)).await?
}
