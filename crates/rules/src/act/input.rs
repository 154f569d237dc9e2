//! The JSON a tool is given.

use callgate_wire::raw::Members;
use serde_json::{Map, Value};

use super::MOST_STRINGS;
use crate::steps;

/// The most texts in a list that are read as the names of one path.
const MOST_NAMES: usize = 64;

/// The most values of an input that is read.
const MOST_VALUES: usize = 50_000;

/// A tool's input, or why it is not clear what it says.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, &'static str> {
    if has_many_values(text) {
        steps::exhaust();
        return Err("its input has more values than are read");
    }
    let Ok(members) = Members::read(text) else { return Err("its input is no JSON object") };
    let mut names: Vec<_> = members.0.iter().map(|(name, _)| name.as_ref()).collect();
    names.sort_unstable();
    // Who takes the first and who the last of two is anybody's guess.
    if names.windows(2).any(|two| two[0] == two[1]) {
        return Err("its input has a name twice");
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err("its input is no JSON object"),
    }
}

/// Whether there are more values than may be kept, each of which takes many times its length.
fn has_many_values(text: &str) -> bool {
    let mut values = 0;
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values > MOST_VALUES
}

/// A member that is a text.
pub(super) fn text<'a>(input: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    input.get(name)?.as_str()
}

/// A member that is a list of texts.
pub(super) fn texts<'a>(input: &'a Map<String, Value>, name: &str) -> Option<Vec<&'a str>> {
    input.get(name)?.as_array()?.iter().map(Value::as_str).collect()
}

/// All texts in the input, names of members too.
pub(super) fn strings(input: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: Vec<&Value> = Vec::new();
    let add = |map: &Map<String, Value>, found: &mut Vec<String>| {
        found.extend(map.keys().cloned());
    };
    add(input, &mut found);
    left.extend(input.values());
    while let Some(value) = left.pop() {
        if found.len() > MOST_STRINGS {
            break;
        }
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(values) => {
                found.extend(joined(values));
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

/// The names of a path that are given one by one.
fn joined(values: &[Value]) -> Option<String> {
    let names: Vec<&str> = values.iter().map_while(Value::as_str).collect();
    let is_path = (2..=MOST_NAMES).contains(&names.len()) && names.len() == values.len();
    is_path.then(|| names.join("/"))
}
