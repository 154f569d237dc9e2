//! A point in time as plain values, and the times of rules: hours, days, an end.

use std::fmt;

const DAY_MINUTES: i64 = 24 * 60;
const DAY_NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// When something happens. Nothing here reads a clock: whoever calls brings the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970 in UTC.
    pub unix_ms: i64,
    /// Minutes since midnight where the user is, 0 to 1439.
    pub minute: u16,
    /// The day of the week where the user is, Monday is 0.
    pub weekday: u8,
}

impl Moment {
    /// The moment for somebody whose clock is so many minutes ahead of UTC.
    #[must_use]
    pub fn at(unix_ms: i64, ahead_minutes: i32) -> Self {
        let local = unix_ms.div_euclid(60_000).saturating_add(ahead_minutes.into());
        Self { unix_ms, minute: minute_of(local), weekday: weekday_of(local) }
    }

    /// Minutes since 1970 on the user's clock. How far it is ahead of UTC follows from the minute
    /// and the day of the week: no two zones have both in common.
    fn local(self) -> i64 {
        let utc = self.unix_ms.div_euclid(60_000);
        let ahead = i64::from(self.minute) - i64::from(minute_of(utc));
        let is_day = |local: &i64| weekday_of(*local) == self.weekday;
        let near = [0, DAY_MINUTES, -DAY_MINUTES].map(|day| utc.saturating_add(ahead + day));
        near.into_iter().find(is_day).unwrap_or(near[0])
    }
}

fn minute_of(minutes: i64) -> u16 {
    u16::try_from(minutes.rem_euclid(DAY_MINUTES)).unwrap_or_default()
}

fn weekday_of(minutes: i64) -> u8 {
    // 1970 began on a Thursday.
    u8::try_from((minutes.div_euclid(DAY_MINUTES) + 3).rem_euclid(7)).unwrap_or_default()
}

/// Hours of the day: `09:00-18:00`, or over midnight: `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Between {
    from: u16,
    to: u16,
}

impl Between {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no span of hours; write it as \"09:00-18:00\"");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let (from, to) = (clock(from).ok_or_else(wrong)?, clock(to).ok_or_else(wrong)?);
        if from == to {
            return Err(format!(
                "`{text}` begins and ends at the same minute; leave it out for the whole day"
            ));
        }
        Ok(Self { from, to })
    }

    /// Whether the moment lies within, and whether it does so after midnight.
    fn place(self, minute: u16) -> Option<bool> {
        if self.from < self.to {
            (self.from <= minute && minute < self.to).then_some(false)
        } else if minute >= self.from {
            Some(false)
        } else {
            (minute < self.to).then_some(true)
        }
    }
}

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

/// `HH:MM` in minutes; `24:00` is the end of a day.
fn clock(text: &str) -> Option<u16> {
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
pub(crate) struct Days(u8);

impl Days {
    /// Reads `mon` or `mon-fri`; the error is the word that is no day.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let day = |text: &str| {
            let name = text.trim().to_ascii_lowercase();
            DAY_NAMES.iter().position(|day| *day == name).ok_or(name)
        };
        let (from, to) = (day(from)?, day(to)?);
        let span = (to + 7 - from) % 7;
        Ok(Self((0..=span).map(|step| 1 << ((from + step) % 7)).sum()))
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn names() -> [&'static str; 7] {
        DAY_NAMES
    }
}

/// Whether hours and days hold. A span over midnight belongs to the day on which it begins.
pub(crate) fn is_within(between: Option<Between>, days: Option<Days>, moment: &Moment) -> bool {
    let after_midnight = match between {
        None => false,
        Some(between) => match between.place(moment.minute) {
            Some(after_midnight) => after_midnight,
            None => return false,
        },
    };
    let day = if after_midnight { (moment.weekday + 6) % 7 } else { moment.weekday % 7 };
    days.is_none_or(|days| days.0 & (1 << day) != 0)
}

/// The end of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// This many milliseconds since 1970 in UTC.
    Instant(i64),
    /// This minute since 1970 on the user's clock.
    Local(i64),
}

impl Until {
    /// Reads a date, which holds to its end, or a date with a time.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no date; write it as \"2026-12-31\" or \"2026-12-31T18:00:00+01:00\""
            )
        };
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let midnight = date_minutes(date).ok_or_else(wrong)?;
        let Some(time) = time else { return Ok(Self::Local(midnight + DAY_MINUTES)) };
        let (time, offset) = match time.char_indices().find(|(_, c)| "Zz+-".contains(*c)) {
            Some((at, _)) => (&time[..at], Some(offset_minutes(&time[at..]).ok_or_else(wrong)?)),
            None => (time, None),
        };
        let minutes = midnight + time_minutes(time).ok_or_else(wrong)?;
        Ok(match offset {
            Some(offset) => Self::Instant((minutes - offset) * 60_000),
            None => Self::Local(minutes),
        })
    }

    pub(crate) fn is_over(self, moment: &Moment) -> bool {
        match self {
            Self::Instant(end) => moment.unix_ms >= end,
            Self::Local(end) => moment.local() >= end,
        }
    }

    /// The moment itself, for somebody whose clock is UTC if the text does not say.
    pub(crate) fn moment(self) -> Moment {
        match self {
            Self::Instant(unix_ms) => Moment::at(unix_ms, 0),
            Self::Local(minutes) => Moment::at(minutes * 60_000, 0),
        }
    }
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Minutes from 1970 to the midnight that begins this date.
fn date_minutes(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let before = usize::try_from(month).ok()?.checked_sub(1)?;
    let is_real =
        parts.next().is_none() && year >= 1970 && (1..=*lengths.get(before)?).contains(&day);
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let days = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    is_real.then(|| (days + lengths[..before].iter().sum::<i64>() + day - 1) * DAY_MINUTES)
}

