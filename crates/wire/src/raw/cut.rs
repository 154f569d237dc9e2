//! Finds where JSON values begin and end.
//!
//! Values that are only passed on need no parser that understands them. But their receiver will
//! parse them, and a value that it cannot read is a message that nobody answers. So everything is
//! checked as a parser would, only faster: strings are searched for their end and their escapes,
//! many bytes at a time, and nothing is recursive, so any depth is accepted.

use std::borrow::Cow;

use memchr::memchr2;

use super::{Json, Members, NotJson};

pub(super) fn parse_value(text: &str) -> Result<Json<'_>, NotJson> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    let value = cursor.parse_value();
    value.filter(|_| cursor.is_at_end()).ok_or(cursor.failure())
}

/// Returns the members of the one object in `text`, and those of its member `inner`.
pub(super) fn parse_members<'a>(
    text: &'a str,
    inner: Option<&str>,
) -> Result<(Members<'a>, Option<Members<'a>>), NotJson> {
    let mut cursor = Cursor::new(text);
    let mut found = None;
    let mut is_first = true;
    cursor.skip_blanks();
    let members = cursor.parse_object(|cursor, key| {
        // Of two members with this name the first one counts, as for `Members::get`.
        let is_inner = inner == Some(key) && std::mem::take(&mut is_first);
        if !is_inner || cursor.peek() != Some(b'{') {
            return cursor.parse_value();
        }
        let start = cursor.at;
        found = Some(cursor.parse_object(|cursor, _| cursor.parse_value())?);
        Some(cursor.json_since(start))
    });
    let is_whole = cursor.is_at_end();
    match members {
        Some(members) if is_whole => Ok((members, found)),
        _ => Err(cursor.failure()),
    }
}

/// Returns true if there is a byte below 0x20.
///
/// Eight bytes are looked at together by hand, and eight times that in a loop of a fixed length,
/// which is always unrolled: the shipped programs are linked with optimisation for size, and the
/// compiler then makes a loop over bytes that takes eight times as long.
pub(super) fn has_control(text: &[u8]) -> bool {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let (blocks, rest) = text.as_chunks::<64>();
    let has = |block: &[u8; 64]| {
        let words = block.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
        // Sets the highest bit of a byte below 0x20. A borrow sets others, but only above such a
        // byte.
        let below = words.fold(0, |below, word| below | (word.wrapping_sub(EACH * 0x20) & !word));
        below & (EACH * 0x80) != 0
    };
    blocks.iter().any(has) || rest.iter().any(|byte| *byte < 0x20)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Whether there is any byte that a string must not contain. Compact JSON has none, and then no
    /// string has to be searched for one.
    has_control: bool,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, has_control: has_control(text.as_bytes()) }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn json_since(&self, start: usize) -> Json<'a> {
        Json(&self.text[start..self.at])
    }

    fn failure(&self) -> NotJson {
        NotJson { bytes_read: self.at.min(self.text.len()) }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.text.len()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips `byte`, which has to be next.
    fn expect_byte(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn skip_if_next(&mut self, byte: u8) -> bool {
        self.expect_byte(byte).is_some()
    }

    /// Reads an object; `value` reads the value of each member, given its key.
    fn parse_object(
        &mut self,
        mut value: impl FnMut(&mut Self, &str) -> Option<Json<'a>>,
    ) -> Option<Members<'a>> {
        let mut members = Vec::new();
        self.expect_byte(b'{')?;
        self.skip_blanks();
        if self.skip_if_next(b'}') {
            return Some(Members(members));
        }
        loop {
            let key = self.parse_key()?;
            let value = value(self, &key)?;
            members.push((key, value));
            self.skip_blanks();
            if self.skip_if_next(b'}') {
                return Some(Members(members));
            }
            self.expect_byte(b',')?;
            self.skip_blanks();
        }
    }

    /// Reads a key and its colon, up to where its value begins.
    fn parse_key(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.skip_string()?;
        let quoted = self.json_since(start);
        let text = &quoted.0[1..quoted.0.len() - 1];
        // Half of a surrogate pair is not a character, but JSON allows it: such a key stays as it
        // is.
        let plain = Cow::Borrowed(text);
        let key = if text.contains('\\') { quoted.string().unwrap_or(plain) } else { plain };
        self.skip_colon()?;
        Some(key)
    }

    fn skip_colon(&mut self) -> Option<()> {
        self.skip_blanks();
        self.expect_byte(b':')?;
        self.skip_blanks();
        Some(())
    }

    fn parse_value(&mut self) -> Option<Json<'a>> {
        let start = self.at;
        let mut open = Vec::new();
        loop {
            let close = match self.peek()? {
                b'{' => Some(b'}'),
                b'[' => Some(b']'),
                _ => None,
            };
            match close {
                Some(close) => {
                    self.at += 1;
                    self.skip_blanks();
                    if !self.skip_if_next(close) {
                        self.skip_to_value(close)?;
                        open.push(close);
                        continue;
                    }
                }
                None => self.skip_scalar()?,
            }
            if !self.close_all(&mut open)? {
                return Some(self.json_since(start));
            }
        }
    }

    /// Closes what ends after a value; returns false if nothing is open any more.
    fn close_all(&mut self, open: &mut Vec<u8>) -> Option<bool> {
        while let Some(&close) = open.last() {
            self.skip_blanks();
            if self.skip_if_next(close) {
                open.pop();
                continue;
            }
            self.expect_byte(b',')?;
            self.skip_blanks();
            self.skip_to_value(close)?;
            return Some(true);
        }
        Some(false)
    }

    /// Skips the key that precedes a value in an object.
    fn skip_to_value(&mut self, close: u8) -> Option<()> {
        if close == b'}' {
            self.skip_string()?;
            self.skip_colon()?;
        }
        Some(())
    }

    fn skip_scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_string(),
            b't' => self.skip_word("true"),
            b'f' => self.skip_word("false"),
            b'n' => self.skip_word("null"),
            _ => self.skip_number(),
        }
    }

    fn skip_word(&mut self, word: &str) -> Option<()> {
        self.bytes()[self.at..].starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    fn skip_number(&mut self) -> Option<()> {
        self.skip_if_next(b'-');
        if !self.skip_if_next(b'0') {
            self.skip_digits()?;
        }
        if self.skip_if_next(b'.') {
            self.skip_digits()?;
        }
        if self.skip_if_next(b'e') || self.skip_if_next(b'E') {
            let _sign = self.skip_if_next(b'+') || self.skip_if_next(b'-');
            self.skip_digits()?;
        }
        Some(())
    }

    /// Skips digits, of which there must be at least one.
    fn skip_digits(&mut self) -> Option<()> {
        let digits =
            self.bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        (digits > 0).then_some(())
    }

    fn skip_string(&mut self) -> Option<()> {
        self.expect_byte(b'"')?;
        let start = self.at;
        loop {
            self.at += memchr2(b'"', b'\\', &self.bytes()[self.at..])?;
            if self.peek() == Some(b'"') {
                break;
            }
            self.skip_escape()?;
        }
        if self.has_control && has_control(&self.bytes()[start..self.at]) {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Skips a backslash and what it escapes.
    fn skip_escape(&mut self) -> Option<()> {
        let escape = &self.bytes()[self.at + 1..];
        self.at += match escape.first()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => escape.get(1..5)?.iter().all(u8::is_ascii_hexdigit).then_some(6)?,
            _ => return None,
        };
        Some(())
    }
}
