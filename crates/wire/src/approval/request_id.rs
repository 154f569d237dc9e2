//! The id of a question.

use std::fmt;

use serde::Serialize;

use crate::fields::{Malformed, required};
use crate::raw::Members;

/// The id of a question: a UUID of version 4, in the spelling in which it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RequestId(String);

impl RequestId {
    /// Parses a UUID of version 4 in its hyphenated form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_uuid_v4(text.as_bytes()).then(|| Self(text.to_owned()))
    }

    /// Reads a field that holds an id.
    pub(crate) fn read(members: &Members, field: &'static str) -> Result<Self, Malformed> {
        const EXPECTED: &str = "a UUID of version 4";
        let text: String = required(members, field, EXPECTED)?;
        Self::parse(&text).ok_or(Malformed::wrong(field, EXPECTED))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_uuid_v4(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
            _ => byte.is_ascii_hexdigit(),
        })
}
