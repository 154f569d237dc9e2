//! JSON that is passed on as it came.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2_iter;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, the values untouched.
#[derive(Debug, Clone, Default)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of the member called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The value of the member called `name`, unless it is `null`.
    #[must_use]
    pub fn some(&self, name: &str) -> Option<&'a RawValue> {
        self.get(name).filter(|value| !is_null(value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            members.push((key, map.next_value()?));
        }
        Ok(members)
    }
}

/// A key, borrowed where it holds no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads a member that is there, also when it is `null`: absent and `null` stay apart.
pub fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads an object. A derived struct would also take an array of its fields in order, which is
/// not what any protocol here says.
pub fn from_object<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    if json.trim_start().starts_with('{') {
        return serde_json::from_str(json);
    }
    Err(serde::de::Error::custom("it is not an object"))
}

/// Whether the value is an object.
#[must_use]
pub fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// Whether the value is `null`.
#[must_use]
pub fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// Puts JSON text on one line. A line end can only stand between tokens (inside a string it is
/// escaped), so a space in its place changes nothing.
pub fn flatten(json: &mut [u8]) {
    let ends: Vec<usize> = memchr2_iter(b'\n', b'\r', json).collect();
    for end in ends {
        json[end] = b' ';
    }
}

/// `text` as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
