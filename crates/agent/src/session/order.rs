//! The order of what is said about requests. Pure: it only remembers.
//!
//! All that leaves the runtime passes here, so that whatever the rest does, a request has exactly
//! one end, nothing follows it, and a tool's result follows the announcement of that tool.

use std::collections::{HashMap, HashSet};

use callgate_wire::session::Event;

/// How many requests may be open at once.
pub const MOST_OPEN: usize = 64;

/// The requests that have no end yet, each with its tools that have no result yet.
#[derive(Debug, Default)]
pub(crate) struct Order {
    open: HashMap<String, HashSet<String>>,
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// Two requests of one name could not be told apart.
    #[error(
        "a request with this id is still open, so this second one was not taken: give every \
         request an id of its own"
    )]
    Duplicate,
    /// There are too many.
    #[error("{MOST_OPEN} requests are open already: wait until one of them ends")]
    TooMany,
}

impl Order {
    /// Takes a request in.
    pub(crate) fn begin(&mut self, id: &str) -> Result<(), Refused> {
        if self.open.contains_key(id) {
            return Err(Refused::Duplicate);
        }
        if self.open.len() >= MOST_OPEN {
            return Err(Refused::TooMany);
        }
        self.open.insert(id.to_owned(), HashSet::new());
        Ok(())
    }

    /// Whether this may be said now.
    pub(crate) fn admits(&mut self, id: &str, event: &Event) -> bool {
        let Some(tools) = self.open.get_mut(id) else { return false };
        match event {
            Event::ToolUse(call) => tools.insert(call.tool_id.clone()),
            Event::ToolResult(call) => tools.remove(&call.tool_id),
            Event::ToolProgress(call) => tools.contains(&call.tool_id),
            event if event.is_end() => self.open.remove(id).is_some(),
            _ => true,
        }
    }

    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// The requests without an end.
    pub(crate) fn unfinished(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.open.keys().cloned().collect();
        ids.sort();
        ids
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
