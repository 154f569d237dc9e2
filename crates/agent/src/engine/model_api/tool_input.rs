//! The input of a tool call, as models write it.

use serde_json::value::RawValue;

use super::ErrorComposer;
use crate::engine::EngineError;

/// The longest input of a tool, and the longest signature of a thought.
pub(crate) const LONGEST_PART: usize = 16 * 1024 * 1024;
/// How deeply the input of a tool may be nested. Many JSON parsers stop at 128 levels, and the
/// input is embedded in requests and in messages to front ends.
pub(crate) const DEEPEST: usize = 120;

impl ErrorComposer {
    /// Appends to a part that has a size limit.
    pub(crate) fn append(&self, part: &mut String, piece: &str) -> Result<(), EngineError> {
        if part.len() + piece.len() > LONGEST_PART {
            return Err(self.invalid_data(format_args!("a block over {LONGEST_PART} bytes")));
        }
        part.push_str(piece);
        Ok(())
    }
}

/// Returns the input of a tool as an object on one line. If it is invalid, an empty object takes
/// its place, and the reason follows. `first` is used if nothing was written.
pub(crate) fn tool_input(
    first: Option<Box<RawValue>>,
    written: String,
) -> (Box<RawValue>, Option<String>) {
    match input_object(first, written) {
        Ok(input) => (input, None),
        Err(fault) => (empty_object(), Some(fault)),
    }
}

/// Returns the input of a tool as an object on one line, or the reason why it is invalid.
fn input_object(first: Option<Box<RawValue>>, input: String) -> Result<Box<RawValue>, String> {
    let json = if input.trim().is_empty() {
        first.unwrap_or_else(empty_object)
    } else {
        RawValue::from_string(input)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?
    };
    if !json.get().starts_with('{') {
        return Err("the arguments are not a JSON object".to_owned());
    }
    if is_too_deep(json.get()) {
        return Err(format!("the arguments are nested more than {DEEPEST} levels deep"));
    }
    // Requests and stored messages may hold them, but an event for the front end is one line.
    if memchr::memchr2(b'\n', b'\r', json.get().as_bytes()).is_none() {
        return Ok(json);
    }
    // A line end can only be between tokens, where a space means the same.
    let line = json.get().replace(['\n', '\r'], " ");
    RawValue::from_string(line).map_err(|error| error.to_string())
}

/// Returns true if JSON is nested more deeply than all parsers accept.
fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
