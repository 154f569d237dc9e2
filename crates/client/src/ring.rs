//! The last of what happened, for watchers that come late.

use std::collections::VecDeque;

use crate::{Seen, Watched};

/// Where a watcher begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// With what happens from now on.
    Now,
    /// With the oldest that is kept.
    Oldest,
    /// With what follows this number: where an earlier watcher has stopped.
    After(u64),
}

/// Numbered events, the oldest dropped when they are too many bytes.
#[derive(Debug)]
pub(crate) struct Ring {
    kept: VecDeque<(usize, Watched)>,
    bytes: usize,
    limit: usize,
    /// The number of the next event.
    next: u64,
}

impl Ring {
    /// Keeps so many bytes, and always the last event.
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, limit, next: 1 }
    }

    /// Takes in what happened.
    pub(crate) fn push(&mut self, epoch: u64, what: Seen, size: usize) {
        self.kept.push_back((size, Watched { epoch, seq: self.next, what }));
        self.next += 1;
        self.bytes += size;
        while self.bytes > self.limit && self.kept.len() > 1 {
            let dropped = self.kept.pop_front();
            self.bytes -= dropped.map_or(0, |(size, _)| size);
        }
    }

    /// The number with which a watcher begins. A number that was never given is another
    /// client's: the watcher gets all that is kept.
    pub(crate) fn begin(&self, from: Since) -> u64 {
        match from {
            Since::Now => self.next,
            Since::After(seq) if seq < self.next => seq + 1,
            Since::After(_) => 0,
            Since::Oldest => self.oldest(),
        }
    }

    /// What a watcher gets that waits for `wanted`: that event, or how many it has missed.
    pub(crate) fn get(&self, wanted: u64) -> Option<Watched> {
        let oldest = self.oldest();
        if wanted < oldest || wanted == 0 {
            let epoch = self.kept.front().map_or(0, |(_, watched)| watched.epoch);
            let (from, to) = (wanted, oldest - 1);
            return Some(Watched { epoch, seq: to, what: Seen::Missed { from, to } });
        }
        let index = usize::try_from(wanted - oldest).ok()?;
        self.kept.get(index).map(|(_, watched)| watched.clone())
    }

    fn oldest(&self) -> u64 {
        self.next - self.kept.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn ring(sizes: &[usize]) -> Ring {
        let mut ring = Ring::new(100);
        for size in sizes {
            ring.push(1, Seen::State(State::Starting), *size);
        }
        ring
    }

    /// All that a watcher gets, `m` for what was missed.
    fn seen(ring: &Ring, from: Since) -> String {
        let mut wanted = ring.begin(from);
        let mut seen = Vec::new();
        while let Some(watched) = ring.get(wanted) {
            wanted = watched.seq + 1;
            seen.push(match watched.what {
                Seen::Missed { from, to } => format!("m{from}-{to}"),
                _ => watched.seq.to_string(),
            });
        }
        seen.join(" ")
    }

    #[test]
    fn a_late_watcher_gets_what_is_kept_and_hears_what_is_not() {
        let check = |sizes: &[usize], from, expected: &str| {
            assert_eq!(seen(&ring(sizes), from), expected, "{sizes:?} {from:?}");
        };
        check(&[], Since::Oldest, "");
        check(&[], Since::After(0), "");
        check(&[10, 10, 10], Since::Oldest, "1 2 3");
        check(&[10, 10, 10], Since::After(0), "1 2 3");
        check(&[10, 10, 10], Since::After(2), "3");
        check(&[10, 10, 10], Since::After(3), "");
        check(&[10, 10, 10], Since::Now, "");
        check(&[50, 50, 50], Since::After(1), "2 3");
        check(&[50, 50, 50], Since::After(0), "m1-1 2 3");
        check(&[50, 50, 50, 50], Since::After(0), "m1-2 3 4");
        check(&[50, 50, 50], Since::Oldest, "2 3");
        // One that is larger than everything is kept until there is another.
        check(&[10, 1000], Since::Oldest, "2");
        check(&[10, 1000, 10], Since::Oldest, "3");
        // Numbers of another client.
        check(&[10, 10], Since::After(77), "m0-0 1 2");
        check(&[10, 10], Since::After(u64::MAX), "m0-0 1 2");
    }
}
