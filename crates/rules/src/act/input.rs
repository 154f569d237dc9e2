//! The JSON input of a tool.

mod commands;

use serde_json::{Map, Value};

use super::MOST_STRINGS;
use crate::steps;

pub(super) use commands::{CommandText, named_commands};

/// The most texts in a list that are read as the components of one path.
const MOST_NAMES: usize = 64;

/// The most values of an input that is read.
const MOST_VALUES: usize = 50_000;

/// Returns a tool's input, or why its meaning is unclear.
pub(super) fn parse_object(text: &str) -> Result<Map<String, Value>, &'static str> {
    if has_many_values(text) {
        // Otherwise the unread input would pass for one without paths and commands.
        steps::exhaust_budget();
        return Err("its input has more values than are read");
    }
    serde_json::from_str(text).map_err(|_| "its input is not a JSON object")
}

/// Returns true if there are more values than may be kept, because each takes many times its
/// length in memory.
fn has_many_values(text: &str) -> bool {
    let (bytes, mut at, mut values) = (text.as_bytes(), 0, 0);
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => end_of_string(bytes, at + 1),
            _ => at + 1,
        };
        // An upper bound from the separators is enough, and it is known before anything is
        // allocated.
        values += usize::from(matches!(byte, b',' | b'[' | b'{'));
    }
    values > MOST_VALUES
}

/// Returns the end of the string that begins at `at`, including its quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// Returns all texts in the input, including the names of members.
pub(super) fn all_strings(input: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: Vec<&Value> = Vec::new();
    let add = |map: &Map<String, Value>, found: &mut Vec<String>| {
        found.extend(map.keys().cloned());
    };
    add(input, &mut found);
    left.extend(input.values());
    while let Some(value) = left.pop() {
        // One more than the limit is enough for the caller to see that there are too many.
        if found.len() > MOST_STRINGS {
            break;
        }
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(values) => {
                // In addition to its elements, which may be paths of their own.
                found.extend(joined_path(values));
                left.extend(values);
            }
            Value::Object(map) => {
                add(map, &mut found);
                left.extend(map.values());
            }
            _ => {}
        }
    }
    found
}

/// Returns the path whose components are given as a list. Some tools take a path in pieces, none of
/// which a rule about the path would match.
fn joined_path(values: &[Value]) -> Option<String> {
    let names: Vec<&str> = values.iter().map_while(Value::as_str).collect();
    let is_path = (2..=MOST_NAMES).contains(&names.len()) && names.len() == values.len();
    is_path.then(|| names.join("/"))
}
