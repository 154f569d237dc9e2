//! Numbers with their nouns, and times with their units.

use callgate_mask::text;

/// Returns a number with its noun, in the plural unless it is one.
pub(crate) fn counted_noun(count: usize, noun: &str) -> String {
    text::counted_noun(u64::try_from(count).unwrap_or(u64::MAX), noun)
}

/// Returns a number of entries of a ledger.
pub(crate) fn counted_entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// Returns how long something lasts, in the unit that is short to read.
pub(crate) fn time_span(seconds: u64) -> String {
    match seconds {
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
