//! What late watchers get.

use super::*;
use crate::RuntimeState;

fn ring(sizes: &[usize]) -> EventRing {
    let mut ring = EventRing::new(100);
    for size in sizes {
        ring.push(1, WatchedItem::State(RuntimeState::Starting), *size);
    }
    ring
}

/// Returns all that a watcher gets, `m` for what was missed.
fn seen(ring: &EventRing, from: WatchStart) -> String {
    let mut wanted = ring.start_number(from);
    let mut seen = Vec::new();
    while let Some(watched) = ring.get(wanted) {
        wanted = watched.seq + 1;
        seen.push(match watched.what {
            WatchedItem::Missed { from, to } => format!("m{from}-{to}"),
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
    check(&[], WatchStart::Oldest, "");
    check(&[], WatchStart::After(0), "");
    check(&[10, 10, 10], WatchStart::Oldest, "1 2 3");
    check(&[10, 10, 10], WatchStart::After(0), "1 2 3");
    check(&[10, 10, 10], WatchStart::After(2), "3");
    check(&[10, 10, 10], WatchStart::After(3), "");
    check(&[10, 10, 10], WatchStart::Now, "");
    check(&[50, 50, 50], WatchStart::After(1), "2 3");
    check(&[50, 50, 50], WatchStart::After(0), "m1-1 2 3");
    check(&[50, 50, 50, 50], WatchStart::After(0), "m1-2 3 4");
    check(&[50, 50, 50], WatchStart::Oldest, "2 3");
    // One that is larger than everything is kept until there is another.
    check(&[10, 1000], WatchStart::Oldest, "2");
    check(&[10, 1000, 10], WatchStart::Oldest, "3");
    // Numbers of another client.
    check(&[10, 10], WatchStart::After(77), "m0-0 1 2");
    check(&[10, 10], WatchStart::After(u64::MAX), "m0-0 1 2");
}