/// `HH:MM`, perhaps with seconds, which do not count.
fn time_minutes(text: &str) -> Option<i64> {
    let (clock_part, rest) = text.split_at_checked(5)?;
    let seconds = rest.strip_prefix(':').map(|rest| rest.split('.').next().unwrap_or(rest));
    let is_whole =
        rest.is_empty() || seconds.is_some_and(|text| number(text, 2).is_some_and(|s| s <= 60));
    clock(clock_part).filter(|_| is_whole).map(i64::from)
}

fn offset_minutes(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let minutes = i64::from(clock(&text[1..])?);
    Some(if text.starts_with('-') { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15 was a Sunday; this is 04:50 in UTC.
    const NOW: i64 = 1_794_718_200_000;

    #[test]
    fn a_moment_knows_the_users_clock() {
        assert_eq!(Moment::at(NOW, 0), Moment { unix_ms: NOW, minute: 290, weekday: 6 });
        assert_eq!(Moment::at(NOW, 60).minute, 350);
        assert_eq!(Moment::at(NOW, -300), Moment { unix_ms: NOW, minute: 1430, weekday: 5 });
        for ahead in [-720, -300, 0, 60, 345, 780, 840] {
            let moment = Moment::at(NOW, ahead);
            assert_eq!(moment.local(), NOW / 60_000 + i64::from(ahead), "{ahead}");
        }
    }

    fn within(between: &str, days: &str, clock: &str, weekday: u8, expected: bool) {
        let between = (!between.is_empty()).then(|| Between::read(between).unwrap());
        let days = (!days.is_empty()).then(|| Days::read(days).unwrap());
        let minute = super::clock(clock).unwrap();
        let moment = Moment { unix_ms: 0, minute, weekday };
        assert_eq!(is_within(between, days, &moment), expected, "{between:?} {days:?} {clock}");
    }

    #[test]
    fn hours_and_days_hold_from_their_first_to_before_their_last_minute() {
        within("09:00-18:00", "", "09:00", 0, true);
        within("09:00-18:00", "", "08:59", 0, false);
        within("09:00-18:00", "", "17:59", 0, true);
        within("09:00-18:00", "", "18:00", 0, false);
        within("22:00-06:00", "", "23:00", 0, true);
        within("22:00-06:00", "", "05:59", 0, true);
        within("22:00-06:00", "", "06:00", 0, false);
        within("22:00-06:00", "fri", "05:00", 5, true);
        within("22:00-06:00", "fri", "05:00", 4, false);
        within("22:00-06:00", "fri", "22:00", 4, true);
        within("00:00-24:00", "", "23:59", 0, true);
        within("", "mon-fri", "12:00", 4, true);
        within("", "mon-fri", "12:00", 5, false);
        within("", "sat-mon", "12:00", 6, true);
        within("", "sat-mon", "12:00", 1, false);
        within("", "Sun", "12:00", 6, true);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "9-18", "09:00", "09:00-25:00", "09:60-10:00", "9:00-18:00", "09:00-09:00"]
        {
            assert!(Between::read(text).is_err(), "{text}");
        }
        assert_eq!(Days::read("mon-fry"), Err("fry".into()));
        for text in [
            "",
            "tomorrow",
            "2026-13-01",
            "2026-02-29",
            "2026-1-1",
            "1969-01-01",
            "2026-01-01T",
            "2026-01-01T25:00",
            "2026-01-01T10:00+1",
            "2026-01-01T10:00:61",
            "2026-01-01-01",
            "2026-01-01T1é:00",
        ] {
            assert!(Until::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_date_holds_to_its_end_where_the_user_is() {
        let over =
            |text: &str, ahead: i32| Until::read(text).unwrap().is_over(&Moment::at(NOW, ahead));
        assert!(!over("2026-11-15", 0));
        assert!(over("2026-11-14", 0));
        assert!(!over("2026-11-14", -300));
        assert!(over("2026-11-15T04:50:00Z", 0));
        assert!(!over("2026-11-15T04:51:00Z", 0));
        assert!(over("2026-11-15T05:50:00+01:00", 600));
        assert!(!over("2026-11-15 04:51", 0));
        assert!(over("2026-11-15T04:51", 1));
        assert!(!over("2028-02-29", 0));
    }

    #[test]
    fn dates_are_counted_rightly() {
        assert_eq!(date_minutes("1970-01-01"), Some(0));
        assert_eq!(date_minutes("2026-11-15"), Some(NOW / 60_000 - 290));
        assert_eq!(date_minutes("2000-03-01").map(|m| m / DAY_MINUTES), Some(11_017));
    }
}
