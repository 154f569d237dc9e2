//! The host as an MCP server inside the process: for a client that speaks MCP over a channel of
//! its own and needs no bridge.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_wire::raw::Json;
use callgate_wire::tools::{Response, error_type};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::context::{CallFacts, NEWS};
use super::{Host, HostError, ToolError};
use crate::mcp::{self, Answer, Call, Catalogue, Ticket};

/// How many bytes of calls may run or wait for their turn at once.
const MOST_CALL_BYTES: usize = 64 * 1024 * 1024;
/// What a call takes beside its arguments, in bytes, about.
const CALL_OVERHEAD: usize = 1024;

/// A host that answers MCP messages directly. The same tools give the same results as through
/// the bridge.
#[derive(Debug)]
pub struct Inline {
    host: Host,
    catalogue: Catalogue,
    running: Mutex<HashMap<u64, OpenCall>>,
    next_number: AtomicU64,
    /// As many calls run at once as there may be connections of a bridge.
    turns: Semaphore,
}

/// A call that runs or waits for its turn.
#[derive(Debug)]
struct OpenCall {
    id: String,
    bytes: usize,
    /// Whoever waits for the call sees this go.
    _cancel: oneshot::Sender<()>,
}

/// A call that can be cancelled until this is dropped.
struct Running<'a> {
    inline: &'a Inline,
    number: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.inline.running().remove(&self.number);
    }
}

impl Inline {
    pub(super) fn new(host: Host) -> Result<Self, HostError> {
        let (catalogue, _) = Catalogue::from_schema_file(&host.schema_file())
            .map_err(|reason| HostError::Tool { name: host.name.clone(), reason })?;
        let (running, next_number) = (Mutex::default(), AtomicU64::new(0));
        let turns = Semaphore::new(host.connections);
        Ok(Self { host, catalogue, running, next_number, turns })
    }

    /// Answers one message; nothing for a notification, and for a call that is cancelled before
    /// its end. Answers may be awaited side by side. `tell` is given notifications for the
    /// client, the progress of the call, before the answer.
    pub async fn answer(&self, message: &str, tell: impl Fn(String)) -> Option<String> {
        match mcp::answer(&self.catalogue, message.as_bytes()) {
            Answer::Reply(reply) => Some(reply),
            Answer::Call(call) => self.call(call, tell).await,
            Answer::Cancel(id) => {
                self.running().retain(|_, call| call.id != id);
                None
            }
            Answer::Nothing => None,
        }
    }

    async fn call(&self, call: Call<'_>, tell: impl Fn(String)) -> Option<String> {
        let (cancel, cancelled) = oneshot::channel();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let bytes = call.arguments.len() + CALL_OVERHEAD;
        let open = OpenCall { id: call.id.get().to_owned(), bytes, _cancel: cancel };
        self.running().insert(number, open);
        let _running = Running { inline: self, number };
        let ticket = call.ticket();
        let outcome = tokio::select! {
            outcome = self.run(&call, &ticket, tell) => Some(outcome),
            _ = cancelled => None,
        };
        let line = match &outcome? {
            Ok(result) => ticket.result(Json::from(&**result)).into_line(),
            Err(error) => ticket.error(&error.payload()).into_line(),
        };
        String::from_utf8(line).ok()
    }

    async fn run(
        &self,
        call: &Call<'_>,
        ticket: &Ticket,
        tell: impl Fn(String),
    ) -> Result<Box<RawValue>, ToolError> {
        let bytes: usize = self.running().values().map(|call| call.bytes).sum();
        if bytes > MOST_CALL_BYTES {
            let message = "too many calls are waiting: call again when some have been answered";
            return Err(ToolError::named(error_type::CONNECTION, message));
        }
        let _turn = self.turns.acquire().await?;
        let facts = CallFacts {
            arguments: RawValue::from_string(call.arguments.to_owned())?,
            meta: call.meta.and_then(Json::to_boxed),
            input_responses: call.retry.input_responses.and_then(Json::to_boxed),
            request_state: call.retry.request_state.and_then(Json::to_boxed),
        };
        let (news, mut reports) = mpsc::channel(NEWS);
        let news = ticket.wants_progress().then_some(news);
        let run = self.host.run(&call.name, facts, news);
        tokio::pin!(run);
        let mut told = None;
        let mut report = |report: Vec<u8>| {
            if let Some(line) = told_progress(ticket, &report, &mut told) {
                tell(line);
            }
        };
        let outcome = loop {
            tokio::select! {
                // Reports come first: they were made before the outcome.
                biased;
                Some(news) = reports.recv() => report(news),
                outcome = &mut run => break outcome,
            }
        };
        while let Ok(news) = reports.try_recv() {
            report(news);
        }
        Ok(to_raw_value(&outcome?)?)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, OpenCall>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notification of a report, if there is more of it than was told before.
fn told_progress(ticket: &Ticket, report: &[u8], told: &mut Option<f64>) -> Option<String> {
    let Ok(Response::Progress(progress)) = Response::decode(report) else { return None };
    if told.is_some_and(|told| progress.progress <= told) {
        return None;
    }
    *told = Some(progress.progress);
    String::from_utf8(ticket.progress(&progress)?).ok()
}
