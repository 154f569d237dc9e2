//! How long calls are tried again, and how often.

use std::cell::Cell;

use super::*;

const PAUSE: Duration = Duration::from_millis(500);

fn later(wait: Option<u64>) -> TelegramFault {
    TelegramFault::Passing { why: "later".to_owned(), wait: wait.map(Duration::from_secs) }
}

/// What comes of attempts that fail with `fault` for `outage` seconds, within `within` seconds:
/// how many were made, and how long it took.
async fn outcome(
    fault: TelegramFault,
    outage: u64,
    within: u64,
) -> (Result<(), TelegramFault>, usize, Duration) {
    let (gates, begun, count) = (ChatGates::default(), Instant::now(), Cell::new(0));
    let gate = gates.gate_of_chat(7);
    let done = retry_until(
        PAUSE,
        Some((gate.as_ref(), ChatLane::Show)),
        begun + Duration::from_secs(within),
        || async {
            count.set(count.get() + 1);
            let is_over = begun.elapsed() >= Duration::from_secs(outage);
            if is_over { Ok(()) } else { Err(fault.clone()) }
        },
    );
    (done.await, count.get(), begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_waited_out_until_the_end() {
    // Whenever it ends, there is an attempt after it, also when there is little time left.
    for (outage, within) in [(1, 10), (12, 300), (60, 300), (290, 300), (29, 30), (299, 300)] {
        let (done, _, took) = outcome(later(None), outage, within).await;
        assert_eq!(done, Ok(()), "{outage} of {within} s");
        assert!(took < Duration::from_secs(within));
    }
    let (done, count, took) = outcome(later(None), 300, 300).await;
    assert_eq!(done, Err(later(None)));
    assert!(took >= Duration::from_secs(298), "it was tried until then: {took:?}");
    assert!(count < 60, "{count}");
}

#[tokio::test(start_paused = true)]
async fn quiet_is_kept_for_exactly_as_long_as_it_is_wanted() {
    let (done, count, took) = outcome(later(Some(12)), 12, 300).await;
    assert_eq!((done, count), (Ok(()), 2));
    assert!((12..13).contains(&took.as_secs()), "{took:?}");
    let (done, count, took) = outcome(later(Some(12)), 100, 10).await;
    assert_eq!((done, count, took), (Err(later(Some(12))), 1, Duration::ZERO), "no time for it");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_under_way_at_the_end_still_counts() {
    let (gates, end) = (ChatGates::default(), Instant::now() + Duration::from_secs(10));
    let gate = gates.gate_of_chat(7);
    let done = retry_until(PAUSE, Some((gate.as_ref(), ChatLane::Show)), end, || async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        Ok(7)
    });
    assert_eq!(done.await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final() {
    for fault in [
        TelegramFault::Refused { code: 400, why: "no".to_owned() },
        TelegramFault::Refused { code: 403, why: "no".to_owned() },
        TelegramFault::Token { why: "no".to_owned() },
    ] {
        let (done, count, took) = outcome(fault.clone(), 100, 300).await;
        assert_eq!((done, count, took), (Err(fault), 1, Duration::ZERO));
    }
}
