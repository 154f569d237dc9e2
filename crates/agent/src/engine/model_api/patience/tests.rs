//! How long an answer is waited for.

use super::*;

const IDLE: Duration = Duration::from_secs(100);
const MOMENT: Duration = Duration::from_secs(30);

#[test]
fn silence_is_borne_as_long_as_the_limit_says() {
    let (start, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
    assert_eq!(patience.start_wait(start), start + IDLE);
    // Whoever stops waiting and comes back does not begin anew.
    assert_eq!(patience.start_wait(start + MOMENT), start + IDLE);
    assert_eq!(patience.waited(), IDLE);
    patience.note_bytes(start + MOMENT, true);
    assert_eq!(patience.start_wait(start + MOMENT), start + MOMENT + IDLE);
}

#[test]
fn pings_alone_are_not_borne_for_ever() {
    let (mut now, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
    let end = now + IDLE * PINGS_ALONE;
    let mut pings = 0;
    while patience.start_wait(now) > now + MOMENT {
        now += MOMENT;
        patience.note_bytes(now, false);
        pings += 1;
        assert!(pings < 100, "pings keep it alive");
    }
    assert_eq!(patience.start_wait(now), end);
    assert_eq!(patience.waited(), IDLE * PINGS_ALONE);
}

#[test]
fn an_answer_that_goes_on_is_waited_for() {
    let (mut now, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
    for event in 0..1000 {
        assert!(patience.start_wait(now) > now + MOMENT, "{event}");
        now += MOMENT;
        // Three pings, then something of the answer.
        patience.note_bytes(now, event % 4 == 3);
    }
}

/// A front end that is behind must not make the engine give up.
#[test]
fn time_in_which_nobody_waits_does_not_count() {
    let (mut now, mut patience) = (Instant::now(), AnswerPatience::new(IDLE));
    for _ in 0..100 {
        patience.start_wait(now);
        patience.note_bytes(now, false);
        now += IDLE;
    }
    assert_eq!(patience.start_wait(now), now + IDLE);
}
