//! The word that was perhaps meant.

/// The nearest of some words, when one is near, as the end of a sentence.
pub(super) fn hint(word: &str, words: &[&str]) -> String {
    let word = word.to_lowercase();
    let near = words.iter().map(|known| (distance(&word, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 1 + known.len() / 4 => {
            format!("; did you mean `{known}`?")
        }
        _ => format!("; known are {}", words.join(", ")),
    }
}

/// How many letters have to be changed, added, left out or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut last = '\0';
    for (i, a) in one.chars().take(64).enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut cost = (row[j] + usize::from(a != *b)).min(row[j + 1] + 1).min(next[j] + 1);
            if j > 0 && a == other[j - 1] && last == *b && !before.is_empty() {
                cost = cost.min(before[j - 1] + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut row, next);
        last = a;
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found() {
        for (word, expected) in [
            ("comand", "; did you mean `command`?"),
            ("commadn", "; did you mean `command`?"),
            ("Tool", "; did you mean `tool`?"),
            ("utnil", "; did you mean `until`?"),
            ("colour", "; known are command, tool, until"),
        ] {
            assert_eq!(hint(word, &["command", "tool", "until"]), expected, "{word}");
        }
    }
}
