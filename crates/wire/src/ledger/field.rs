//! The values of members in the bodies of entries.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{AnswerChannel, ChainedLinks, ClosedHow, LedgerRuling, PressOutcome};
use crate::approval::Decision;
use crate::raw::Json;

/// A value that a member of an entry can have.
pub(super) trait LedgerField<'a>: Sized {
    /// What the documentation calls such a value.
    const SHAPE: &'static str;

    /// Reads the value, unless it has another shape.
    fn read(value: Json<'a>) -> Option<Self>;

    fn write(&self, body: &mut String);

    /// Returns true for a value that is left out where a member may be missing.
    fn is_missing(&self) -> bool {
        false
    }
}

impl<'a> LedgerField<'a> for Cow<'a, str> {
    const SHAPE: &'static str = "string";

    fn read(value: Json<'a>) -> Option<Self> {
        value.string()
    }

    fn write(&self, body: &mut String) {
        write_json(self, body);
    }
}

impl<'a> LedgerField<'a> for Json<'a> {
    const SHAPE: &'static str = "JSON";

    fn read(value: Json<'a>) -> Option<Self> {
        Some(value)
    }

    fn write(&self, body: &mut String) {
        body.push_str(self.get());
    }
}

impl<'a, T: LedgerField<'a>> LedgerField<'a> for Option<T> {
    const SHAPE: &'static str = T::SHAPE;

    fn read(value: Json<'a>) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::read(value).map(Some) }
    }

    fn write(&self, body: &mut String) {
        match self {
            Some(value) => value.write(body),
            None => body.push_str("null"),
        }
    }

    fn is_missing(&self) -> bool {
        self.is_none()
    }
}

/// Makes values of types that serde reads and writes.
macro_rules! serde_fields {
    ($($type:ty: $shape:literal,)*) => {
        $(impl LedgerField<'_> for $type {
            const SHAPE: &'static str = $shape;

            fn read(value: Json<'_>) -> Option<Self> {
                read_json(value)
            }

            fn write(&self, body: &mut String) {
                write_json(self, body);
            }
        })*
    };
}

serde_fields! {
    bool: "boolean",
    u32: "number",
    u64: "number",
    i64: "number",
    usize: "number",
    Vec<String>: "array of strings",
    Vec<Vec<u8>>: "array of arrays of numbers",
    ChainedLinks: "object",
    Decision: "`allow`, `deny` or `timeout`",
    AnswerChannel: "`terminal`, `telegram` or `viewer`",
    LedgerRuling: "`ask`, `guard`, `confirm`, `allow` or `deny`",
    PressOutcome: "`decided`, `picked`, `paired`, `nothing`, `unconfirmed`, `not yet`, `late`, \
        `stranger`, `wrong code` or `forged`",
    ClosedHow: "`answered`, `settled` or `gone`",
}

fn read_json<T: DeserializeOwned>(value: Json<'_>) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

fn write_json(value: &impl Serialize, body: &mut String) {
    // Values of these types can always be written.
    body.push_str(&serde_json::to_string(value).unwrap_or_default());
}
