//! Numbers with their nouns, and words in a list.

/// Returns a number with its noun, in the plural unless it is one.
pub fn counted_noun(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Lists words as a sentence does: "a, b or c".
pub fn list_choices(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}
