//! The limits for browsers.

use std::time::Duration;

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
