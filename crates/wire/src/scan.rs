//! Finds the top-level `id` of a JSON object that is not, or cannot be, parsed.
//!
//! Every request deserves an answer, also one that is too long to hold in memory or not quite
//! JSON. Clients put the `id` where they like (Claude Code puts it last), so the whole object is
//! scanned, in any chunks, with a few bytes of state.

/// Longer ids than this are not kept; no client sends them.
const LONGEST_ID: usize = 256;

/// A scan for the top-level `id`, fed with [`push`](Self::push).
#[derive(Debug, Default)]
pub struct IdScan {
    depth: usize,
    place: Place,
    escaped: bool,
    token: Vec<u8>,
    key_is_id: bool,
    found: Option<String>,
}

/// Where in the top-level object the scan stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
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
    /// Reads on.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.found.is_some() {
            return;
        }
        for &byte in chunk {
            self.step(byte);
        }
    }

    /// The `id`'s JSON text: a string or a number. `None` when there was none.
    #[must_use]
    pub fn finish(self) -> Option<String> {
        self.found
    }

    fn step(&mut self, byte: u8) {
        match self.place {
            Place::Key | Place::String => self.in_string(byte),
            Place::Scalar if is_scalar(byte) => self.keep(byte),
            Place::Scalar => {
                self.end_value();
                self.structure(byte);
            }
            Place::BeforeKey | Place::Value => self.structure(byte),
        }
    }

    fn in_string(&mut self, byte: u8) {
        self.keep(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            if self.place == Place::Key {
                self.key_is_id = self.token == b"\"id\"";
                self.place = Place::Value;
            } else {
                self.end_value();
            }
        }
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.place = if self.depth == 1 { Place::BeforeKey } else { Place::Value };
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' if self.depth == 1 => {
                self.place = Place::BeforeKey;
                self.key_is_id = false;
            }
            b'"' if self.place == Place::BeforeKey => self.begin(byte, Place::Key),
            b'"' => self.begin(byte, Place::String),
            _ if self.depth == 1 && is_scalar(byte) => self.begin(byte, Place::Scalar),
            _ => {}
        }
    }

    fn begin(&mut self, byte: u8, place: Place) {
        self.place = place;
        self.token.clear();
        self.keep(byte);
    }

    /// Keeps a token only where it may be a top-level key or the id.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= LONGEST_ID {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        self.place = Place::Value;
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
