//! Numbers with their nouns.

/// Returns a number with its noun, in the plural unless it is one.
pub fn counted_noun(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
