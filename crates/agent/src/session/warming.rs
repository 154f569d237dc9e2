//! What a runtime prepares while the first answer arrives, so that the first tool need not wait.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use super::SessionShared;

/// How many threads are started for tools before the first one is called. A call uses several, one
/// after another, and one that has just finished is not free yet.
const SPARE_THREADS: usize = 2;
/// How long each of them is busy at first: longer than it takes to start the next.
const STARTING: Duration = Duration::from_millis(1);

impl SessionShared {
    /// Prepares what the first use of a tool would have to wait for. A runtime that nobody asks
    /// does without it.
    pub(super) fn warm(&self) {
        self.warming.call_once(|| {
            let (gate, ledger) = (Arc::clone(&self.options.gate), self.options.ledger.clone());
            tokio::task::spawn_blocking(move || gate.warm());
            for _ in 0..SPARE_THREADS {
                // A task gets a thread of its own only while the others are busy.
                tokio::task::spawn_blocking(|| sleep(STARTING));
            }
            tokio::spawn(async move { ledger.prepare_ledger().await });
        });
    }
}
