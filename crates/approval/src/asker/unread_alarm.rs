//! Notices that a desk does not read a question.

use std::cell::Cell;
use std::fmt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use callgate_link::hangup::{Receipt, peer_receipt};

/// Something that is done once if the desk has not read the question by a certain time. A desk that
/// has read it is at work, or asks a person.
pub struct UnreadAlarm<'a> {
    at: Instant,
    ring: &'a dyn Fn(),
    is_over: Cell<bool>,
}

impl<'a> UnreadAlarm<'a> {
    /// Creates an alarm that calls `ring` on the asker's thread, after this time.
    pub fn after(time: Duration, ring: &'a dyn Fn()) -> Self {
        Self { at: Instant::now() + time, ring, is_over: Cell::new(false) }
    }

    /// Rings if it is time and the question is unread. Returns when it will be time.
    pub(super) fn ring_if_due(&self, stream: Option<&UnixStream>) -> Option<Instant> {
        if self.is_over.get() {
            return None;
        }
        if Instant::now() < self.at {
            return Some(self.at);
        }
        self.is_over.set(true);
        // Without a connection nothing was sent yet.
        if stream.is_none_or(|stream| peer_receipt(stream) == Receipt::Unread) {
            (self.ring)();
        }
        None
    }
}

impl fmt::Debug for UnreadAlarm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnreadAlarm").field("at", &self.at).finish_non_exhaustive()
    }
}
