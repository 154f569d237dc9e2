//! The id of a question.

use std::fmt;

use serde::Serialize;

use crate::fields::{Malformed, required_field};
use crate::raw::Members;

/// The id of a question: a UUID of version 4. It keeps the spelling in which it arrived, because
/// the answer repeats it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RequestId(String);

impl RequestId {
    /// Parses a UUID of version 4 in its hyphenated form.
    pub fn parse(text: &str) -> Option<Self> {
        is_uuid_v4(text.as_bytes()).then(|| Self(text.to_owned()))
    }

    pub fn from_random(bytes: [u8; 16]) -> Self {
        // A UUID has its version in the bits 76 to 79 and its variant in the bits 62 and 63.
        let version_and_variant = 0xf000_c000_0000_0000_0000_u128;
        let bits = u128::from_be_bytes(bytes) & !version_and_variant | 0x4000_8000_0000_0000_0000;
        let hex = format!("{bits:032x}");
        Self([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
    }

    pub(crate) fn from_member(members: &Members, field: &'static str) -> Result<Self, Malformed> {
        const EXPECTED: &str = "a UUID of version 4";
        let text: String = required_field(members, field, EXPECTED)?;
        Self::parse(&text).ok_or(Malformed::wrong_field(field, EXPECTED))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_random_id_is_one() {
        for bytes in [[0; 16], [0xff; 16], *b"0123456789abcdef"] {
            let id = RequestId::from_random(bytes);
            assert_eq!(RequestId::parse(id.as_str()), Some(id));
        }
        let id = RequestId::from_random(*b"0123456789abcdef");
        assert_eq!(id.as_str(), "30313233-3435-4637-b839-616263646566");
    }
}
