//! The unread events of a request.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use tokio::sync::Notify;

use crate::{ClientError, RequestEvent};

/// The unread events of one request. Its end comes last and exactly once.
#[derive(Debug)]
pub(crate) struct EventQueue {
    backlog: Mutex<EventBacklog>,
    has_more: Notify,
    /// Notified whenever an event was read.
    was_read: Arc<Notify>,
    /// The bytes in the queues of all requests.
    in_all: Arc<AtomicUsize>,
}

#[derive(Debug, Default)]
struct EventBacklog {
    events: VecDeque<(usize, RequestEvent)>,
    bytes: usize,
    /// Whether the end was added.
    is_over: bool,
    /// Whether nobody reads the queue any more.
    is_left: bool,
}

impl EventQueue {
    pub(crate) fn new(was_read: Arc<Notify>, in_all: Arc<AtomicUsize>) -> Self {
        Self { backlog: Mutex::default(), has_more: Notify::new(), was_read, in_all }
    }

    /// Adds an event. After the end it is ignored.
    pub(crate) fn push(&self, happened: RequestEvent, size: usize) {
        let mut backlog = lock(&self.backlog);
        if backlog.is_over || backlog.is_left {
            return;
        }
        backlog.is_over = happened.is_end();
        backlog.bytes += size;
        backlog.events.push_back((size, happened));
        self.in_all.fetch_add(size, Ordering::Relaxed);
        drop(backlog);
        self.has_more.notify_one();
    }

    /// Waits for the next event; `None` after the end. Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> Option<RequestEvent> {
        loop {
            {
                let mut backlog = lock(&self.backlog);
                if let Some((size, happened)) = backlog.events.pop_front() {
                    backlog.bytes -= size;
                    drop(backlog);
                    self.in_all.fetch_sub(size, Ordering::Relaxed);
                    self.was_read.notify_one();
                    return Some(happened);
                }
                if backlog.is_over {
                    return None;
                }
            }
            // `notify_one` leaves a permit if nobody waits, so an event that was added since the
            // look is not missed.
            self.has_more.notified().await;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        lock(&self.backlog).bytes
    }

    /// Replaces all unread events by a failure, unless the end was read.
    pub(crate) fn give_up(&self, error: ClientError) {
        let mut backlog = lock(&self.backlog);
        let was_read = backlog.is_over && backlog.events.is_empty();
        self.drop_unread(&mut backlog);
        if !was_read && !backlog.is_left {
            backlog.is_over = true;
            backlog.events.push_back((0, RequestEvent::Failed(error)));
        }
        drop(backlog);
        self.has_more.notify_one();
    }

    /// Notes that nobody reads the queue any more.
    pub(crate) fn mark_left(&self) {
        let mut backlog = lock(&self.backlog);
        backlog.is_left = true;
        self.drop_unread(&mut backlog);
        drop(backlog);
        // What nobody will read counts no more, so the runtime's output may be read again.
        self.was_read.notify_one();
    }

    fn drop_unread(&self, backlog: &mut EventBacklog) {
        self.in_all.fetch_sub(backlog.bytes, Ordering::Relaxed);
        backlog.bytes = 0;
        backlog.events.clear();
    }
}

#[cfg(test)]
mod tests;
