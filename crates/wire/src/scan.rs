//! Finds the top-level `id` of a JSON object that is not, or cannot be, parsed.
//!
//! Every request deserves an answer, even one that is too long to hold in memory or not quite JSON.
//! Clients put the `id` anywhere (Claude Code puts it last), so the whole object is scanned, in any
//! chunks, with a few bytes of state.

/// The longest id that is kept, as JSON text; no client sends longer ones.
pub const LONGEST_ID: usize = 256;

/// A scan for the top-level `id`, fed with [`push`](Self::push).
#[derive(Debug, Default)]
pub struct IdScan {
    depth: usize,
    place: ScanPlace,
    escaped: bool,
    token: Vec<u8>,
    key_is_id: bool,
    found: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScanPlace {
    /// Between members, before a key.
    #[default]
    BeforeKey,
    Key,
    /// After a key's colon, or after a value.
    Value,
    /// A string somewhere below or as a value.
    String,
    /// A number, `true`, `false` or `null` as a top-level value.
    Scalar,
}

impl IdScan {
    pub fn push(&mut self, chunk: &[u8]) {
        if self.found.is_some() {
            return;
        }
        for &byte in chunk {
            self.scan_byte(byte);
        }
    }

    /// Returns the `id`'s JSON text: a string or a number. `None` when there was none.
    pub fn finish(self) -> Option<String> {
        self.found
    }

    fn scan_byte(&mut self, byte: u8) {
        match self.place {
            ScanPlace::Key | ScanPlace::String => self.in_string(byte),
            ScanPlace::Scalar if is_scalar(byte) => self.keep(byte),
            ScanPlace::Scalar => {
                self.end_value();
                self.scan_structure(byte);
            }
            ScanPlace::BeforeKey | ScanPlace::Value => self.scan_structure(byte),
        }
    }

    fn in_string(&mut self, byte: u8) {
        self.keep(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            if self.place == ScanPlace::Key {
                self.key_is_id = self.token == b"\"id\"";
                self.place = ScanPlace::Value;
            } else {
                self.end_value();
            }
        }
    }

    fn scan_structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.place = if self.depth == 1 { ScanPlace::BeforeKey } else { ScanPlace::Value };
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' if self.depth == 1 => {
                self.place = ScanPlace::BeforeKey;
                self.key_is_id = false;
            }
            b'"' if self.place == ScanPlace::BeforeKey => self.begin_token(byte, ScanPlace::Key),
            b'"' => self.begin_token(byte, ScanPlace::String),
            _ if self.depth == 1 && is_scalar(byte) => self.begin_token(byte, ScanPlace::Scalar),
            _ => {}
        }
    }

    fn begin_token(&mut self, byte: u8, place: ScanPlace) {
        self.place = place;
        self.token.clear();
        self.keep(byte);
    }

    /// Keeps a token only where it may be a top-level key or the id.
    fn keep(&mut self, byte: u8) {
        // One byte more than an id may have tells later that it is too long.
        if self.depth == 1 && self.token.len() <= LONGEST_ID {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        self.place = ScanPlace::Value;
        // Of two ids the first one counts, as where a whole line is read.
        if self.depth == 1 && self.key_is_id && self.found.is_none() {
            self.found = as_id(&self.token);
        }
    }
}

fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

fn as_id(token: &[u8]) -> Option<String> {
    if token.len() > LONGEST_ID || !matches!(token.first()?, b'"' | b'-' | b'0'..=b'9') {
        return None;
    }
    let raw: &serde_json::value::RawValue = serde_json::from_slice(token).ok()?;
    Some(raw.get().to_owned())
}

#[cfg(test)]
mod tests;
