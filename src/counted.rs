//! Numbers of things in memory with their nouns.

use callgate_mask::text;

/// Returns a number with its noun, in the plural unless it is one.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    text::counted(u64::try_from(count).unwrap_or(u64::MAX), noun)
}
