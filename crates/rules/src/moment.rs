//! A point in time where the user is, and the times of rules: hours, days, an end.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// The days in the order of [`Weekdays`], as rules write them.
pub(crate) const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A point in time, and how far the user's clock is ahead of UTC then. Nothing here reads a clock:
/// the caller passes the time in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    timestamp: Timestamp,
    offset: Offset,
}

impl Moment {
    /// Returns the moment for a user whose clock is this many minutes ahead of UTC.
    pub fn from_unix_ms(unix_ms: i64, ahead_minutes: i32) -> Self {
        // A time out of range becomes the nearest that there is, so that an expired rule stays
        // expired.
        let limit = if unix_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
        let offset = Offset::from_seconds(ahead_minutes.saturating_mul(60));
        Self {
            timestamp: Timestamp::from_millisecond(unix_ms).unwrap_or(limit),
            offset: offset.unwrap_or(Offset::UTC),
        }
    }

    /// Returns the date and time on the user's clock.
    fn local(self) -> DateTime {
        self.offset.to_datetime(self.timestamp)
    }
}

/// Hours of the day: `09:00-18:00`, or over midnight: `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HourSpan {
    from: u16,
    to: u16,
}

impl HourSpan {
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a span of hours; write it as \"09:00-18:00\"");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let (from, to) =
            (parse_clock_time(from).ok_or_else(wrong)?, parse_clock_time(to).ok_or_else(wrong)?);
        if from == to {
            return Err(format!(
                "`{text}` begins and ends at the same minute; leave it out for the whole day"
            ));
        }
        Ok(Self { from, to })
    }

    /// Returns `None` outside these hours, and otherwise whether they began on the day before.
    fn began_yesterday(self, minute: u16) -> Option<bool> {
        if self.from < self.to {
            (self.from <= minute && minute < self.to).then_some(false)
        } else if minute >= self.from {
            Some(false)
        } else {
            (minute < self.to).then_some(true)
        }
    }
}

impl fmt::Display for HourSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

/// Parses `HH:MM` into minutes; `24:00` is the end of a day.
fn parse_clock_time(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let is_two = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
    if !is_two(hours) || !is_two(minutes) {
        return None;
    }
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    (minutes < 60 && (hours < 24 || (hours, minutes) == (24, 0))).then_some(hours * 60 + minutes)
}

/// Days of the week, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weekdays(u8);

impl Weekdays {
    /// Parses `mon` or `mon-fri`; the error is the word that is not a day.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let day = |text: &str| {
            let name = text.trim().to_ascii_lowercase();
            DAY_NAMES.iter().position(|day| *day == name).ok_or(name)
        };
        let (from, to) = (day(from)?, day(to)?);
        // `fri-mon` wraps around the end of the week.
        let span = (to + 7 - from) % 7;
        Ok(Self((0..=span).map(|step| 1 << ((from + step) % 7)).sum()))
    }

    pub(crate) fn union_with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Returns true if the hours and days match. A span over midnight belongs to the day on which it
/// begins.
pub(crate) fn is_within(hours: Option<HourSpan>, days: Option<Weekdays>, moment: &Moment) -> bool {
    let local = moment.local();
    let minute =
        u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
    let began_yesterday = match hours.map(|hours| hours.began_yesterday(minute)) {
        None => false,
        Some(Some(began_yesterday)) => began_yesterday,
        Some(None) => return false,
    };
    let today = local.weekday();
    let day = if began_yesterday { today.previous() } else { today };
    days.is_none_or(|days| days.0 & (1 << day.to_monday_zero_offset()) != 0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleEnd {
    /// A point in time, the same for everybody.
    Instant(Timestamp),
    /// A date and time on the user's clock.
    Local(DateTime),
}

impl RuleEnd {
    /// Parses a date, which includes its last minute, or a date with a time.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a date; write it as \"2026-12-31\" or \"2026-12-31T18:00:00+01:00\""
            )
        };
        let date = text.get(..10).and_then(|date| date.parse::<Date>().ok());
        let date =
            date.filter(|date| date.year() >= 1970 && !text.contains('[')).ok_or_else(wrong)?;
        if text.len() == 10 {
            let end = date.tomorrow().map_err(|_| wrong())?;
            return Ok(Self::Local(end.to_datetime(Time::midnight())));
        }
        // Seconds are ignored, because all times in rules are minutes.
        if let Ok(instant) = text.parse::<Timestamp>() {
            let seconds = instant.as_second();
            let minute = Timestamp::from_second(seconds - seconds.rem_euclid(60));
            return minute.map(Self::Instant).map_err(|_| wrong());
        }
        let local: DateTime = text.parse().map_err(|_| wrong())?;
        Ok(Self::Local(date.at(local.hour(), local.minute(), 0, 0)))
    }

    pub(crate) fn is_over(self, moment: &Moment) -> bool {
        match self {
            Self::Instant(end) => moment.timestamp >= end,
            Self::Local(end) => moment.local() >= end,
        }
    }

    /// Returns the moment itself. The user's clock is UTC if the text names no offset.
    pub(crate) fn moment(self) -> Moment {
        let timestamp = match self {
            Self::Instant(timestamp) => timestamp,
            Self::Local(local) => Offset::UTC.to_timestamp(local).unwrap_or(Timestamp::MAX),
        };
        Moment { timestamp, offset: Offset::UTC }
    }
}

#[cfg(test)]
mod tests;
