//! The events of a client.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::{RuntimeReady, SessionReply, SessionRequest};

use crate::ClientError;

#[derive(Debug, Clone)]
pub enum RequestEvent {
    Said(Arc<SessionReply>),
    /// The request has failed. Nothing follows.
    Failed(ClientError),
}

impl RequestEvent {
    pub fn is_end(&self) -> bool {
        match self {
            Self::Said(reply) => reply.event.is_end(),
            Self::Failed(_) => true,
        }
    }
}

#[derive(Debug, Clone)]
pub enum RuntimeState {
    Starting,
    Ready(Arc<RuntimeReady>),
    /// It has died, could not be started, or had to be ended.
    Died {
        status: Option<ExitStatus>,
        /// The reason, for a person.
        reason: Arc<str>,
        /// The last line that it wrote to stderr, with secrets masked.
        last_words: Option<String>,
    },
    /// It will be started again.
    Restarting {
        /// The pause before that.
        within: Duration,
    },
    /// It has died so often that it is only started again on request.
    GivenUp,
    /// The client is closed, and the process is gone.
    Ended,
}

/// A numbered item of a [`SessionWatch`](crate::SessionWatch).
#[derive(Debug, Clone)]
pub struct WatchedEvent {
    /// The number of the process: 1 for the first, 2 for the next.
    pub epoch: u64,
    /// The number of the item, which continues over all processes. Watching
    /// [after](crate::WatchStart::After) this number continues here.
    pub seq: u64,
    pub what: WatchedItem,
}

/// An item of a [`SessionWatch`](crate::SessionWatch).
#[derive(Debug, Clone)]
pub enum WatchedItem {
    State(RuntimeState),
    Asked(Arc<SessionRequest>),
    Happened {
        id: Arc<str>,
        happened: RequestEvent,
    },
    /// The items between these numbers are no longer kept. Load the conversation to see their
    /// effect.
    Missed {
        /// The number of the first missing item.
        from: u64,
        /// The number of the last one.
        to: u64,
    },
}

/// How many lines of the runtime were ignored since the client was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Lines that are not messages: not JSON, not UTF-8, or with a missing field.
    pub unreadable: u64,
    /// Lines over the limit.
    pub too_long: u64,
    /// Messages of unknown kinds.
    pub unknown: u64,
    /// Messages about requests that are not open.
    pub stray: u64,
    /// Messages whose number was received before.
    pub repeated: u64,
    /// How often numbers were missing.
    pub gaps: u64,
}
