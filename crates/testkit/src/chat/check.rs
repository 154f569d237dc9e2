//! What the services refuse.

use serde_json::Value;

/// Checks the name of a tool, as the service does, here and in the calls of earlier answers.
pub(super) fn check_name(name: &str, place: &str) -> Result<(), String> {
    let is_accepted = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if (1..=64).contains(&name.len()) && name.bytes().all(is_accepted) {
        return Ok(());
    }
    Err(format!(
        "Invalid '{place}': string does not match pattern. Expected a string that matches the \
         pattern '^[a-zA-Z0-9_-]+$' and has at most 64 characters."
    ))
}

/// Checks the content of a message: a string, nothing, or parts of the known types.
pub(super) fn check_content(content: &Value) -> Result<(), String> {
    let Some(parts) = content.as_array() else {
        let is_plain = content.is_string() || content.is_null();
        return if is_plain { Ok(()) } else { Err(format!("this is no content: {content}")) };
    };
    for part in parts {
        let is_known = match part["type"].as_str() {
            Some("text") => part["text"].is_string(),
            Some("image_url") => part["image_url"]["url"].is_string(),
            Some("file") => part["file"]["file_data"].is_string(),
            _ => false,
        };
        if !is_known {
            return Err(format!("this is no part of a message: {part}"));
        }
    }
    Ok(())
}

/// Checks a call that the model is reminded of, as far as it is given.
pub(super) fn check_call(call: &Value) -> Result<(), String> {
    if let Some(name) = call["function"]["name"].as_str() {
        check_name(name, "messages[].tool_calls[].function.name")?;
    }
    let arguments = &call["function"]["arguments"];
    let is_json = arguments.as_str().is_none_or(|it| serde_json::from_str::<Value>(it).is_ok());
    if is_json && (arguments.is_string() || arguments.is_null()) {
        return Ok(());
    }
    Err(format!("the arguments of a call are no JSON in a string: {call}"))
}

/// Returns a member that is a list; an absent one is empty.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], String> {
    match &value[name] {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&[]),
        other => Err(format!("'{name}' is no list: {other}")),
    }
}

/// Returns a value that is a text.
pub(super) fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("this is no text: {value}"))
}

/// Returns the text of a content: a text itself, or its parts.
pub(super) fn content_text(content: &Value) -> Result<String, String> {
    match content {
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        content => text(content),
    }
}
