//! Lists of words that are known when the program is compiled.

use memchr::{memchr_iter, memchr2_iter};

/// The bits of a filter.
const BITS: usize = 512;

/// A list of words, written as one string and separated by whitespace; [`words!`](crate::words)
/// makes one.
///
/// Judging a command looks up its words in a hundred lists, and hardly ever finds one. So a list
/// has a filter, made by the compiler, that tells nearly always without a search that a word is
/// not in it.
#[derive(Debug)]
pub struct WordList {
    text: &'static str,
    filter: [u64; BITS / 64],
}

/// Makes a `&'static` [`WordList`](crate::word_list::WordList) of a string literal.
#[macro_export]
macro_rules! words {
    ($text:expr) => {
        const { &$crate::word_list::WordList::new($text) }
    };
}

impl WordList {
    pub const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let mut filter = [0; BITS / 64];
        let (mut start, mut at) = (0, 0);
        // Past the last byte as well, where the last word ends.
        while at <= bytes.len() {
            if at == bytes.len() || bytes[at].is_ascii_whitespace() {
                if start < at {
                    let bit = filter_bit(bytes[start], bytes[at - 1], at - start);
                    filter[bit / 64] |= 1 << (bit % 64);
                }
                start = at + 1;
            }
            at += 1;
        }
        Self { text, filter }
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.text.split_ascii_whitespace()
    }

    /// Returns true if `word` is in the list, with the same case.
    pub fn contains(&self, word: impl AsRef<[u8]>) -> bool {
        let word = word.as_ref();
        self.could_contain(word)
            && self.is_at_one_of(memchr_iter(word[0], self.text.as_bytes()), word, |known, word| {
                known == word
            })
    }

    /// Returns true if `word` is in the list, ignoring the case of ASCII letters.
    pub fn contains_in_any_case(&self, word: impl AsRef<[u8]>) -> bool {
        let word = word.as_ref();
        self.could_contain(word) && {
            let (lower, upper) = (word[0].to_ascii_lowercase(), word[0].to_ascii_uppercase());
            let starts = memchr2_iter(lower, upper, self.text.as_bytes());
            self.is_at_one_of(starts, word, <[u8]>::eq_ignore_ascii_case)
        }
    }

    /// Returns false if `word` is empty or surely not in the list in any case.
    fn could_contain(&self, word: &[u8]) -> bool {
        let [first, ..] = word else { return false };
        let bit = filter_bit(*first, word[word.len() - 1], word.len());
        self.filter[bit / 64] & 1 << (bit % 64) != 0
    }

    /// Returns true if the word that begins at one of `starts` is the same as `word`.
    fn is_at_one_of(
        &self,
        mut starts: impl Iterator<Item = usize>,
        word: &[u8],
        is_same: impl Fn(&[u8], &[u8]) -> bool,
    ) -> bool {
        let bytes = self.text.as_bytes();
        let is_end = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
        // A word may be as long as a text: no more of it is read than the list is long.
        starts.any(|at| {
            let end = at + word.len();
            at.checked_sub(1).is_none_or(is_end)
                && is_end(end)
                && bytes.get(at..end).is_some_and(|known| is_same(known, word))
                // Otherwise two words with the right blank between them would be found.
                && !word.iter().any(u8::is_ascii_whitespace)
        })
    }
}

/// Returns the bit of a filter for words with these ends and this length, in any case.
const fn filter_bit(first: u8, last: u8, length: usize) -> usize {
    let ends = first.to_ascii_lowercase() as usize * 37 + last.to_ascii_lowercase() as usize * 5;
    (ends + length * 11) % BITS
}

#[cfg(test)]
mod tests;
