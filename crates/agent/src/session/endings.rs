//! Which ends of conversations this process has told its front end.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::history::HeldConversation;

/// How many are remembered; then all are forgotten, and one may be told of a second time.
const MOST: usize = 1024;

/// How long each conversation was when a turn of it ended here. One that is as long as that was
/// left by this process, whose front end was told how the turn ended.
#[derive(Debug, Default)]
pub(super) struct ReportedEndings(Mutex<HashMap<String, u64>>);

impl ReportedEndings {
    /// A turn has ended, and the front end is told how.
    pub(super) fn note(&self, held: &HeldConversation) {
        let mut lengths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lengths.len() >= MOST {
            lengths.clear();
        }
        lengths.insert(held.id().to_owned(), held.length());
    }

    /// Returns true if it was this process that left the conversation as it is.
    pub(super) fn knows(&self, held: &HeldConversation) -> bool {
        let lengths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lengths.get(held.id()) == Some(&held.length())
    }
}
