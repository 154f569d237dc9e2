//! What is remembered of presses and copies while the channel runs; nothing depends on it but
//! comfort.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// So many presses are remembered, for what is asked in answer to them.
const MOST_PRESSES: usize = 512;
/// So many copies are remembered; a press on another one is reported as a copy too.
const MOST_COPIES: usize = 20_000;

/// Who pressed a button, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Presser {
    pub(super) user: i64,
    pub(super) name: String,
    pub(super) private: bool,
    pub(super) message: Option<i64>,
}

/// Recent presses and copies.
#[derive(Debug, Default)]
pub(super) struct Presses(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    presses: VecDeque<(String, Presser)>,
    copies: HashSet<(i64, i64)>,
    oldest: VecDeque<(i64, i64)>,
}

impl Presses {
    pub(super) fn note(&self, callback: &str, presser: Presser) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.presses.len() == MOST_PRESSES {
            inner.presses.pop_front();
        }
        inner.presses.push_back((callback.to_owned(), presser));
    }

    pub(super) fn who(&self, callback: &str) -> Option<Presser> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = inner.presses.iter().rev().find(|(id, _)| id == callback);
        found.map(|(_, presser)| presser.clone())
    }

    /// Notes a copy; whether it is a new one.
    pub(super) fn is_new_copy(&self, chat: i64, message: i64) -> bool {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !inner.copies.insert((chat, message)) {
            return false;
        }
        inner.oldest.push_back((chat, message));
        if inner.oldest.len() > MOST_COPIES
            && let Some(oldest) = inner.oldest.pop_front()
        {
            inner.copies.remove(&oldest);
        }
        true
    }
}
