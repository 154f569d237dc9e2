//! The words of a command, in order.

use crate::secrets::candidate::is_operator;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommandWord {
    /// Where it begins with its quotes.
    pub(super) raw: usize,
    /// Where it begins without quotes before it.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether an operator or a new line precedes it.
    pub(super) starts_command: bool,
    /// Whether that operator is `|`.
    pub(super) is_piped: bool,
    /// Whether a quote ends the word and more follows in it, as in `-p'x y'`.
    pub(super) is_quoted_on: bool,
}

/// A text that is split into words.
pub(super) struct CommandWords<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> CommandWords<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns true if the quotes from `raw` on have nothing between them.
    fn is_empty(&self, raw: usize) -> bool {
        self.at - raw == 2 && self.bytes[raw] == self.bytes[raw + 1] && self.bytes[raw] != b'\\'
    }

    pub(super) fn next(&mut self) -> Option<CommandWord> {
        let mut starts_command = self.at == 0;
        let mut is_piped = false;
        let mut raw = None;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                // A line that continues.
                b'\\' if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 1,
                // A pipeline goes on in the next line, because a line may end after its `|`.
                b'\n' => (starts_command, is_piped, raw) = (true, is_piped, None),
                b' ' | b'\t' | b'\r' if raw.is_some_and(|raw| self.is_empty(raw)) => break,
                b' ' | b'\t' | b'\r' => raw = None,
                b'"' | b'\'' | b'\\' => raw = raw.or(Some(self.at)),
                _ if is_operator(byte) => {
                    is_piped = byte == b'|' && self.bytes.get(self.at + 1) != Some(&b'|');
                    (starts_command, raw) = (true, None);
                }
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        let ends = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'') || is_operator(*byte)
        };
        let rest = self.bytes.get(start..)?;
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        // A word of nothing but quotes is a word, and only the end of the text is none.
        if len == 0 && raw.is_none() {
            return None;
        }
        self.at = start + len;
        let is_quoted_on = matches!(self.bytes.get(self.at), Some(b'"' | b'\''))
            && self.bytes.get(self.at + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
        let end = self.at;
        Some(CommandWord {
            raw: raw.unwrap_or(start),
            start,
            end,
            starts_command,
            is_piped,
            is_quoted_on,
        })
    }
}
