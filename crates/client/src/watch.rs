//! Everything that happens, for a screen.

use std::sync::Arc;

use tokio::sync::watch::Receiver;

use crate::ring::WatchStart;
use crate::shared::ClientHandle;
use crate::{WatchedEvent, WatchedItem};

/// Everything that happens in a session: what is asked, what comes of it, and how the process is.
///
/// A watcher that is slow holds up nobody; what is no longer kept when it comes to it, it hears
/// as [`WatchedItem::Missed`].
#[derive(Debug)]
pub struct SessionWatch {
    wanted: u64,
    seen: Receiver<u64>,
    handle: Arc<ClientHandle>,
}

impl SessionWatch {
    pub(crate) fn new(handle: Arc<ClientHandle>, since: WatchStart) -> Self {
        let (wanted, seen) = handle.shared.watch(since);
        Self { wanted, seen, handle }
    }

    /// Returns what happens next; `None` when the session is over. A call that is dropped loses
    /// nothing.
    pub async fn next(&mut self) -> Option<WatchedEvent> {
        loop {
            self.seen.mark_unchanged();
            match self.handle.shared.look(self.wanted) {
                (Some(watched), _) => {
                    self.wanted = watched.seq + 1;
                    return Some(watched);
                }
                (None, false) => return None,
                // The sender lives as long as the handle.
                (None, true) => self.seen.changed().await.ok()?,
            }
        }
    }

    /// Waits for something in particular, and passes over the rest.
    pub async fn find<T>(
        &mut self,
        mut wanted: impl FnMut(&WatchedItem) -> Option<T>,
    ) -> Option<T> {
        while let Some(watched) = self.next().await {
            if let Some(found) = wanted(&watched.what) {
                return Some(found);
            }
        }
        None
    }
}
