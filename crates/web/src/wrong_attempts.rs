//! A limit on wrong keys and codes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How many wrong attempts may be made at once.
const MOST: u32 = 10;
/// How long it takes until one more may be made.
const FORGIVEN_AFTER: Duration = Duration::from_secs(3);

/// How many addresses are told apart. The rest counts as one.
const MOST_PEERS: usize = 1_024;

/// The wrong attempts of each address: nobody keeps others out.
#[derive(Debug, Default)]
pub(crate) struct PeerAttempts {
    peers: HashMap<IpAddr, WrongAttempts>,
    others: WrongAttempts,
}

impl PeerAttempts {
    pub(crate) fn attempts_from(&mut self, peer: IpAddr, now: Instant) -> &mut WrongAttempts {
        if self.peers.len() >= MOST_PEERS && !self.peers.contains_key(&peer) {
            self.peers.retain(|_, attempts| {
                attempts.forgive(now);
                attempts.count > 0
            });
            if self.peers.len() >= MOST_PEERS {
                return &mut self.others;
            }
        }
        self.peers.entry(peer).or_default()
    }
}

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

    /// Counts one more.
    pub(crate) fn add_attempt(&mut self, now: Instant) {
        self.forgive(now);
        self.count += 1;
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
    fn nobody_uses_up_the_attempts_of_others() {
        let now = Instant::now();
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        let mut attempts = PeerAttempts::default();
        for number in 0..2_000 {
            for _ in 0..MOST {
                attempts.attempts_from(address(number), now).add_attempt(now);
            }
        }
        assert!(attempts.peers.len() <= MOST_PEERS);
        assert!(attempts.attempts_from(address(1), now).check_wait(now).is_err());
        let mut few = PeerAttempts::default();
        few.attempts_from(address(1), now).add_attempt(now);
        assert_eq!(few.attempts_from(address(2), now).check_wait(now), Ok(()));
        let later = now + FORGIVEN_AFTER * (MOST + 1);
        assert_eq!(attempts.attempts_from(address(9_999), later).check_wait(later), Ok(()));
        assert_eq!(attempts.peers.len(), 1, "the others are forgotten");
    }

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
