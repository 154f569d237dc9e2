//! Colours for code: comments, texts, numbers, keywords and keys, found line by line. Pure.
//!
//! It knows the words and marks of a language and no grammar: enough to read code by, for a line
//! that is drawn before the next one has arrived. See docs/decisions/0025-code-in-the-chat.md.

mod languages;

use crate::styled_text::{StyledText, TextStyle};
use languages::{CodeLanguage, LANGUAGES};

const COMMENT: TextStyle = TextStyle::DIM;
const QUOTED: TextStyle = TextStyle::GREEN;
const NUMBER: TextStyle = TextStyle::YELLOW;
const KEYWORD: TextStyle = TextStyle::MAGENTA;
const KEY: TextStyle = TextStyle::CYAN;

/// Colours the lines of one block of code.
#[derive(Debug, Clone)]
pub(super) struct CodeHighlighter {
    language: &'static CodeLanguage,
    /// What ends the comment or text that the last line has left open, and its style.
    open: Option<(&'static str, TextStyle)>,
}

impl PartialEq for CodeHighlighter {
    fn eq(&self, other: &Self) -> bool {
        // All languages are in one table, where each has its own address.
        std::ptr::eq(self.language, other.language) && self.open == other.open
    }
}

impl Eq for CodeHighlighter {}

impl CodeHighlighter {
    /// Creates the highlighter for a block with this info string; `None` if the language is not
    /// known.
    pub(super) fn for_language(info: &str) -> Option<Self> {
        let name = info.trim().split([' ', ',', '{']).next()?.to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&&*name))?;
        Some(Self { language, open: None })
    }

    /// Colours the next line, which may begin within a comment or text of the line before.
    pub(super) fn colour_line(&mut self, line: &str) -> StyledText {
        StyledText::new(line, TextStyle::PLAIN).with_token_styles(|shown| self.tokens(shown))
    }

    /// Returns the length and the style of each token.
    fn tokens(&mut self, line: &str) -> Vec<(usize, TextStyle)> {
        let (mut tokens, mut at) = (Vec::new(), 0);
        while at < line.len() {
            let token = self.next_token(&line[..at], &line[at..]);
            at += token.0;
            tokens.push(token);
        }
        tokens
    }

    /// Returns the length and the style of the token at the beginning of `rest`, which is not
    /// empty. `before` is what the line has before it.
    fn next_token(&mut self, before: &str, rest: &str) -> (usize, TextStyle) {
        if let Some((end, style)) = self.open {
            return self.token_until(end, style, rest, 0);
        }
        if self.is_comment(before, rest) {
            return (rest.len(), COMMENT);
        }
        let language = self.language;
        if let Some((start, end)) =
            language.block_comment.filter(|(start, _)| rest.starts_with(start))
        {
            return self.token_until(end, COMMENT, rest, start.len());
        }
        // Before the quotes of one character, with which some of these marks begin.
        if let Some(mark) = language.long_quotes.iter().find(|mark| rest.starts_with(**mark)) {
            return self.token_until(mark, QUOTED, rest, mark.len());
        }
        let first = rest.chars().next().unwrap_or_default();
        if language.quotes.contains(&first) || language.has_chars && is_char_literal(rest) {
            let length = quoted_length(rest, first);
            return (length, if language.is_key(&rest[length..]) { KEY } else { QUOTED });
        }
        if first.is_ascii_digit() {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            return (prefix_length(rest, is_part), NUMBER);
        }
        if is_word_start(first) || language.word_start == Some(first) {
            let length = first.len_utf8() + prefix_length(&rest[first.len_utf8()..], is_word_part);
            return (length, language.word_style(&rest[..length], &rest[length..]));
        }
        (first.len_utf8(), TextStyle::PLAIN)
    }

    /// Returns the token that ends with `end`, which may be on a later line. The first `skipped`
    /// bytes begin it.
    fn token_until(
        &mut self,
        end: &'static str,
        style: TextStyle,
        rest: &str,
        skipped: usize,
    ) -> (usize, TextStyle) {
        let found = rest[skipped..].find(end);
        self.open = if found.is_some() { None } else { Some((end, style)) };
        (found.map_or(rest.len(), |at| skipped + at + end.len()), style)
    }

    fn is_comment(&self, before: &str, rest: &str) -> bool {
        let mark = self.language.line_comments.iter().find(|mark| rest.starts_with(**mark));
        // In a shell, `$#` and `a#b` are no comments.
        mark.is_some_and(|mark| *mark != "#" || before.is_empty() || before.ends_with([' ', '\t']))
    }
}

impl CodeLanguage {
    fn word_style(&self, word: &str, after: &str) -> TextStyle {
        let is_keyword = if self.is_case_free {
            self.keywords.contains(&&*word.to_ascii_lowercase())
        } else {
            self.keywords.contains(&word)
        };
        match () {
            () if is_keyword => KEYWORD,
            () if self.is_key(after) => KEY,
            () if self.word_start.is_some_and(|start| word.starts_with(start)) => KEY,
            () => TextStyle::PLAIN,
        }
    }

    /// Returns true if what precedes `after` is a key.
    fn is_key(&self, after: &str) -> bool {
        self.key_end.is_some_and(|end| after.trim_start().starts_with(end))
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the beginning whose characters are all part of something.
fn prefix_length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Returns true for `'x'` and `'\n'`, and not for a lifetime such as `'a`.
fn is_char_literal(text: &str) -> bool {
    let mut characters = text.chars();
    match (characters.next(), characters.next(), characters.next()) {
        (Some('\''), Some('\\'), _) => true,
        (Some('\''), Some(_), third) => third == Some('\''),
        _ => false,
    }
}

/// Returns the length of a text in quotes, to the end of the line if it is not closed.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at + c.len_utf8();
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests;
