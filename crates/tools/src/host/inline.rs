//! The host as an MCP server inside the process, for a client that speaks MCP over a channel of its
//! own and needs no bridge.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_link::sync::lock;
use callgate_wire::raw::Json;
use callgate_wire::tools::{CallProgress, error_type};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::context::{CallFacts, MOST_REPORTS};
use super::{Host, HostError, ToolError};
use crate::mcp::{self, CallTicket, Catalogue, McpAction, McpCall};

/// How many bytes of calls may run or wait for their turn at once.
const MOST_CALL_BYTES: usize = 64 * 1024 * 1024;
/// Roughly how many bytes a call takes beside its arguments.
const CALL_OVERHEAD: usize = 1024;

/// A host that answers MCP messages directly. The tools return the same results as through the
/// bridge.
#[derive(Debug)]
pub struct InlineServer {
    host: Host,
    catalogue: Catalogue,
    /// The calls by numbers of ours, because a client may give two calls the same id.
    running: Mutex<HashMap<u64, OpenCall>>,
    next_number: AtomicU64,
    /// Limits the calls that run at once to the number of connections that a bridge may have.
    turns: Semaphore,
}

/// A call that runs or waits for its turn.
#[derive(Debug)]
struct OpenCall {
    id: String,
    bytes: usize,
    /// Dropped when the call is cancelled, which wakes whoever waits for it.
    _cancel: oneshot::Sender<()>,
}

/// A call that is registered until this is dropped, so that it can be cancelled.
struct RegisteredCall<'a> {
    inline: &'a InlineServer,
    number: u64,
}

impl Drop for RegisteredCall<'_> {
    fn drop(&mut self) {
        lock(&self.inline.running).remove(&self.number);
    }
}

impl InlineServer {
    pub(super) fn new(host: Host) -> Result<Self, HostError> {
        // By way of the schema file, so that a client gets the same list as through a bridge.
        let (catalogue, _) = Catalogue::from_schema_file(&host.schema_file())
            .map_err(|reason| HostError::Tool { name: host.name.clone(), reason })?;
        let (running, next_number) = (Mutex::default(), AtomicU64::new(0));
        let turns = Semaphore::new(host.connections);
        Ok(Self { host, catalogue, running, next_number, turns })
    }

    /// Answers one message. Returns `None` for a notification, and for a call that is cancelled
    /// before its end. Several answers may be awaited concurrently. `tell` receives notifications
    /// for the client, such as a call's progress, before the answer.
    pub async fn answer(&self, message: &str, tell: impl Fn(String)) -> Option<String> {
        match mcp::answer(&self.catalogue, message.as_bytes()) {
            McpAction::Reply(reply) => Some(reply),
            McpAction::Call(call) => self.answer_call(call, tell).await,
            McpAction::Cancel(id) => {
                lock(&self.running).retain(|_, call| call.id != id);
                None
            }
            McpAction::Nothing => None,
        }
    }

    async fn answer_call(&self, call: McpCall<'_>, tell: impl Fn(String)) -> Option<String> {
        let (cancel, cancelled) = oneshot::channel();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let bytes = call.arguments.get().len() + CALL_OVERHEAD;
        let open = OpenCall { id: call.id.get().to_owned(), bytes, _cancel: cancel };
        // It is registered before it waits for its turn, so that it can be cancelled meanwhile.
        lock(&self.running).insert(number, open);
        let _running = RegisteredCall { inline: self, number };
        let ticket = call.ticket();
        let outcome = tokio::select! {
            outcome = self.run_call(&call, &ticket, tell) => Some(outcome),
            _ = cancelled => None,
        };
        let line = match &outcome? {
            Ok(result) => ticket.result_reply(Json::from(&**result)).into_line(),
            Err(error) => ticket.error_reply(&error.payload()).into_line(),
        };
        String::from_utf8(line).ok()
    }

    async fn run_call(
        &self,
        call: &McpCall<'_>,
        ticket: &CallTicket,
        tell: impl Fn(String),
    ) -> Result<Box<RawValue>, ToolError> {
        let bytes: usize = lock(&self.running).values().map(|call| call.bytes).sum();
        if bytes > MOST_CALL_BYTES {
            let message = "too many calls are waiting: call again when some have been answered";
            return Err(ToolError::named(error_type::CONNECTION, message));
        }
        let _turn = self.turns.acquire().await?;
        let facts = CallFacts::copy(call.arguments, call.meta, &call.retry)?;
        let (news, mut reports) = mpsc::channel(MOST_REPORTS);
        let news = ticket.wants_progress().then_some(news);
        let run = self.host.run_call(&call.name, facts, news);
        tokio::pin!(run);
        let mut last = f64::NEG_INFINITY;
        let mut report = |report: CallProgress<'static>| {
            // A report counts only if it says more than the last one.
            if report.progress > last {
                last = report.progress;
                ticket
                    .progress_notification(&report)
                    .and_then(|l| String::from_utf8(l).ok())
                    .map(&tell);
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
        // The tool may have reported something just before it ended.
        while let Ok(news) = reports.try_recv() {
            report(news);
        }
        Ok(to_raw_value(&outcome?)?)
    }
}
