//! How many questions may be open at the desk above, and how large, over all lines of one owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_wire::relay::{MOST_QUESTION_BYTES, MOST_QUESTIONS};

/// The room for the open questions of one machine, or of all runs of one job.
#[derive(Debug, Default)]
pub struct QuestionRoom {
    count: AtomicUsize,
    bytes: AtomicUsize,
}

/// What one question takes of the room. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct QuestionShare {
    room: Arc<QuestionRoom>,
    size: usize,
}

impl QuestionShare {
    /// Takes the room of a question whose line has this size. Returns `None` if there is too little.
    pub(crate) fn take(room: &Arc<QuestionRoom>, size: usize) -> Option<Self> {
        // Taken before it is compared; what is too much goes back with the share.
        let share = Self::take_anyway(room, size);
        let is_within = room.count.load(Ordering::Relaxed) <= MOST_QUESTIONS
            && room.bytes.load(Ordering::Relaxed) <= MOST_QUESTION_BYTES;
        is_within.then_some(share)
    }

    /// Takes the room of a question that is open already.
    pub(crate) fn take_anyway(room: &Arc<QuestionRoom>, size: usize) -> Self {
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
