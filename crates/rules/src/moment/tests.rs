//! Hours, days and ends of rules.

use super::*;

/// 2026-11-15 was a Sunday; this is 04:50 in UTC.
const NOW: i64 = 1_794_718_200_000;

#[test]
fn a_moment_knows_the_users_clock() {
    for (ahead, expected) in [
        (0, "2026-11-15T04:50:00"),
        (60, "2026-11-15T05:50:00"),
        (-300, "2026-11-14T23:50:00"),
        (345, "2026-11-15T10:35:00"),
        (840, "2026-11-15T18:50:00"),
    ] {
        assert_eq!(Moment::from_unix_ms(NOW, ahead).local().to_string(), expected, "{ahead}");
    }
    for unix_ms in [i64::MIN, i64::MAX] {
        assert_eq!(Moment::from_unix_ms(unix_ms, 60).local().year() > 0, unix_ms > 0);
    }
}

fn within(between: &str, days: &str, clock: &str, weekday: u8, expected: bool) {
    let between = (!between.is_empty()).then(|| HourSpan::from_text(between).unwrap());
    let days = (!days.is_empty()).then(|| Weekdays::from_text(days).unwrap());
    // 1970 began on a Thursday, so that its fifth day was a Monday.
    let minutes =
        (4 + i64::from(weekday)) * 24 * 60 + i64::from(super::parse_clock_time(clock).unwrap());
    let moment = Moment::from_unix_ms(minutes * 60_000, 0);
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
    for text in ["", "9-18", "09:00", "09:00-25:00", "09:60-10:00", "9:00-18:00", "09:00-09:00"] {
        assert!(HourSpan::from_text(text).is_err(), "{text}");
    }
    assert_eq!(Weekdays::from_text("mon-fry"), Err("fry".into()));
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
        "2026-01-01T10:00[Europe/Berlin]",
        "9999-12-31",
    ] {
        assert!(RuleEnd::from_text(text).is_err(), "{text}");
    }
}

#[test]
fn a_date_holds_to_its_end_where_the_user_is() {
    let over = |text: &str, ahead: i32| {
        RuleEnd::from_text(text).unwrap().is_over(&Moment::from_unix_ms(NOW, ahead))
    };
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
