//! Parses and formats points in time, in the user's time zone.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Parses a time: how long ago (`2h`, `90d`), a day, a day and a time, or one with its zone.
/// Returns milliseconds since 1970.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    parse_at(text, &Zoned::now())
}

pub(super) fn parse_at(text: &str, now: &Zoned) -> Result<i64, String> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    if let Ok(at) = text.parse::<DateTime>() {
        let at = at.to_zoned(now.time_zone().clone()).map_err(|error| error.to_string())?;
        return Ok(at.timestamp().as_millisecond());
    }
    let ago = text.parse::<Span>().ok().filter(|span| span.is_positive());
    ago.and_then(|ago| now.checked_sub(ago).ok())
        .map(|at| at.timestamp().as_millisecond())
        .ok_or_else(|| "write how long ago (30m, 2h, 90d) or a day (2026-11-01)".to_owned())
}

/// Formats a time for the table.
pub(crate) fn local_time_text(at_ms: i64, zone: &TimeZone) -> String {
    match Timestamp::from_millisecond(at_ms) {
        Ok(at) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "?".to_owned(),
    }
}

/// Formats a time for programs.
pub(super) fn utc_time_text(at_ms: i64) -> Option<String> {
    Timestamp::from_millisecond(at_ms).ok().map(|at| format!("{at:.3}"))
}
