//! Whether and when the model is asked again after a failure.

use std::time::Duration;

use super::Turn;
use crate::engine::{EngineError, EngineErrorKind};

/// The longest time that a provider may ask us to wait before another attempt.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// The wait before the second attempt, unless the provider says otherwise; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The most attempts, and the most at a service that cannot be reached.
const MOST_TRIES: u32 = 5;
const MOST_DIALS: u32 = 3;

impl Turn {
    /// Returns how long to wait before another attempt, or `None` if there is none. An answer of
    /// which the front end has seen a part is never asked for again.
    pub(super) fn wait(&mut self, error: &EngineError) -> Option<Duration> {
        let most = match error.kind {
            EngineErrorKind::RateLimit | EngineErrorKind::Overloaded | EngineErrorKind::Server => {
                MOST_TRIES
            }
            EngineErrorKind::Network | EngineErrorKind::Cut => MOST_DIALS,
            _ => return None,
        };
        self.tries += 1;
        if !self.is_unseen() || self.tries >= most {
            return None;
        }
        let doubled = FIRST_WAIT * 2_u32.saturating_pow(self.tries - 1);
        Some(error.retry_after.unwrap_or(doubled)).filter(|wait| *wait <= LONGEST_WAIT)
    }
}
