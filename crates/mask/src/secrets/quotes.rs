//! Which quotes are open at a position in a text, as a shell would see it.
//!
//! `echo "password="; rm -rf ~; echo "x"` must not be shown as a password: the quote after the
//! `=` closes. Two interpretations are followed: one of the whole text, which is right for a
//! command, and one that starts again on each line, which is right for prose and settings, where
//! an apostrophe opens nothing. Where they differ, callers are careful.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OpenQuotes {
    pub(super) outer: Option<u8>,
    /// Whether, inside it, the other kind of quote is open.
    pub(super) inner: bool,
    /// Whether, inside it, an escaped quote is open.
    pub(super) escaped: bool,
}

impl OpenQuotes {
    /// Returns true if `quote`, with a backslash before it or not, closes something here.
    pub(super) fn closes(self, quote: u8, is_escaped: bool) -> bool {
        match self.outer {
            None => false,
            Some(_) if is_escaped => self.escaped,
            Some(outer) => outer == quote || self.inner,
        }
    }

    fn handle_quote(&mut self, quote: u8, is_escaped: bool) {
        match self.outer {
            None if is_escaped => {}
            None => *self = Self { outer: Some(quote), ..Self::default() },
            Some(_) if is_escaped => self.escaped = !self.escaped,
            Some(outer) if outer == quote => *self = Self::default(),
            Some(_) => self.inner = !self.inner,
        }
    }
}

/// Both interpretations, followed through a text from its start.
#[derive(Default)]
pub(super) struct QuoteTracker<'a> {
    bytes: &'a [u8],
    at: usize,
    text: OpenQuotes,
    line: OpenQuotes,
    /// The last long word without quotes, which is not scanned again from inside.
    pub(super) word: (usize, usize),
}

impl<'a> QuoteTracker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Returns what is open at `place`, scanned from the start of the text and from the start of
    /// the line. Callers ask for positions in order.
    pub(super) fn open_at(&mut self, place: usize) -> (OpenQuotes, OpenQuotes) {
        while self.at < place {
            self.handle_byte();
        }
        (self.text, self.line)
    }

    fn handle_byte(&mut self) {
        let byte = self.bytes[self.at];
        match byte {
            b'\\' => return self.escape(),
            // Only the reading of lines starts again. In a command a quotation may span lines.
            b'\n' => self.line = OpenQuotes::default(),
            b'"' | b'\'' => {
                self.text.handle_quote(byte, false);
                if !self.is_apostrophe() {
                    self.line.handle_quote(byte, false);
                }
            }
            _ => {}
        }
        self.at += 1;
    }

    /// Backslashes and what they escape. Between single quotes a shell has no escapes.
    fn escape(&mut self) {
        let run = self.bytes[self.at..].iter().take_while(|byte| **byte == b'\\').count();
        let next = self.bytes.get(self.at + run).copied();
        self.at += run;
        let Some(quote @ (b'"' | b'\'')) = next else { return };
        self.at += 1;
        for open in [&mut self.text, &mut self.line] {
            let is_escaped = run % 2 == 1 || run > 2;
            open.handle_quote(quote, is_escaped && !(open.outer == Some(b'\'') && quote == b'\''));
        }
    }

    /// Returns true if a single quote is between two letters, as in `don't`.
    fn is_apostrophe(&self) -> bool {
        let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
        self.bytes[self.at] == b'\''
            && self.line.outer.is_none()
            && self.at > 0
            && is_letter(self.bytes.get(self.at - 1))
            && is_letter(self.bytes.get(self.at + 1))
    }
}
