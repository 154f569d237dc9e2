//! What is measured while the machines work: when questions were due, seen, pressed and answered,
//! and when entries were due and accepted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use callgate_wire::approval::RequestId;

/// Times in milliseconds.
#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

/// All figures. One lock is enough: whoever plays the machines has one thread.
#[derive(Default)]
pub(crate) struct FigureBook {
    questions: Mutex<HashMap<RequestId, OpenQuestionTimes>>,
    phase: Mutex<PhaseTimes>,
    sent: AtomicU64,
    accepted: AtomicU64,
    /// What should not have happened.
    faults: Mutex<Vec<String>>,
}

/// What a question of a machine that is at the desk `desk` has been through.
struct OpenQuestionTimes {
    desk: usize,
    due: Instant,
    pressed: Option<Instant>,
}

/// What was measured in one phase.
#[derive(Default)]
pub(crate) struct PhaseTimes {
    /// From when a question was due until a viewer of the other desk had it.
    pub(crate) seen: Times,
    /// From the press at the other desk until its machine had the answer.
    pub(crate) answered: Times,
    /// From when an entry was due until the machine had the receipt.
    pub(crate) accepted: Times,
    /// How late the generator was.
    pub(crate) late: Times,
}

impl PhaseTimes {
    /// Adds what came after the phase and belongs to it.
    pub(crate) fn add(&mut self, later: Self) {
        self.seen.0.extend(later.seen.0);
        self.answered.0.extend(later.answered.0);
        self.accepted.0.extend(later.accepted.0);
        self.late.0.extend(later.late.0);
    }
}

impl Times {
    pub(crate) fn note_since(&mut self, begun: Instant) {
        self.0.push(begun.elapsed().as_secs_f64() * 1e3);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the time that this share of all did not exceed; 0 if there is none.
    pub(crate) fn quantile(&mut self, per_cent: usize) -> f64 {
        self.0.sort_by(f64::total_cmp);
        let last = self.0.len().saturating_sub(1);
        self.0.get(last.min(self.0.len() * per_cent / 100)).copied().unwrap_or_default()
    }
}

impl FigureBook {
    fn with_phase<T>(&self, note: impl FnOnce(&mut PhaseTimes) -> T) -> T {
        note(&mut self.phase.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_questions<T>(
        &self,
        note: impl FnOnce(&mut HashMap<RequestId, OpenQuestionTimes>) -> T,
    ) -> T {
        note(&mut self.questions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends a phase: returns what was measured since the last one.
    pub(crate) fn end_phase(&self) -> PhaseTimes {
        self.with_phase(std::mem::take)
    }

    pub(crate) fn note_late(&self, due: Instant) {
        self.with_phase(|phase| phase.late.note_since(due));
    }

    pub(crate) fn note_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_accepted(&self, due: Instant) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        self.with_phase(|phase| phase.accepted.note_since(due));
    }

    /// Returns how many entries have a receipt, and how many have none.
    pub(crate) fn entries(&self) -> (u64, u64) {
        let accepted = self.accepted.load(Ordering::Relaxed);
        (accepted, self.sent.load(Ordering::Relaxed) - accepted)
    }

    pub(crate) fn note_asked(&self, id: RequestId, desk: usize, due: Instant) {
        let times = OpenQuestionTimes { desk, due, pressed: None };
        self.with_questions(|questions| questions.insert(id, times));
    }

    /// Returns true if a viewer of `desk` sees a question of a machine of the other one.
    pub(crate) fn note_seen(&self, id: &RequestId, desk: usize) -> bool {
        let due = self.with_questions(|questions| {
            questions.get(id).filter(|times| times.desk != desk).map(|times| times.due)
        });
        let Some(due) = due else { return false };
        self.with_phase(|phase| phase.seen.note_since(due));
        true
    }

    pub(crate) fn note_pressed(&self, id: &RequestId) {
        self.with_questions(|questions| {
            questions.get_mut(id).unwrap().pressed = Some(Instant::now());
        });
    }

    /// Notes that a machine has an answer. Returns false if it had it before.
    pub(crate) fn note_answered(&self, id: &RequestId) -> bool {
        let Some(times) = self.with_questions(|questions| questions.remove(id)) else {
            return false;
        };
        let pressed = times.pressed.expect("nobody answers before somebody presses");
        self.with_phase(|phase| phase.answered.note_since(pressed));
        true
    }

    pub(crate) fn note_fault(&self, text: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Ends the benchmark if something has happened that should not.
    pub(crate) fn check_no_fault(&self) {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(faults.is_empty(), "{} faults: {:?}", faults.len(), &faults[..faults.len().min(5)]);
    }

    /// Returns how many questions have no answer yet.
    pub(crate) fn unanswered(&self) -> usize {
        self.with_questions(|questions| questions.len())
    }
}
