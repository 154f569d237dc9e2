//! The host as an MCP server inside the process: for a client that speaks MCP over a channel of
//! its own and needs no bridge.

use std::collections::HashMap;
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
    running: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Inline {
    pub(super) fn new(host: Host) -> Result<Self, HostError> {
        let (catalogue, _) = Catalogue::from_schema_file(&host.schema_file())
            .map_err(|reason| HostError::Tool { name: host.name.clone(), reason })?;
        Ok(Self { host, catalogue, running: Mutex::default() })
    }

    /// Answers one message; nothing for a notification, and for a call that is cancelled before
    /// its end. Answers may be awaited side by side.
    pub async fn answer(&self, message: &str) -> Option<String> {
        match mcp::answer(&self.catalogue, message.as_bytes()) {
            Answer::Reply(reply) => Some(reply),
            Answer::Call(call) => self.call(call).await,
            Answer::Cancel(id) => {
                // Whoever waits for the call sees its other end go.
                self.running().remove(id);
                None
            }
            Answer::Nothing => None,
        }
    }

    async fn call(&self, call: Call<'_>) -> Option<String> {
        let (cancel, cancelled) = oneshot::channel();
        self.running().insert(call.id.get().to_owned(), cancel);
        let outcome = tokio::select! {
            outcome = self.run(&call) => Some(outcome),
            _ = cancelled => None,
        };
        self.running().remove(call.id.get());
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

    fn running(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
