//! The ends of turns that this process has reported to its front end.

use std::collections::HashMap;
use std::sync::Mutex;

use callgate_link::sync::lock;

use crate::history::HeldConversation;

/// How many are remembered. Then all are forgotten, and one may be reported twice.
const MOST: usize = 1024;

/// The length of each conversation when a turn of it ended in this process. A conversation that
/// still has this length was left by this process, which has reported the end of the turn.
#[derive(Debug, Default)]
pub(super) struct ReportedEndings(Mutex<HashMap<String, u64>>);

impl ReportedEndings {
    /// Notes that the end of a turn was reported.
    pub(super) fn note_reported(&self, held: &HeldConversation) {
        let mut lengths = lock(&self.0);
        if lengths.len() >= MOST {
            lengths.clear();
        }
        lengths.insert(held.id().to_owned(), held.length());
    }

    /// Returns true if this process left the conversation in its current state.
    pub(super) fn knows(&self, held: &HeldConversation) -> bool {
        let lengths = lock(&self.0);
        lengths.get(held.id()) == Some(&held.length())
    }
}
