//! JSON that is passed on unchanged.

mod cut;
mod exact;

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2;
use serde::Deserialize;
use serde_json::value::RawValue;

pub use exact::{InexactJson, MOST_LEVELS, check_exact};

/// The text of one JSON value, known to be well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// An object without members.
    pub const EMPTY: Json<'static> = Json("{}");

    /// Checks that `text` is one JSON value, with optional white space around it.
    pub fn from_text(text: &'a str) -> Result<Self, NotJson> {
        cut::parse_value(text)
    }

    pub fn get(self) -> &'a str {
        self.0
    }

    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns true if the value is a string or a number, as ids are.
    pub fn is_id(self) -> bool {
        self.0.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
    }

    /// Returns the value if it is a string, without quotes and escapes.
    pub fn string(self) -> Option<Cow<'a, str>> {
        /// Borrows where possible, which `Cow` alone does not.
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        serde_json::from_str::<Text>(self.0).ok().map(|text| text.0)
    }

    /// Returns the members if the value is an object, and none otherwise.
    pub fn members(self) -> Members<'a> {
        Members::from_text(self.0).unwrap_or_default()
    }

    /// Returns the value on one line. A line end can only occur between tokens (inside a string it
    /// is escaped), so a space in its place changes nothing. If the text has to be changed, `space`
    /// holds it.
    pub fn on_one_line<'b>(self, space: &'b mut String) -> Json<'b>
    where
        'a: 'b,
    {
        // Nearly all JSON is on one line, and then nothing is copied.
        if memchr2(b'\n', b'\r', self.0.as_bytes()).is_none() {
            return self;
        }
        *space = self.0.replace(['\n', '\r'], " ");
        Json(space)
    }

    pub fn to_boxed(self) -> Option<Box<RawValue>> {
        RawValue::from_string(self.0.to_owned()).ok()
    }
}

impl<'a> From<&'a RawValue> for Json<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Text that is not JSON, or not the expected JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson {
    pub bytes_read: usize,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is not a JSON object (read {} bytes of it)", self.bytes_read)
    }
}

impl std::error::Error for NotJson {}

/// The members of an object in their order, the values unchanged. If a name occurs twice, the first
/// one counts; other programs may take the last, which is why [`check_exact`] refuses such objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Members<'a> {
    pub fn from_text(text: &'a str) -> Result<Self, NotJson> {
        cut::parse_members(text, None).map(|(members, _)| members)
    }

    /// Reads an object, and the members of its member `inner` if that is an object: large text is
    /// read only once.
    pub fn read_with(text: &'a str, inner: &str) -> Result<(Self, Option<Self>), NotJson> {
        cut::parse_members(text, Some(inner))
    }

    pub fn get(&self, name: &str) -> Option<Json<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Returns the value of the member called `name`, unless it is `null`.
    pub fn get_non_null(&self, name: &str) -> Option<Json<'a>> {
        self.get(name).filter(|value| !value.is_null())
    }

    /// Returns the value of the member called `name` if it is a string.
    pub fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(Json::string)
    }
}

/// Reads an object. A derived struct would also accept an array of its fields in order, which no
/// protocol here allows.
pub fn from_object<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    if json.trim_start().starts_with('{') {
        return serde_json::from_str(json);
    }
    Err(serde::de::Error::custom("it is not an object"))
}

/// Puts JSON text on one line. A line end can only occur between tokens (inside a string it is
/// escaped), so a space in its place changes nothing.
pub fn flatten_json(json: &mut [u8]) {
    let mut from = 0;
    while let Some(end) = memchr2(b'\n', b'\r', &json[from..]) {
        json[from + end] = b' ';
        from += end + 1;
    }
}

pub fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
