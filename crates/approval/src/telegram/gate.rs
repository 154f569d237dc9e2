//! How much goes to a chat at once, and when it wants quiet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

/// How many calls of each kind may be on their way to one chat.
const SHOWS: usize = 4;
const EDITS: usize = 2;

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
