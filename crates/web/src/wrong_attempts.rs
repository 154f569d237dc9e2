//! A limit on wrong keys and codes.

use std::time::{Duration, Instant};

/// How many wrong attempts may be made at once.
const MOST: u32 = 10;
/// How long it takes until one more may be made.
const FORGIVEN_AFTER: Duration = Duration::from_secs(3);

/// Counts wrong attempts, and forgives them one by one as time passes.
#[derive(Debug, Default)]
pub(crate) struct WrongAttempts {
    count: u32,
    /// The time from which the next attempt is forgiven.
    since: Option<Instant>,
}

impl WrongAttempts {
    /// Returns an error with the time to wait if there were too many wrong attempts.
    pub(crate) fn check_wait(&mut self, now: Instant) -> Result<(), Duration> {
        self.forgive(now);
        match self.since {
            Some(since) if self.count >= MOST => Err((since + FORGIVEN_AFTER) - now),
            _ => Ok(()),
        }
    }

    pub(crate) fn add_attempt(&mut self, now: Instant) {
        self.forgive(now);
        self.count += 1;
        // The first counts: further wrong ones do not put off that it is forgiven.
        self.since.get_or_insert(now);
    }

    fn forgive(&mut self, now: Instant) {
        while let Some(since) = self.since.filter(|since| *since + FORGIVEN_AFTER <= now) {
            self.count = self.count.saturating_sub(1);
            self.since = (self.count > 0).then_some(since + FORGIVEN_AFTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_attempts_are_forgiven_one_by_one() {
        let start = Instant::now();
        let mut attempts = WrongAttempts::default();
        for _ in 0..MOST {
            assert_eq!(attempts.check_wait(start), Ok(()));
            attempts.add_attempt(start);
        }
        assert_eq!(attempts.check_wait(start), Err(FORGIVEN_AFTER));
        let later = start + FORGIVEN_AFTER / 3;
        assert_eq!(attempts.check_wait(later), Err(FORGIVEN_AFTER * 2 / 3));
        assert_eq!(attempts.check_wait(start + FORGIVEN_AFTER), Ok(()));
        attempts.add_attempt(start + FORGIVEN_AFTER);
        assert_eq!(attempts.check_wait(start + FORGIVEN_AFTER), Err(FORGIVEN_AFTER));
        let much_later = start + FORGIVEN_AFTER * (MOST + 2);
        assert_eq!(attempts.check_wait(much_later), Ok(()));
        assert_eq!(attempts.count, 0);
    }
}
