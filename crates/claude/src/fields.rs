//! Reads fields of the CLI's messages; a field that is missing or of another type is empty.

use callgate_wire::raw::Members;
use serde_json::Value;

/// Returns the texts of a content: a string, or a list of blocks.
pub(crate) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

pub(crate) fn member_text(message: &Members<'_>, name: &str) -> String {
    message.string(name).unwrap_or_default().into_owned()
}

pub(crate) fn value_text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn member_value<T: serde::de::DeserializeOwned>(
    message: &Members<'_>,
    name: &str,
) -> Option<T> {
    message.get_non_null(name).and_then(|value| serde_json::from_str(value.get()).ok())
}
