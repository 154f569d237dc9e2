//! Reads the fields of a message and writes a message as a line: what the line protocols share.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde_json::value::RawValue;

use crate::raw::{Json, Members, NotJson, flatten_json, from_object};

/// Why a line is not a message of this protocol.
///
/// Its text names fields and never quotes their values, so it may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// It is not one JSON object.
    NotJson { bytes_read: usize },
    /// A required field is missing, or a field is not what it has to be.
    WrongField { field: &'static str, expected: &'static str },
}

impl Malformed {
    pub(crate) fn wrong_field(field: &'static str, expected: &'static str) -> Self {
        Self::WrongField { field, expected }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { bytes_read } => {
                write!(f, "the line is not one JSON object (read {bytes_read} bytes of it)")
            }
            Self::WrongField { field, expected } => {
                write!(f, "`{field}` must be {expected}")
            }
        }
    }
}

impl std::error::Error for Malformed {}

pub(crate) fn members_of(line: &[u8]) -> Result<Members<'_>, Malformed> {
    let line = std::str::from_utf8(line)
        .map_err(|error| Malformed::NotJson { bytes_read: error.valid_up_to() })?;
    Members::from_text(line).map_err(|NotJson { bytes_read }| Malformed::NotJson { bytes_read })
}

pub(crate) fn required_field<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<T, Malformed> {
    let value = members.get(field).and_then(|value| serde_json::from_str(value.get()).ok());
    value.ok_or(Malformed::wrong_field(field, expected))
}

pub(crate) fn text_field(members: &Members, field: &'static str) -> Option<String> {
    required_field(members, field, "a string").ok()
}

/// Like [`required_field`], but `None` if the field is absent or `null`.
pub(crate) fn optional_field<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<Option<T>, Malformed> {
    if_present(members, field, |members, field| required_field(members, field, expected))
}

/// Reads a field with `read`, or returns `None` if it is absent or `null`.
pub(crate) fn if_present<T>(
    members: &Members,
    field: &'static str,
    read: impl FnOnce(&Members, &'static str) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    members.get_non_null(field).map(|_| read(members, field)).transpose()
}

/// Like [`required_field`], for an object. An array of its values in order is not accepted.
pub(crate) fn required_object<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<T, Malformed> {
    let value = members.get(field).and_then(|value| from_object(value.get()).ok());
    value.ok_or(Malformed::wrong_field(field, expected))
}

/// Like [`optional_field`], for an array.
pub(crate) fn optional_list<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
) -> Result<Option<Vec<T>>, Malformed> {
    optional_field(members, field, "an array")
}

/// Like [`required_object`], for an object that is only relayed.
pub(crate) fn required_json_object(
    members: &Members,
    field: &'static str,
) -> Result<Box<RawValue>, Malformed> {
    let object = members.get(field).filter(|value| value.is_object());
    object.and_then(Json::to_boxed).ok_or(Malformed::wrong_field(field, "an object"))
}

pub(crate) fn optional_object(
    members: &Members,
    field: &'static str,
) -> Result<Option<Box<RawValue>>, Malformed> {
    if_present(members, field, required_json_object)
}

/// Returns true for a value that is left out where it is written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) fn write_optional<M: SerializeMap>(
    map: &mut M,
    field: &str,
    value: Option<&impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(field, value))
}

/// Returns the message as one line, its newline included.
pub(crate) fn one_line(message: &impl Serialize) -> Vec<u8> {
    // Serialising cannot fail: messages hold only strings, numbers and checked JSON. If it ever
    // did, the line would be blank, and readers ignore blank lines.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    flatten_json(&mut line);
    line.push(b'\n');
    line
}

/// Reads a text of at most `limit` bytes.
pub(crate) fn bounded_text(
    members: &Members,
    field: &'static str,
    limit: usize,
    expected: &'static str,
) -> Result<String, Malformed> {
    let text: String = required_field(members, field, expected)?;
    if text.len() <= limit { Ok(text) } else { Err(Malformed::wrong_field(field, expected)) }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fmt;

    /// Returns a message and the line it is written as, for tests of the line protocols.
    pub(crate) fn render_with_line(message: &impl fmt::Debug, line: &[u8]) -> String {
        let message = format!("{message:?}").replace('\r', "␍").replace('\n', "␊");
        format!("{message}\n  = {:?}", String::from_utf8_lossy(line))
    }
}
