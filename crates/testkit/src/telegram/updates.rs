//! What the bot gets to hear, by long polling.

use std::collections::VecDeque;
use std::io;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::call::Params;
use super::{BotRefusal, Inner, State};

const CONFLICT: &str = "Conflict: terminated by other getUpdates request; make sure that only one \
                        bot instance is running";
const WEBHOOK: &str = "Conflict: can't use getUpdates method while webhook is active; use \
                       deleteWebhook to delete the webhook first";
/// The longest that the server holds a poll.
const MAX_TIMEOUT: i64 = 50;

/// The updates that are not confirmed yet, and who polls for them.
#[derive(Debug, Default)]
pub(super) struct Updates {
    last: i64,
    waiting: VecDeque<(i64, Value)>,
    /// Confirmed ones that come once more.
    again: Vec<Value>,
    twice: bool,
    /// The number of the newest poll; an older one that still waits is ended.
    poll: u64,
    allowed: Option<Vec<String>>,
}

impl Updates {
    pub(super) fn push(&mut self, mut update: Value) {
        self.last += 1;
        update["update_id"] = json!(self.last);
        self.waiting.push_back((self.last, update));
    }

    pub(super) fn deliver_twice(&mut self) {
        self.twice = true;
    }

    fn confirm(&mut self, offset: i64) {
        while self.waiting.front().is_some_and(|(id, _)| *id < offset) {
            let (_, update) = self.waiting.pop_front().expect("it was just looked at");
            if self.twice {
                self.again.push(update);
            }
        }
        self.twice &= self.again.is_empty();
    }

    fn take(&mut self, limit: usize) -> Vec<Value> {
        let mut batch = std::mem::take(&mut self.again);
        let fits = |update: &Value| {
            let allowed = self.allowed.as_ref();
            allowed.is_none_or(|kinds| kinds.iter().any(|kind| update.get(kind).is_some()))
        };
        // What the bot did not ask for never comes.
        self.waiting.retain(|(_, update)| fits(update));
        batch.extend(self.waiting.iter().take(limit).map(|(_, update)| update.clone()));
        batch
    }
}

impl State {
    /// Answers a poll: at once when there is something, else when something comes, when the time
    /// is over, or when another poll begins.
    pub(super) fn poll<'a>(
        &'a self,
        mut inner: MutexGuard<'a, Inner>,
        params: &Params,
    ) -> io::Result<Result<Value, BotRefusal>> {
        let asked = match PollRequest::read(params) {
            Ok(asked) => asked,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if inner.webhook {
            return Ok(Err(BotRefusal::new(409, WEBHOOK)));
        }
        inner.begin_poll(asked.offset, asked.allowed);
        let mine = inner.updates.poll;
        self.changed.notify_all();
        let end = Instant::now() + asked.timeout;
        loop {
            if inner.away {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if inner.updates.poll != mine {
                // The previous poller may have ended by now, which is not an error.
                return Ok(Err(BotRefusal { planned: true, ..BotRefusal::new(409, CONFLICT) }));
            }
            let batch = inner.updates.take(asked.limit);
            let left = end.saturating_duration_since(Instant::now());
            if !batch.is_empty() || left.is_zero() {
                return Ok(Ok(json!(batch)));
            }
            inner = self.wait(inner, left);
        }
    }
}

impl Inner {
    fn begin_poll(&mut self, offset: i64, allowed: Option<Vec<String>>) {
        self.updates.poll += 1;
        self.updates.confirm(offset);
        self.seen.confirmed = self.seen.confirmed.max(offset);
        if allowed.is_some() {
            self.updates.allowed = allowed;
        }
    }
}

#[derive(Debug)]
struct PollRequest {
    offset: i64,
    limit: usize,
    timeout: Duration,
    allowed: Option<Vec<String>>,
}

impl PollRequest {
    fn read(params: &Params) -> Result<Self, BotRefusal> {
        let limit = params.number("limit")?.unwrap_or(100);
        let timeout = params.number("timeout")?.unwrap_or(0);
        let offset = params.number("offset")?.unwrap_or(0);
        if !(1..=100).contains(&limit) || !(0..=MAX_TIMEOUT).contains(&timeout) || offset < 0 {
            return Err(BotRefusal::bad("limit, timeout or offset is out of range"));
        }
        let names = |kinds: &Vec<Value>| {
            let texts = kinds.iter().map(|kind| kind.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        };
        let allowed = params.list("allowed_updates")?.map(names);
        if allowed == Some(None) {
            return Err(BotRefusal::bad(
                "can't parse allowed updates: expected an array of strings",
            ));
        }
        Ok(Self {
            offset,
            limit: usize::try_from(limit).unwrap(),
            timeout: Duration::from_secs(timeout.unsigned_abs()),
            allowed: allowed.flatten(),
        })
    }
}
