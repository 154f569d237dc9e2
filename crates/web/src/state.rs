//! What the handlers of requests share, and the limits for browsers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use callgate_client::ChatRuntimes;
use tokio::sync::Semaphore;

use crate::sessions::PageSessions;

#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    pub connections: usize,
    /// How many event streams there may be. Each needs two of the desk's places for viewers.
    pub streams: usize,
    /// How long a request's head may take, and how long a connection may be idle.
    pub head_within: Duration,
    /// How long a request's body may take.
    pub body_within: Duration,
    /// How long a browser may read nothing of what is sent to it.
    pub read_within: Duration,
    /// How often an event stream shows that it lives.
    pub heartbeat: Duration,
    /// How long the runtime of the chat stays after the last page has gone.
    pub linger: Duration,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            connections: 128,
            streams: 24,
            head_within: Duration::from_secs(20),
            body_within: Duration::from_secs(20),
            read_within: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            linger: Duration::from_mins(1),
        }
    }
}

/// What the handlers of requests share.
#[derive(Debug, Clone)]
pub(crate) struct PageState {
    pub(crate) limits: PageLimits,
    pub(crate) sessions: Arc<PageSessions>,
    /// The runtime of the chat; `None` if this host starts none.
    pub(crate) chats: Option<Arc<ChatRuntimes>>,
    /// The folder of a runtime for which a page names none.
    pub(crate) home: Option<PathBuf>,
    /// The places for event streams.
    pub(crate) streams: Arc<Semaphore>,
}
