//! The name of a question.

use std::fmt;

use serde::Serialize;

/// Names one question: a UUID of version 4, kept in the spelling it came in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RequestId(String);

impl RequestId {
    /// Checks that `text` is a UUID of version 4 in its hyphenated form.
    pub fn parse(text: &str) -> Result<Self, NotUuid> {
        if is_uuid_v4(text.as_bytes()) { Ok(Self(text.to_owned())) } else { Err(NotUuid) }
    }

    /// The id as it is written.
    #[must_use]
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

/// A text that should have been a request id is not a UUID of version 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUuid;

impl fmt::Display for NotUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request id is not a UUID of version 4")
    }
}

impl std::error::Error for NotUuid {}
