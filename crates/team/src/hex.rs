//! Members of JSON that are bytes in hexadecimal digits.

use callgate_wire::hex::parse_hex_digits;
use serde::de::{Deserialize, Deserializer, Error};

/// Reads a member that is exactly `N` bytes.
pub(crate) fn deserialize_digits<'de, D, const N: usize>(source: D) -> Result<[u8; N], D::Error>
where
    D: Deserializer<'de>,
{
    let text = String::deserialize(source)?;
    parse_hex_digits(&text)
        .ok_or_else(|| D::Error::custom(format!("expected {} hex digits", 2 * N)))
}
