//! Bytes as hexadecimal digits, in JSON and on the command line.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error};

/// Writes bytes as digits in lower case.
pub(crate) fn write_digits(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

pub(crate) fn parse_digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

/// Reads a member that is exactly `N` bytes.
pub(crate) fn deserialize_digits<'de, D, const N: usize>(source: D) -> Result<[u8; N], D::Error>
where
    D: Deserializer<'de>,
{
    let text = String::deserialize(source)?;
    parse_digits(&text).ok_or_else(|| D::Error::custom(format!("expected {} hex digits", 2 * N)))
}
