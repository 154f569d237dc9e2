//! The tasks in which the tools of a turn run.

use std::collections::HashMap;
use std::sync::Arc;

use callgate_store::EntryDraft;
use tokio::task::{AbortHandle, Id, JoinError};

use super::{DriverEvent, TurnDriver};
use crate::session::calls::tool_call::{self, CallReport};
use crate::turn::ToolCall;

impl TurnDriver<'_> {
    pub(super) fn start_tool(&mut self, wanted: ToolCall) {
        let index = wanted.index;
        let run = tool_call::run_tool_call(Arc::clone(self.shared), self.origin.clone(), wanted);
        let handle = self.uses.spawn(run);
        self.running.insert(handle.id(), (index, handle));
    }

    /// Stops tools, and waits until they have released what they hold.
    pub(super) async fn stop_tools(&mut self, calls: &[usize]) {
        for (index, handle) in self.running.values() {
            if calls.contains(index) {
                handle.abort();
            }
        }
        while let Some(ended) = self.uses.join_next().await {
            self.drafts.extend(ended.ok().and_then(|used| used.draft));
        }
        self.running.clear();
    }
}

/// Returns the outcome of a tool, even if it panicked.
pub(super) fn finish_tool(
    running: &mut HashMap<Id, (usize, AbortHandle)>,
    drafts: &mut Vec<EntryDraft>,
    ended: Result<(Id, CallReport), JoinError>,
) -> DriverEvent {
    let (id, CallReport { ran, draft }) = ended.unwrap_or_else(|error| {
        let text = "the tool failed because of a bug in it: try something else";
        (error.id(), CallReport::failed(text))
    });
    drafts.extend(draft);
    // Every call was noted when it began.
    let index = running.remove(&id).map_or(usize::MAX, |(index, _)| index);
    DriverEvent::Ran(index, ran)
}
