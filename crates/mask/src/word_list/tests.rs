//! Words are found in lists.

use proptest::prelude::*;

use super::*;

/// Looks the word up by splitting the list.
fn is_word_of(list: &str, word: &str) -> bool {
    let is_it = |known: &str| known.eq_ignore_ascii_case(word);
    !word.is_empty() && list.split_ascii_whitespace().any(is_it)
}

proptest! {
    #[test]
    fn a_word_is_found_where_cutting_the_list_would_find_it(
        list in "[abAB. \\n]{0,24}",
        word in "[abAB. ]{0,3}",
    ) {
        prop_assert_eq!(contains_word(&list, word.as_bytes()), is_word_of(&list, &word));
        let is_there = list.split_ascii_whitespace().any(|known| known == word);
        prop_assert_eq!(contains_exactly(&list, word.as_bytes()), is_there);
    }
}
