//! Lists of words in one string, separated by whitespace.

use memchr::{memchr_iter, memchr2_iter};

/// Returns the word of `list` that equals `word`, ignoring the case of ASCII letters.
pub(crate) fn find_word<'a>(list: &'a str, word: &[u8]) -> Option<&'a str> {
    let first = word.first()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let starts = memchr2_iter(lower, upper, list.as_bytes());
    find_at_starts(list, word, starts, <[u8]>::eq_ignore_ascii_case)
}

/// Returns the word of `list` that equals `word`, with the same case.
pub(crate) fn find_exactly<'a>(list: &'a str, word: &[u8]) -> Option<&'a str> {
    let starts = memchr_iter(*word.first()?, list.as_bytes());
    find_at_starts(list, word, starts, |known, word| known == word)
}

/// Returns the word of `list` that begins at one of `starts` and is the same as `word`.
///
/// The list is not split into words: a hook that reads rules looks up a thousand words.
fn find_at_starts<'a>(
    list: &'a str,
    word: &[u8],
    mut starts: impl Iterator<Item = usize>,
    is_same: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<&'a str> {
    let bytes = list.as_bytes();
    let is_end = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    // A word may be as long as a text: no more of it is read than the list is long.
    let is_it = |at: &usize| {
        let end = at + word.len();
        at.checked_sub(1).is_none_or(is_end)
            && is_end(end)
            && bytes.get(*at..end).is_some_and(|known| is_same(known, word))
            && !word.iter().any(u8::is_ascii_whitespace)
    };
    starts.find(is_it).map(|at| &list[at..at + word.len()])
}

/// Returns true if `word` is in `list`, ignoring the case of ASCII letters.
pub(crate) fn contains_word(list: &str, word: &[u8]) -> bool {
    find_word(list, word).is_some()
}

/// Returns true if `word` is in `list`, with the same case.
pub fn contains_exactly(list: &str, word: &[u8]) -> bool {
    find_exactly(list, word).is_some()
}

#[cfg(test)]
mod tests;
