//! The host as an MCP server inside the process: for a client that speaks MCP over a channel of
//! its own and needs no bridge.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_wire::raw::Json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;

use super::{Host, HostError, ToolError};
use crate::mcp::{self, Answer, Call, Catalogue};

/// A host that answers MCP messages directly. The same tools give the same results as through
/// the bridge.
#[derive(Debug)]
pub struct Inline {
    host: Host,
    catalogue: Catalogue,
    running: Mutex<HashMap<u64, (String, oneshot::Sender<()>)>>,
    next_number: AtomicU64,
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
        Ok(Self { host, catalogue, running: Mutex::default(), next_number: AtomicU64::new(0) })
    }

    /// Answers one message; nothing for a notification, and for a call that is cancelled before
    /// its end. Answers may be awaited side by side.
    pub async fn answer(&self, message: &str) -> Option<String> {
        match mcp::answer(&self.catalogue, message.as_bytes()) {
            Answer::Reply(reply) => Some(reply),
            Answer::Call(call) => self.call(call).await,
            Answer::Cancel(id) => {
                // Whoever waits for the call sees its other end go.
                self.running().retain(|_, (running, _)| running != id);
                None
            }
            Answer::Nothing => None,
        }
    }

    async fn call(&self, call: Call<'_>) -> Option<String> {
        let (cancel, cancelled) = oneshot::channel();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        self.running().insert(number, (call.id.get().to_owned(), cancel));
        let _running = Running { inline: self, number };
        let outcome = tokio::select! {
            outcome = self.run(&call) => Some(outcome),
            _ = cancelled => None,
        };
        let ticket = call.ticket();
        let line = match &outcome? {
            Ok(result) => ticket.result(Json::from(&**result)).into_line(),
            Err(error) => ticket.error(&error.payload()).into_line(),
        };
        String::from_utf8(line).ok()
    }

    async fn run(&self, call: &Call<'_>) -> Result<Box<RawValue>, ToolError> {
        let arguments = RawValue::from_string(call.arguments.to_owned())?;
        let meta = call.meta.and_then(Json::to_boxed);
        let result = self.host.run(&call.name, arguments, meta, None).await?;
        Ok(to_raw_value(&result)?)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, (String, oneshot::Sender<()>)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
