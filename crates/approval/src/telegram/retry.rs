//! Calls to a chat: in turn, retried until they work, and never during a pause that Telegram's
//! flood control asks for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::TelegramLine;
use super::api::TelegramFault;

/// How many calls of each kind may be in progress for one chat.
const SHOWS: usize = 4;
const EDITS: usize = 2;

/// The kind of a call. Questions never wait behind edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatLane {
    Show,
    /// An edit of a message.
    Edit,
}

#[derive(Debug, Default)]
pub(super) struct ChatGates(Mutex<HashMap<i64, Arc<ChatGate>>>);

#[derive(Debug)]
pub(super) struct ChatGate {
    shows: Semaphore,
    edits: Semaphore,
    /// When the pause that Telegram has asked for ends.
    quiet: Mutex<Instant>,
}

impl ChatGates {
    /// Returns the gate of a chat. There is one for each chat that the desk sends to.
    pub(super) fn gate_of_chat(&self, chat: i64) -> Arc<ChatGate> {
        let mut gates = lock(&self.0);
        Arc::clone(gates.entry(chat).or_insert_with(|| {
            Arc::new(ChatGate {
                shows: Semaphore::new(SHOWS),
                edits: Semaphore::new(EDITS),
                quiet: Mutex::new(Instant::now()),
            })
        }))
    }
}

impl ChatGate {
    fn quiet_until(&self) -> Instant {
        *lock(&self.quiet)
    }

    /// Notes that Telegram asks for a pause of this length.
    pub(super) fn keep_quiet(&self, wait: Duration) {
        let mut quiet = lock(&self.quiet);
        // A shorter pause that comes later does not shorten the one before.
        *quiet = (*quiet).max(Instant::now() + wait);
    }

    /// Runs one attempt when it is its turn and there is no pause. Returns `None` if that would be
    /// after `end`.
    pub(super) async fn run_in_turn<T>(
        &self,
        lane: ChatLane,
        end: Instant,
        attempt: impl Future<Output = T>,
    ) -> Option<T> {
        let lane = match lane {
            ChatLane::Show => &self.shows,
            ChatLane::Edit => &self.edits,
        };
        loop {
            let quiet = self.quiet_until();
            if quiet >= end {
                return None;
            }
            sleep_until(quiet).await;
            // The second error never comes, because the semaphores are never closed.
            let turn = tokio::time::timeout_at(end, lane.acquire()).await.ok()?.ok()?;
            // Telegram may have asked for a pause since.
            if self.quiet_until() <= Instant::now() {
                let done = attempt.await;
                drop(turn);
                return Some(done);
            }
        }
    }
}

/// The longest pause is this many times the first.
const LONGEST_PAUSE: u32 = 16;

/// The pauses between attempts: each twice as long as the one before, up to a limit.
#[derive(Debug)]
struct RetryPauses {
    first: Duration,
    next: Duration,
    longest: Duration,
}

impl RetryPauses {
    fn new(first: Duration) -> Self {
        Self { first, next: first, longest: first * LONGEST_PAUSE }
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Returns the next pause of a retry that ends at `end`: near the end it is half of the time
    /// left, as long as that is not less than the first pause.
    fn next_before(&mut self, end: Instant) -> Option<Duration> {
        let (pause, left) = (self.next(), end.saturating_duration_since(Instant::now()));
        if pause < left { Some(pause) } else { Some(left / 2).filter(|half| *half >= self.first) }
    }
}

/// Retries until an attempt works, is refused, or the next one would come after `end`. With a gate,
/// each attempt waits for its turn and for the end of a pause.
pub(super) async fn retry_until<T, F>(
    pause: Duration,
    gate: Option<(&ChatGate, ChatLane)>,
    end: Instant,
    mut attempt: impl FnMut() -> F,
) -> Result<T, TelegramFault>
where
    F: Future<Output = Result<T, TelegramFault>>,
{
    let mut pauses = RetryPauses::new(pause);
    let mut last = None;
    loop {
        let attempted = match gate {
            Some((gate, lane)) => gate.run_in_turn(lane, end, attempt()).await,
            None => Some(attempt().await),
        };
        let fault = match attempted {
            Some(Ok(done)) => return Ok(done),
            Some(Err(fault)) => fault,
            None => return Err(last.unwrap_or_else(crowded_fault)),
        };
        let TelegramFault::Passing { wait, .. } = &fault else { return Err(fault) };
        if let (Some((gate, _)), Some(wait)) = (gate, wait) {
            gate.keep_quiet(*wait);
        }
        let next = match wait {
            Some(wait) => Some(*wait),
            None => pauses.next_before(end),
        };
        match next.map(|pause| Instant::now() + pause).filter(|next| *next < end) {
            Some(next) => sleep_until(next).await,
            None => return Err(fault),
        }
        last = Some(fault);
    }
}

fn crowded_fault() -> TelegramFault {
    let why =
        "Telegram asks for a pause in this chat, or too many messages are queued for it".to_owned();
    TelegramFault::Passing { why, wait: None }
}

impl TelegramLine {
    /// Retries something in a chat until `end`.
    pub(super) async fn retry_in_chat<T, F>(
        &self,
        chat: i64,
        lane: ChatLane,
        end: Instant,
        attempt: impl FnMut() -> F,
    ) -> Result<T, TelegramFault>
    where
        F: Future<Output = Result<T, TelegramFault>>,
    {
        let gate = self.gates.gate_of_chat(chat);
        retry_until(self.settings.pause, Some((gate.as_ref(), lane)), end, attempt).await
    }

    /// Calls a method for a chat until it works, is refused, or `end` comes.
    pub(super) async fn call_in_chat(
        &self,
        chat: i64,
        lane: ChatLane,
        end: Instant,
        method: &str,
        params: &Value,
    ) -> Result<Value, TelegramFault> {
        self.retry_in_chat(chat, lane, end, || self.api.call(method, params, super::CALL)).await
    }
}

#[cfg(test)]
mod tests;
