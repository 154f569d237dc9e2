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
        let list: &str = list.leak();
        let words = WordList::new(list);
        prop_assert_eq!(words.contains_in_any_case(&word), is_word_of(list, &word));
        prop_assert_eq!(words.contains(&word), words.iter().any(|known| known == word));
    }
}
