//! Readings of the members for strangers, who may have been invited a moment ago.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// How old the list of members may be when a stranger comes. Strangers cannot have the ledger read
/// more often than that.
const STALE_AFTER: Duration = Duration::from_secs(1);

/// The readings so far. The lock is held while the members are read.
#[derive(Debug, Default)]
pub(super) struct StrangerReadings(Mutex<LastReadings>);

#[derive(Debug, Default)]
struct LastReadings {
    /// When the last one began.
    began: Option<Instant>,
    /// When the last one began that has come to its end: a stranger who disconnects takes the
    /// reading along.
    complete: Option<Instant>,
}

impl StrangerReadings {
    /// Reads the members for a stranger, but not for each of many strangers.
    pub(super) async fn read_if_stale(&self, reading: impl Future<Output = ()>) {
        // This is before the lock, so that a reading that began while this stranger waited counts
        // for them.
        let came = Instant::now();
        let mut last = self.0.lock().await;
        if last.complete.is_some_and(|began| began >= came) {
            // Another stranger has waited for the same.
            return;
        }
        let left = last.began.map(|began| STALE_AFTER.saturating_sub(began.elapsed()));
        tokio::time::sleep(left.unwrap_or_default()).await;
        // Before the members are read: whoever comes during the reading may have been invited too
        // late for it.
        let began = Instant::now();
        last.began = Some(began);
        reading.await;
        last.complete = Some(began);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn a_stranger_who_disconnects_takes_the_reading_from_nobody() {
        let (readings, count) = (StrangerReadings::default(), Cell::new(0));
        let reading = || async { count.set(count.get() + 1) };
        {
            let mut gone = Box::pin(readings.read_if_stale(pending()));
            let mut waits = pin!(readings.read_if_stale(reading()));
            // Both have come before the first reading ends, which it never does.
            tokio::select! {
                biased;
                () = &mut gone => panic!("it never ends"),
                () = &mut waits => panic!("the first one reads"),
                () = async {} => {}
            }
            drop(gone);
            waits.await;
        }
        assert_eq!(count.get(), 1);
        // Of those who wait together, one reads.
        tokio::join!(readings.read_if_stale(reading()), readings.read_if_stale(reading()));
        assert_eq!(count.get(), 2);
    }
}
