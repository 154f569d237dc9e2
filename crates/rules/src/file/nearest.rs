//! Suggests the word that was probably meant.

/// The longest beginning of a word that is compared, in characters. The distance of two words costs
/// the product of their lengths.
const LONGEST_WORD: usize = 64;

/// Returns the end of an error message: the nearest of the known words if there is one, otherwise
/// all of them.
pub(super) fn nearest_word_hint(word: &str, words: &[&str]) -> String {
    let word: String = word.to_lowercase().chars().take(LONGEST_WORD).collect();
    let near = words.iter().map(|known| (strsim::osa_distance(&word, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 1 + known.len() / 4 => {
            format!("; did you mean `{known}`?")
        }
        _ => format!("; known are {}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests;
