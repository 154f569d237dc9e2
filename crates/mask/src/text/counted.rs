//! Numbers with their nouns, times with their units, and words in a list.

/// Returns a number with its noun, in the plural unless it is one.
pub fn counted_noun(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Returns a number of entries of a ledger.
pub fn counted_entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// Lists words as a sentence does: "a, b or c".
pub fn list_choices(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

/// Returns how long something lasts, in the unit that is short to read.
pub fn time_span(seconds: u64) -> String {
    match seconds {
        // Each unit goes on to nearly twice the next one: `90 s` says more than `1 min`.
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_to_read() {
        let shown = [5, 119, 120, 7_199, 7_200, 172_799, 172_800].map(time_span);
        assert_eq!(shown, ["5 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days"]);
    }
}
