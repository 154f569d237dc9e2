//! The last events, for watchers that start late.

use std::collections::VecDeque;

use crate::{WatchedEvent, WatchedItem};

/// Where a watcher begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchStart {
    /// With the next event.
    Now,
    /// With the oldest event that is kept.
    Oldest,
    /// After the event with this number, where an earlier watcher stopped.
    After(u64),
}

/// Numbered events. The oldest are dropped when they exceed the limit.
#[derive(Debug)]
pub(crate) struct EventRing {
    kept: VecDeque<(usize, WatchedEvent)>,
    bytes: usize,
    limit: usize,
    next: u64,
}

impl EventRing {
    /// Creates a ring that keeps at most `limit` bytes, and always the last event.
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, limit, next: 1 }
    }

    pub(crate) fn push(&mut self, epoch: u64, what: WatchedItem, size: usize) {
        self.kept.push_back((size, WatchedEvent { epoch, seq: self.next, what }));
        self.next += 1;
        self.bytes += size;
        while self.bytes > self.limit && self.kept.len() > 1 {
            let dropped = self.kept.pop_front();
            self.bytes -= dropped.map_or(0, |(size, _)| size);
        }
    }

    /// Returns the number with which a watcher begins. A number that was never used belongs to
    /// another client, and the watcher gets all that is kept.
    pub(crate) fn start_number(&self, from: WatchStart) -> u64 {
        match from {
            WatchStart::Now => self.next,
            WatchStart::After(seq) if seq < self.next => seq + 1,
            WatchStart::After(_) => 0,
            WatchStart::Oldest => self.oldest(),
        }
    }

    /// Returns the event with the number `wanted`, or how many events the watcher has missed.
    pub(crate) fn get(&self, wanted: u64) -> Option<WatchedEvent> {
        let oldest = self.oldest();
        if wanted < oldest || wanted == 0 {
            let epoch = self.kept.front().map_or(0, |(_, watched)| watched.epoch);
            let (from, to) = (wanted, oldest - 1);
            return Some(WatchedEvent { epoch, seq: to, what: WatchedItem::Missed { from, to } });
        }
        let index = usize::try_from(wanted - oldest).ok()?;
        self.kept.get(index).map(|(_, watched)| watched.clone())
    }

    fn oldest(&self) -> u64 {
        self.next - self.kept.len() as u64
    }
}

#[cfg(test)]
mod tests;
