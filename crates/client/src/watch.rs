//! Watching everything that happens in a session.

use std::sync::Arc;

use tokio::sync::watch::Receiver;

use crate::ring::WatchStart;
use crate::shared::ClientHandle;
use crate::{WatchedEvent, WatchedItem};

/// Yields everything that happens in a session: requests, their events, and the state of the
/// process.
///
/// A slow watcher delays no one. Items that are no longer kept when it reads them are replaced by
/// [`WatchedItem::Missed`].
#[derive(Debug)]
pub struct SessionWatch {
    wanted: u64,
    seen: Receiver<u64>,
    handle: Arc<ClientHandle>,
}

impl SessionWatch {
    pub(crate) fn new(handle: Arc<ClientHandle>, since: WatchStart) -> Self {
        let (wanted, seen) = handle.shared.start_watch(since);
        Self { wanted, seen, handle }
    }

    /// Waits for the next item; `None` when the session is over. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<WatchedEvent> {
        loop {
            // Before the look, so that an item that is added after it wakes this watch.
            self.seen.mark_unchanged();
            match self.handle.shared.find_item(self.wanted) {
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

    /// Waits for an item that `wanted` accepts, and ignores the others.
    pub async fn wait_for_item<T>(
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
