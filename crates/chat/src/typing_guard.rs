//! Keeps a key from answering a question that nobody can have read. Pure.

use std::time::Duration;

use callgate_approval::terminal::PAUSE;

/// A key within this time of one that came too early belongs to the same typing.
const TYPING: Duration = Duration::from_millis(300);

/// Tells keys that answer a question from those of a typing that began before it appeared.
#[derive(Debug, Default)]
pub(crate) struct TypingGuard {
    /// When the question was first on the screen.
    seen_at: Option<Duration>,
    /// The last key that came too early.
    ignored_at: Option<Duration>,
}

impl TypingGuard {
    /// Notes that the question is on the screen.
    pub(crate) fn mark_printed(&mut self, now: Duration) {
        // Only the first time counts: each frame is noted, and would put the answer off again.
        self.seen_at.get_or_insert(now);
    }

    /// Notes that the question has to be read again.
    pub(crate) fn shown_anew(&mut self) {
        self.seen_at = None;
    }

    /// Returns true if a key that comes now is not an answer.
    pub(crate) fn is_early(&mut self, now: Duration) -> bool {
        let is_new = self.seen_at.is_none_or(|seen| now < seen.saturating_add(PAUSE));
        let is_typing = self.ignored_at.is_some_and(|last| now < last.saturating_add(TYPING));
        self.ignored_at = (is_new || is_typing).then_some(now);
        is_new || is_typing
    }
}
