//! The clock of the user, and what else rules depend on besides files and settings.

use callgate_rules::{Moment, Policy};
use callgate_settings::Surroundings;
use callgate_store::now_ms;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What the environment says to rules. This crate does not read the environment.
#[derive(Debug, Clone)]
pub struct RuleSurroundings {
    /// The user's home folder, as rules know it.
    pub home: String,
    /// Reads the user's time zone. That takes a file, so it is only done if a rule depends on the
    /// time.
    read_time_zone: fn() -> TimeZone,
}

impl RuleSurroundings {
    pub fn new(around: &Surroundings, read_time_zone: fn() -> TimeZone) -> Self {
        Self { home: home_of_rules(around), read_time_zone }
    }

    pub(crate) fn clock(&self) -> LocalClock {
        LocalClock((self.read_time_zone)())
    }

    /// Returns the present moment in the user's time zone.
    pub fn now(&self) -> Moment {
        self.clock().moment(now_ms())
    }

    /// Returns the present moment, or another one if no rule depends on it.
    pub fn moment_for(&self, policy: &Policy) -> Moment {
        if policy.depends_on_time() { self.now() } else { Moment::from_unix_ms(0, 0) }
    }
}

pub(crate) fn home_of_rules(around: &Surroundings) -> String {
    around.home.as_ref().map_or_else(|| "/".to_owned(), |home| home.display().to_string())
}

/// The clock of the user's time zone.
pub(crate) struct LocalClock(TimeZone);

impl LocalClock {
    /// Returns a moment on this clock, given in milliseconds since 1970.
    pub(crate) fn moment(&self, at_ms: i64) -> Moment {
        let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
        Moment::from_unix_ms(at.as_millisecond(), self.0.to_offset(at).seconds() / 60)
    }
}
