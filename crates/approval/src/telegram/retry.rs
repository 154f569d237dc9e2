//! How a call is tried again, whatever it is for: after a fault that may pass, until a moment that
//! whoever wants it names.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::Line;
use super::api::Fault;
use super::gate::{Gate, Lane};

/// The longest pause is this many times the first.
const LONGEST_PAUSE: u32 = 16;

/// The pauses between attempts: each twice as long as the one before, up to a limit.
#[derive(Debug)]
pub(super) struct Pauses {
    first: Duration,
    next: Duration,
    longest: Duration,
}

impl Pauses {
    pub(super) fn new(first: Duration) -> Self {
        Self { first, next: first, longest: first * LONGEST_PAUSE }
    }

    pub(super) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// The next pause for somebody who has no time after `end`: near the end it is half of what is
    /// left, for as long as that is no less than the first pause.
    fn next_before(&mut self, end: Instant) -> Option<Duration> {
        let (pause, left) = (self.next(), end.saturating_duration_since(Instant::now()));
        if pause < left { Some(pause) } else { Some(left / 2).filter(|half| *half >= self.first) }
    }
}

/// Makes attempts until one works, is refused, or the next would come after `end`. With a gate,
/// each waits for its turn and keeps the quiet that the chat wants.
pub(super) async fn retry<T, F>(
    pause: Duration,
    gate: Option<(&Gate, Lane)>,
    end: Instant,
    mut attempt: impl FnMut() -> F,
) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut pauses = Pauses::new(pause);
    let mut last = None;
    loop {
        let attempted = match gate {
            Some((gate, lane)) => gate.pass(lane, end, attempt()).await,
            None => Some(attempt().await),
        };
        let fault = match attempted {
            Some(Ok(done)) => return Ok(done),
            Some(Err(fault)) => fault,
            None => return Err(last.unwrap_or_else(crowded)),
        };
        let Fault::Passing { wait, .. } = &fault else { return Err(fault) };
        if let (Some((gate, _)), Some(wait)) = (gate, wait) {
            gate.keep_quiet(*wait);
        }
        let next = match wait {
            Some(wait) => Some(*wait),
            None => pauses.next_before(end),
        };
        match next.map(|pause| Instant::now() + pause).filter(|next| *next < end) {
            Some(next) => sleep_until(next).await,
            None => return Err(fault),
        }
        last = Some(fault);
    }
}

fn crowded() -> Fault {
    let why = "Telegram wants quiet in this chat, or too much is on its way there".to_owned();
    Fault::Passing { why, wait: None }
}

impl Line {
    /// Makes attempts at something in a chat until `end`.
    pub(super) async fn retry_in_chat<T, F>(
        &self,
        chat: i64,
        lane: Lane,
        end: Instant,
        attempt: impl FnMut() -> F,
    ) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let gate = self.gates.of(chat);
        retry(self.pause, Some((gate.as_ref(), lane)), end, attempt).await
    }

    /// Calls a method for a chat until it works, is refused, or `end` comes.
    pub(super) async fn call_in_chat(
        &self,
        chat: i64,
        lane: Lane,
        end: Instant,
        method: &str,
        params: &Value,
    ) -> Result<Value, Fault> {
        self.retry_in_chat(chat, lane, end, || self.api.call(method, params, super::CALL)).await
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::telegram::gate::Gates;

    const PAUSE: Duration = Duration::from_millis(500);

    fn later(wait: Option<u64>) -> Fault {
        Fault::Passing { why: "later".to_owned(), wait: wait.map(Duration::from_secs) }
    }

    /// What comes of attempts that fail with `fault` for `outage` seconds, within `within` seconds:
    /// how many were made, and how long it took.
    async fn outcome(
        fault: Fault,
        outage: u64,
        within: u64,
    ) -> (Result<(), Fault>, usize, Duration) {
        let (gates, begun, count) = (Gates::default(), Instant::now(), Cell::new(0));
        let gate = gates.of(7);
        let done = retry(
            PAUSE,
            Some((gate.as_ref(), Lane::Show)),
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
        assert_eq!(
            (done, count, took),
            (Err(later(Some(12))), 1, Duration::ZERO),
            "no time for it"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_is_under_way_at_the_end_still_counts() {
        let (gates, end) = (Gates::default(), Instant::now() + Duration::from_secs(10));
        let gate = gates.of(7);
        let done = retry(PAUSE, Some((gate.as_ref(), Lane::Show)), end, || async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Ok(7)
        });
        assert_eq!(done.await, Ok(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_final() {
        for fault in [
            Fault::Refused { code: 400, why: "no".to_owned() },
            Fault::Refused { code: 403, why: "no".to_owned() },
            Fault::Token { why: "no".to_owned() },
        ] {
            let (done, count, took) = outcome(fault.clone(), 100, 300).await;
            assert_eq!((done, count, took), (Err(fault), 1, Duration::ZERO));
        }
    }
}
