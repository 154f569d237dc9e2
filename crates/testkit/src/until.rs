//! Waits for what happens in other processes and threads.

use std::thread;
use std::time::{Duration, Instant};

use crate::process::DEADLINE;

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(5);

/// What a look finds: whether something is so, or something that may not be there yet.
pub trait Sighting {
    type Found;

    fn found(self) -> Option<Self::Found>;
}

impl Sighting for bool {
    type Found = ();

    fn found(self) -> Option<()> {
        self.then_some(())
    }
}

impl<T> Sighting for Option<T> {
    type Found = T;

    fn found(self) -> Option<T> {
        self
    }
}

/// Waits until `look` finds something, and returns it. Fails with `what` if that does not come.
#[track_caller]
pub fn until<S: Sighting>(what: &str, look: impl FnMut() -> S) -> S::Found {
    until_or(|| what.to_owned(), look)
}

/// Like [`until`]; fails with what `otherwise` then says.
#[track_caller]
pub fn until_or<S: Sighting>(
    otherwise: impl Fn() -> String,
    mut look: impl FnMut() -> S,
) -> S::Found {
    let end = Instant::now() + 4 * DEADLINE;
    loop {
        if let Some(found) = look().found() {
            return found;
        }
        assert!(Instant::now() < end, "never came: {}", otherwise());
        thread::sleep(PAUSE);
    }
}
