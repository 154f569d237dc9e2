//! How many questions may be open at the desk above, how large, and how fast they may come, over
//! all lines of one owner.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_wire::relay::{MOST_QUESTION_BYTES, MOST_QUESTIONS};

/// How many bytes of a line cost as much as one more question, because a long line takes longer to
/// mask and fills more of the ledger.
const BYTES_OF_ONE: usize = 64 * 1024;
/// How many questions may come at once: as many and as large ones as may be open.
const AT_ONCE: u64 = (MOST_QUESTIONS + MOST_QUESTION_BYTES / BYTES_OF_ONE) as u64;
/// How many more may come in each second. People answer fewer.
const PER_SECOND: u64 = 4;

const TOO_MANY: &str = "too many of its questions are open";
const TOO_FAST: &str = "it asks faster than anybody can answer";

/// The room for the open questions of one machine, or of all runs of one job.
#[derive(Debug)]
pub struct QuestionRoom {
    began: Instant,
    count: AtomicUsize,
    bytes: AtomicUsize,
    pace: Mutex<QuestionPace>,
}

/// How many questions have come lately.
#[derive(Debug, Default)]
struct QuestionPace {
    at: Duration,
    /// What they have cost, in thousandths of a question.
    spent: u64,
}

/// What one question takes of the room. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct QuestionShare {
    room: Arc<QuestionRoom>,
    size: usize,
}

impl Default for QuestionRoom {
    fn default() -> Self {
        let (count, bytes) = (AtomicUsize::default(), AtomicUsize::default());
        Self { began: Instant::now(), count, bytes, pace: Mutex::default() }
    }
}

impl QuestionRoom {
    /// Returns the beginning of the clock that all lines with this room go by.
    pub fn began(&self) -> Instant {
        self.began
    }
}

impl QuestionPace {
    /// Notes a question whose line has this size. Returns false if it comes too soon.
    fn note_question(&mut self, now: Duration, size: usize) -> bool {
        let passed = u64::try_from(now.saturating_sub(self.at).as_millis()).unwrap_or(u64::MAX);
        let left = self.spent.saturating_sub(passed.saturating_mul(PER_SECOND));
        let spent = left + (1 + (size / BYTES_OF_ONE) as u64) * 1_000;
        let is_within = spent <= AT_ONCE * 1_000;
        // What is refused costs nothing, or whoever keeps asking would never be heard again.
        // Several lines note their times here, and not always in order.
        (self.at, self.spent) = (self.at.max(now), if is_within { spent } else { left });
        is_within
    }
}

impl QuestionShare {
    /// Takes the room of a question whose line has this size. Fails with the reason if there is too
    /// little, or if questions come too fast.
    pub(crate) fn take(
        room: &Arc<QuestionRoom>,
        size: usize,
        now: Duration,
    ) -> Result<Self, &'static str> {
        // Taken before it is compared; what is too much goes back with the share.
        let share = Self::take_anyway(room, size);
        let is_within = room.count.load(Ordering::Relaxed) <= MOST_QUESTIONS
            && room.bytes.load(Ordering::Relaxed) <= MOST_QUESTION_BYTES;
        if !is_within {
            return Err(TOO_MANY);
        }
        if lock(&room.pace).note_question(now, size) { Ok(share) } else { Err(TOO_FAST) }
    }

    /// Takes the room of a question that is open already. It cannot be refused, because people may
    /// have been shown it.
    pub(crate) fn take_anyway(room: &Arc<QuestionRoom>, size: usize) -> Self {
        // `Relaxed` is enough, because no other memory depends on these counts.
        room.count.fetch_add(1, Ordering::Relaxed);
        room.bytes.fetch_add(size, Ordering::Relaxed);
        Self { room: Arc::clone(room), size }
    }
}

impl Drop for QuestionShare {
    fn drop(&mut self) {
        self.room.count.fetch_sub(1, Ordering::Relaxed);
        self.room.bytes.fetch_sub(self.size, Ordering::Relaxed);
    }
}
