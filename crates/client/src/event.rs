//! What happens, as front ends see it.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::{RuntimeReady, SessionReply, SessionRequest};

use crate::ClientError;

/// What happened about a request.
#[derive(Debug, Clone)]
pub enum RequestEvent {
    /// The runtime said something.
    Said(Arc<SessionReply>),
    /// The client gave the request up. Nothing follows.
    Failed(ClientError),
}

impl RequestEvent {
    /// Returns true if this is the last that happens about its request.
    #[must_use]
    pub fn is_end(&self) -> bool {
        match self {
            Self::Said(reply) => reply.event.is_end(),
            Self::Failed(_) => true,
        }
    }
}

/// How the runtime's process is.
#[derive(Debug, Clone)]
pub enum RuntimeState {
    /// It is being started.
    Starting,
    /// It has said that it is ready.
    Ready(Arc<RuntimeReady>),
    /// It has died, could not be started, or had to be ended.
    Died {
        /// How it ended, where that is known.
        status: Option<ExitStatus>,
        /// What was wrong, for a person.
        why: Arc<str>,
        /// The last line that it wrote on stderr, secrets masked.
        last_words: Option<String>,
    },
    /// It is started again after a while.
    Restarting {
        /// After how long.
        within: Duration,
    },
    /// It has died so often that it is not started again, unless somebody says so.
    GivenUp,
    /// The client was closed, and the process is gone.
    Ended,
}

/// Something that a [`SessionWatch`](crate::Watch) tells, with its number.
#[derive(Debug, Clone)]
pub struct WatchedEvent {
    /// In which life of the runtime: 1 for the first process, 2 for the next.
    pub epoch: u64,
    /// The number of what is told; it goes on over all lives. Watching
    /// [after](crate::Since::After) this number goes on here.
    pub seq: u64,
    /// What is told.
    pub what: WatchedItem,
}

/// What a [`SessionWatch`](crate::Watch) tells.
#[derive(Debug, Clone)]
pub enum WatchedItem {
    /// How the process is now.
    State(RuntimeState),
    /// A request was sent.
    Asked(Arc<SessionRequest>),
    /// Something happened about a request.
    Happened {
        /// The request's id.
        id: Arc<str>,
        /// What happened.
        happened: RequestEvent,
    },
    /// What is between these numbers is no longer kept. Somebody who has to know it loads the
    /// conversation.
    Missed {
        /// The first number that is missing.
        from: u64,
        /// The last.
        to: u64,
    },
}

/// How much of what the runtime wrote was of no use, since the client was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Lines that are no message: not JSON, not UTF-8, or with a field missing.
    pub unreadable: u64,
    /// Lines over the limit.
    pub too_long: u64,
    /// Messages of kinds that are not known here.
    pub unknown: u64,
    /// Messages about requests that are not open.
    pub stray: u64,
    /// Messages whose number had been there.
    pub repeated: u64,
    /// How often numbers were missing.
    pub gaps: u64,
}
