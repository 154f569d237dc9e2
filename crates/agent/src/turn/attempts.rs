//! Whether and when the model is asked again after a failure, and in which form.

use std::time::Duration;

use callgate_wire::session::SessionEvent;

use super::{Turn, TurnAction};
use crate::engine::{EngineError, EngineErrorKind};

/// The wait before the second attempt, unless the provider says otherwise. It doubles each time, up
/// to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

impl Turn {
    /// Returns how long to wait before another attempt, or `None` if there is none: the error will
    /// not pass, the turn has waited long enough, or the engine has run tools itself, so that only
    /// it knows what it has done.
    pub(super) fn wait_before_retry(&mut self, error: &EngineError) -> Option<Duration> {
        if !is_outage(error.kind) || self.kept_parts > 0 || self.calls.are_own() {
            return None;
        }
        let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.tries));
        // A wait that the provider names is not shortened: it would only refuse again.
        let wait = error.retry_after.unwrap_or(doubled.min(LONGEST_WAIT));
        let wait = jittered_wait(wait, self.bounds.seed, self.tries);
        let waited = self.waited.saturating_add(wait);
        if waited > self.bounds.patience {
            return None;
        }
        (self.tries, self.waited) = (self.tries + 1, waited);
        Some(wait)
    }
}

/// Returns true if the model may be reached again in a while. One that fell silent has had its
/// whole time, and is given up.
fn is_outage(kind: EngineErrorKind) -> bool {
    matches!(
        kind,
        EngineErrorKind::RateLimit
            | EngineErrorKind::Overloaded
            | EngineErrorKind::Server
            | EngineErrorKind::Network
            | EngineErrorKind::Cut
    )
}

/// Adds up to a quarter, which differs from turn to turn, so that those whom one outage has stopped
/// do not all come back at the same moment. It is never less than the provider wants.
fn jittered_wait(wait: Duration, seed: u64, tries: u32) -> Duration {
    let mixed = seed.wrapping_add(u64::from(tries)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let share = u32::from(mixed.to_be_bytes()[0]);
    wait.saturating_add(wait.saturating_mul(share) / 1024)
}

pub(super) fn in_words(wait: Duration) -> String {
    match wait.as_secs() {
        0..=99 => format!("{:.1} s", wait.as_secs_f32()),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

pub(super) fn left_out(tool: &str, reason: &str) -> TurnAction {
    let text = format!(
        "the provider refuses the tool `{tool}`, so the model goes on without it: {reason}"
    );
    TurnAction::Tell(SessionEvent::notice("tool_left_out", text))
}
