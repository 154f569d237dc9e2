//! How much goes to a chat at once, when it wants quiet, and how a call is tried again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until};

use super::Line;
use super::api::Fault;

/// How many calls of each kind may be on their way to one chat.
const SHOWS: usize = 4;
const EDITS: usize = 2;
/// The longest pause is this many times the first.
const LONGEST_PAUSE: u32 = 64;

/// What a call is for. Questions never wait behind cosmetics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Something new.
    Show,
    /// A change to what is there.
    Edit,
}

/// The gates of all chats.
#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<HashMap<i64, Arc<Gate>>>);

/// The gate of one chat.
#[derive(Debug)]
pub(super) struct Gate {
    shows: Semaphore,
    edits: Semaphore,
    /// Until when the chat wants quiet.
    quiet: Mutex<Instant>,
}

impl Gates {
    /// The gate of a chat. There are only as many as chats that the desk sends to.
    pub(super) fn of(&self, chat: i64) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(chat).or_insert_with(|| {
            Arc::new(Gate {
                shows: Semaphore::new(SHOWS),
                edits: Semaphore::new(EDITS),
                quiet: Mutex::new(Instant::now()),
            })
        }))
    }
}

impl Gate {
    fn quiet_until(&self) -> Instant {
        *self.quiet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the chat wants quiet for so long.
    pub(super) fn keep_quiet(&self, wait: Duration) {
        let mut quiet = self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
        *quiet = (*quiet).max(Instant::now() + wait);
    }

    /// Runs one attempt when it is its turn and the chat wants no quiet; none when that would be
    /// after `end`.
    pub(super) async fn pass<T>(
        &self,
        lane: Lane,
        end: Instant,
        attempt: impl Future<Output = T>,
    ) -> Option<T> {
        let lane = match lane {
            Lane::Show => &self.shows,
            Lane::Edit => &self.edits,
        };
        loop {
            let quiet = self.quiet_until();
            if quiet >= end {
                return None;
            }
            sleep_until(quiet).await;
            let turn = tokio::time::timeout_at(end, lane.acquire()).await.ok()?.ok()?;
            // Somebody before us may have been told to be quiet.
            if self.quiet_until() <= Instant::now() {
                let done = attempt.await;
                drop(turn);
                return Some(done);
            }
        }
    }
}

/// The pauses between attempts: each twice as long as the one before, up to a limit.
#[derive(Debug)]
pub(super) struct Pauses {
    next: Duration,
    longest: Duration,
}

impl Pauses {
    pub(super) fn new(first: Duration) -> Self {
        Self { next: first, longest: first * LONGEST_PAUSE }
    }

    pub(super) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }
}

impl Line {
    /// Calls a method for a chat until it works, is refused, or `end` comes.
    pub(super) async fn insist(
        &self,
        chat: i64,
        lane: Lane,
        end: Instant,
        method: &str,
        params: &Value,
    ) -> Result<Value, Fault> {
        let gate = self.gates.of(chat);
        let mut pauses = Pauses::new(self.pause);
        let mut last = None;
        loop {
            let limit = end.saturating_duration_since(Instant::now());
            let attempt = self.api.call(method, params, limit);
            let fault = match gate.pass(lane, end, attempt).await {
                Some(Ok(result)) => return Ok(result),
                Some(Err(fault)) => fault,
                None => return Err(last.unwrap_or_else(too_late)),
            };
            let Fault::Passing { wait, .. } = &fault else { return Err(fault) };
            let pause = pauses.next();
            if Instant::now() + wait.unwrap_or(pause) >= end {
                return Err(fault);
            }
            match wait {
                Some(wait) => gate.keep_quiet(*wait),
                None => sleep(pause).await,
            }
            last = Some(fault);
        }
    }
}

fn too_late() -> Fault {
    let why = "there was no room for it among the messages to this chat".to_owned();
    Fault::Passing { why, wait: None }
}
