//! A message as words, some of them quoted.

/// One word, or what stands in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// Without its quotes.
    pub(super) text: &'a str,
    /// In which quotes it stands.
    pub(super) quote: Option<char>,
    /// Where it begins in the message, with its quotes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

impl Word<'_> {
    /// Whether it is this word, in any case, and not quoted.
    pub(super) fn is(&self, word: &str) -> bool {
        self.quote.is_none() && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// The words of a message. The end of a line is a word of its own, and so is a comma, a colon or
/// a semicolon behind a word.
pub(super) fn scan(source: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    // Quotes that open and never close again.
    let mut open = Vec::new();
    while let Some(first) = source[at..].chars().next() {
        if first == '\n' {
            words.push(Word { text: "\n", quote: None, start: at, end: at + 1 });
            at += 1;
        } else if first.is_whitespace() {
            at += first.len_utf8();
        } else if let Some(word) = quoted(source, at, first, &mut open) {
            at = word.end;
            words.push(word);
        } else {
            let end = source[at..].find(char::is_whitespace).map_or(source.len(), |end| at + end);
            plain(&source[at..end], at, &mut words);
            at = end;
        }
    }
    words
}

/// What stands in the quotes that open at `at`, if they close.
fn quoted<'a>(source: &'a str, at: usize, open: char, never: &mut Vec<char>) -> Option<Word<'a>> {
    let close = match open {
        _ if never.contains(&open) => return None,
        '"' | '\'' | '`' => open,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    let start = at + open.len_utf8();
    let ends_here = |end: usize| {
        let after = source[end + close.len_utf8()..].chars().next();
        after.is_none_or(|c| c.is_whitespace() || ",;:.?!)".contains(c))
    };
    let mut is_escaped = false;
    for (offset, c) in source[start..].char_indices() {
        let end = start + offset;
        if c == close && !is_escaped && ends_here(end) {
            let end_of_word = end + close.len_utf8();
            return Some(Word {
                text: &source[start..end],
                quote: Some(open),
                start: at,
                end: end_of_word,
            });
        }
        is_escaped = c == '\\' && !is_escaped && open == '"';
    }
    never.push(open);
    None
}

/// A word without quotes, and the sign behind it as another.
fn plain<'a>(text: &'a str, at: usize, words: &mut Vec<Word<'a>>) {
    let word =
        |text: &'a str, start: usize| Word { text, quote: None, start, end: start + text.len() };
    match text.strip_suffix([',', ';', ':']) {
        Some(before) if !before.is_empty() => {
            words.push(word(before, at));
            words.push(word(&text[before.len()..], at + before.len()));
        }
        _ => words.push(word(text, at)),
    }
}

/// Some words of a message that are being read.
#[derive(Debug, Clone)]
pub(super) struct Phrase<'a> {
    source: &'a str,
    /// What is left of them.
    pub(super) words: Vec<Word<'a>>,
}

impl<'a> Phrase<'a> {
    pub(super) fn new(source: &'a str, words: Vec<Word<'a>>) -> Self {
        Self { source, words }
    }

    /// Takes the first word away if it is one of these.
    pub(super) fn eat(&mut self, words: &[&str]) -> bool {
        let is_there = self.words.first().is_some_and(|word| word.is_one_of(words));
        if is_there {
            self.words.remove(0);
        }
        is_there
    }

    /// Takes all such words away from the beginning.
    pub(super) fn eat_all(&mut self, words: &[&str]) -> usize {
        let count = self.words.iter().take_while(|word| word.is_one_of(words)).count();
        self.words.drain(..count);
        count
    }

    /// Takes such words away from the beginning as long as another follows.
    pub(super) fn eat_before(&mut self, words: &[&str]) {
        let count = self.words.iter().take_while(|word| word.is_one_of(words)).count();
        self.words.drain(..count.min(self.words.len().saturating_sub(1)));
    }

    /// Takes all such words away from the end.
    pub(super) fn eat_back(&mut self, words: &[&str]) -> usize {
        let count = self.words.iter().rev().take_while(|word| word.is_one_of(words)).count();
        self.words.truncate(self.words.len() - count);
        count
    }

    /// Whether one of the words is one of these.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| word.is_one_of(words))
    }

    /// What was written: of a single quoted word what is in it, otherwise everything as it stands.
    pub(super) fn text(&self) -> Option<&'a str> {
        match &self.words[..] {
            [] => None,
            [word] => Some(word.text),
            [first, .., last] => Some(&self.source[first.start..last.end]),
        }
    }

    /// The words before and after the last one of `separators` for which `fits` holds of the rest.
    pub(super) fn split_last(
        &self,
        separators: &[&str],
        fits: impl Fn(&Self) -> bool,
    ) -> Option<(Self, Self)> {
        let at = |at: usize| {
            let before = Self::new(self.source, self.words[..at].to_vec());
            (before, Self::new(self.source, self.words[at + 1..].to_vec()))
        };
        let places = (0..self.words.len()).rev().filter(|at| self.words[*at].is_one_of(separators));
        // A path is named in the last few words: this keeps long messages cheap.
        places.take(4).map(at).find(|(before, after)| !before.words.is_empty() && fits(after))
    }

    /// The words before and after the first one of `separators`.
    pub(super) fn split_first(&self, separators: &[&str]) -> Option<(Self, Self)> {
        let at = self.words.iter().position(|word| word.is_one_of(separators))?;
        let before = Self::new(self.source, self.words[..at].to_vec());
        Some((before, Self::new(self.source, self.words[at + 1..].to_vec())))
    }

    /// Takes a full stop or an exclamation mark away from the end; a question mark too where a
    /// question was asked.
    pub(super) fn eat_stop(&mut self, is_question: bool) {
        let signs: &[char] = if is_question { &['?', '!'] } else { &['!'] };
        while let Some(last) = self.words.pop() {
            let is_behind_quotes = self.words.last().is_some_and(|word| word.end == last.start);
            let mut text = last.text.trim_end_matches(signs);
            // `.`, `..` and `src/..` are folders.
            let stem = text.trim_end_matches('.');
            if is_behind_quotes || !(stem.is_empty() || stem.ends_with('/')) {
                text = stem;
            }
            if last.quote.is_some() {
                self.words.push(last);
                return;
            }
            if !text.is_empty() {
                self.words.push(Word { text, end: last.start + text.len(), ..last });
                return;
            }
        }
    }
}
