//! Who pressed lately. It is only a convenience, and lost when the channel ends.

use std::collections::VecDeque;
use std::sync::Mutex;

use callgate_link::sync::lock;

const MOST_PRESSES: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Presser {
    pub(super) user: i64,
    pub(super) name: String,
    pub(super) private: bool,
    pub(super) message: Option<i64>,
}

/// Recent presses, by the ids of their callback queries.
#[derive(Debug, Default)]
pub(super) struct RecentPresses(Mutex<VecDeque<(String, Presser)>>);

impl RecentPresses {
    pub(super) fn note_press(&self, callback: &str, presser: Presser) {
        let mut recent = lock(&self.0);
        if recent.len() == MOST_PRESSES {
            recent.pop_front();
        }
        recent.push_back((callback.to_owned(), presser));
    }

    pub(super) fn find_presser(&self, callback: &str) -> Option<Presser> {
        let recent = lock(&self.0);
        let found = recent.iter().rev().find(|(id, _)| id == callback);
        found.map(|(_, presser)| presser.clone())
    }
}
