//! The words and operators of a text, as a shell would see them, with hidden spans as one byte.
//!
//! Quotes and backslashes are removed but do not protect what is between them: blanks and operators
//! inside quotes separate, so that a command in a command (`bash -c "sudo x"`) is read like any
//! other.

use crate::secrets::candidate::is_operator;
use crate::secrets::span::SecretSpan;

/// What stands for a hidden span in a word. No shell has such a byte in a word.
pub(super) const HIDDEN: u8 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellOperator {
    /// `;`, `&`, `&&`, `||` or the end of a line.
    Separator,
    Pipe,
    Backtick,
    /// `$(`
    Substitution,
    /// `<(` or `>(`
    ProcessSubstitution,
    /// `(` alone.
    Parenthesis,
    /// `)`
    Close,
    /// A redirection whose target is the next word.
    Redirection,
    /// `<<<`
    HereString,
    /// `<<`, or the end of a tag of a markup language.
    Ignored,
}

/// A word without its quotes, or an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShellToken {
    Word(Vec<u8>),
    Operator(ShellOperator),
}

/// Splits a text with hidden spans, which are in order and do not overlap.
pub(super) struct ShellTokens<'a> {
    text: &'a [u8],
    spans: std::slice::Iter<'a, SecretSpan>,
    next_span: Option<&'a SecretSpan>,
    at: usize,
    /// Where the last tag of a markup language would have begun: `<name`.
    tag: Option<usize>,
}

impl<'a> ShellTokens<'a> {
    pub(super) fn new(text: &'a [u8], spans: &'a [SecretSpan]) -> Self {
        let mut spans = spans.iter();
        let next_span = spans.next();
        Self { text, spans, next_span, at: 0, tag: None }
    }

    fn peek(&self, by: usize) -> Option<u8> {
        self.text.get(self.at + by).copied()
    }

    /// Reads the word that begins here; `None` if there is none.
    fn parse_word(&mut self) -> Option<Vec<u8>> {
        let mut word = Vec::new();
        let mut quotes = 0;
        loop {
            if let Some(span) = self.next_span.filter(|span| self.at >= span.start) {
                word.push(HIDDEN);
                self.at = span.end.max(self.at);
                self.next_span = self.spans.next();
                continue;
            }
            match self.peek(0) {
                Some(b'\\') if self.peek(1) == Some(b'\n') => self.at += 2,
                Some(b'"' | b'\'' | b'\\') => (self.at, quotes) = (self.at + 1, quotes + 1),
                Some(byte) if !is_blank(byte) && byte != b'\n' && !is_operator(byte) => {
                    word.push(byte);
                    self.at += 1;
                }
                _ => break,
            }
        }
        // In `2>file` the number belongs to the redirection.
        let is_descriptor = matches!(self.peek(0), Some(b'<' | b'>'))
            && !word.is_empty()
            && word.iter().all(u8::is_ascii_digit);
        // Two quotes with nothing between them are a word, too.
        (!is_descriptor && (quotes >= 2 || !word.is_empty())).then_some(word)
    }

    fn parse_operator(&mut self) -> Option<ShellOperator> {
        let byte = self.peek(0)?;
        let start = self.at;
        self.at += 1;
        Some(match byte {
            b'|' if self.peek(0) == Some(b'|') => self.skip_operator(1, ShellOperator::Separator),
            b'|' => ShellOperator::Pipe,
            b'`' => ShellOperator::Backtick,
            b'(' if start > 0 && self.text[start - 1] == b'$' => ShellOperator::Substitution,
            b'(' => ShellOperator::Parenthesis,
            b')' => ShellOperator::Close,
            b'<' | b'>' if self.peek(0) == Some(b'(') => {
                self.skip_operator(1, ShellOperator::ProcessSubstitution)
            }
            b'<' => self.parse_input_operator(start),
            // XML and HTML would otherwise redirect into whatever follows each tag.
            b'>' if self.is_tag(start) => ShellOperator::Ignored,
            b'>' => {
                let marks = self.text[self.at..].iter().take(2);
                let marks = marks.take_while(|byte| b">&|".contains(byte)).count();
                self.skip_operator(marks, ShellOperator::Redirection)
            }
            _ => ShellOperator::Separator,
        })
    }

    fn skip_operator(&mut self, by: usize, operator: ShellOperator) -> ShellOperator {
        self.at += by;
        operator
    }

    fn parse_input_operator(&mut self, start: usize) -> ShellOperator {
        let signs = self.text[self.at..].iter().take(2).take_while(|byte| **byte == b'<').count();
        self.tag = (signs == 0).then_some(start);
        match signs {
            0 => self
                .skip_operator(usize::from(self.peek(0) == Some(b'&')), ShellOperator::Redirection),
            1 => self.skip_operator(1, ShellOperator::Ignored),
            _ => self.skip_operator(2, ShellOperator::HereString),
        }
    }

    /// Returns true if the `>` at `end` ends a tag such as `<name>` or `</name>`.
    fn is_tag(&mut self, end: usize) -> bool {
        let Some(start) = self.tag.take() else { return false };
        let name = &self.text[start + 1..end];
        !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/-_:.".contains(byte))
    }
}

impl Iterator for ShellTokens<'_> {
    type Item = ShellToken;

    fn next(&mut self) -> Option<ShellToken> {
        let is_outside = |at: usize| self.next_span.is_none_or(|span| at < span.start);
        let blanks = self.text[self.at..].iter().enumerate();
        let blanks = blanks.take_while(|(by, byte)| is_blank(**byte) && is_outside(self.at + by));
        self.at += blanks.count();
        if let Some(word) = self.parse_word() {
            return Some(ShellToken::Word(word));
        }
        self.parse_operator().map(ShellToken::Operator)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
