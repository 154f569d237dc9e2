//! The results of tools as text: what a tool has returned is JSON, of which people see the words.
//! Pure.

use serde_json::{Map, Value};

/// The members that are texts of their own, in the order in which they are shown.
const TEXTS: [&str; 6] = ["error", "stdout", "stderr", "output", "content", "text"];
/// The members that are lists, of which each item is a line.
const LISTS: [&str; 3] = ["matches", "files", "content"];
/// The members of a result that only confirms the call.
const RECEIPT: [&str; 2] = ["id", "bytes"];

/// Returns the text of a member, if it has one.
pub(crate) fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Returns everything that a result says.
pub(crate) fn full_text(value: &Value) -> String {
    let texts = TEXTS.iter().filter_map(|key| text_of(value, key));
    let texts: Vec<&str> = texts.map(str::trim_end).collect();
    if texts.is_empty() { listed_text(value) } else { texts.join("\n") }
}

fn listed_text(value: &Value) -> String {
    match LISTS.iter().find_map(|key| value.get(key)?.as_array()) {
        Some(items) => items.iter().map(item_text).collect::<Vec<_>>().join("\n"),
        None => plain_text(value),
    }
}

/// Returns the text of a result that is neither the output of a program nor counted.
pub(crate) fn plain_text(value: &Value) -> String {
    if let Some(text) = text_of(value, "text").or(value.as_str()) {
        return text.to_owned();
    }
    if let Some(answers) = value.get("answers").and_then(Value::as_object) {
        return answers_text(answers);
    }
    if value.get("content").is_some_and(Value::is_array) {
        return listed_text(value);
    }
    // The headline says how a command has ended.
    if value.get("exitCode").is_some() {
        let is_running = value.get("running") == Some(&Value::Bool(true));
        return if is_running { "still running".to_owned() } else { String::new() };
    }
    let is_receipt =
        |members: &Map<String, Value>| members.keys().all(|name| RECEIPT.contains(&name.as_str()));
    if value.as_object().is_some_and(is_receipt) {
        return String::new();
    }
    let mut lines = Vec::new();
    add_lines("", value, &mut lines);
    lines.join("\n")
}

fn answers_text(answers: &Map<String, Value>) -> String {
    let line = |(question, answer): (&String, &Value)| {
        // After `?` a colon would be one mark too many.
        let mark =
            if question.ends_with(|last: char| last.is_ascii_punctuation()) { "" } else { ":" };
        format!("{question}{mark} {}", scalar_text(answer))
    };
    answers.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns an item of a list: a name, a place where something was found, or a part of a message.
fn item_text(item: &Value) -> String {
    match (text_of(item, "path"), text_of(item, "text")) {
        (Some(path), text) => {
            let line = item.get("line").map(|line| format!(":{line}")).unwrap_or_default();
            let text = text.map(|text| format!(": {text}")).unwrap_or_default();
            format!("{path}{line}{text}")
        }
        (None, Some(text)) => text.to_owned(),
        (None, None) => {
            let mut lines = Vec::new();
            add_lines("", item, &mut lines);
            lines.join(", ")
        }
    }
}

/// Adds what a value says, each member on a line after its name.
fn add_lines(name: &str, value: &Value, lines: &mut Vec<String>) {
    let inner = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    let mut add = |text: &str| {
        lines.push(if name.is_empty() { text.to_owned() } else { format!("{name}: {text}") });
    };
    match value {
        Value::Null => {}
        Value::Object(members) => match picture_text(members) {
            Some(picture) => add(&picture),
            None => {
                for (key, value) in members {
                    add_lines(&inner(key), value, lines);
                }
            }
        },
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (number, item) in (1..).zip(items) {
                add_lines(&inner(&number.to_string()), item, lines);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Array(items) => {
            add(&items.iter().map(scalar_text).collect::<Vec<_>>().join(", "));
        }
        scalar => add(&scalar_text(scalar)),
    }
}

/// Describes a picture, whose data would fill pages with letters.
fn picture_text(members: &Map<String, Value>) -> Option<String> {
    let data = members.get("data")?.as_str()?;
    let media_type = members.get("media_type").or_else(|| members.get("mimeType"))?.as_str()?;
    // Four letters of base64 are three bytes.
    Some(format!("{media_type}, {} KiB", (data.len() / 4 * 3).div_ceil(1024)))
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_without_a_text_of_its_own_is_told_by_its_members() {
        let check = |value: Value, brief: &str, full: &str| {
            assert_eq!((plain_text(&value), full_text(&value)), (brief.into(), full.into()));
        };
        check(json!(null), "", "");
        check(json!("done"), "done", "done");
        check(json!(7), "7", "7");
        check(json!({"id": "command-1", "bytes": 4}), "", "");
        check(json!({"id": "a", "state": "open"}), "id: a\nstate: open", "id: a\nstate: open");
        let nested = json!({"a": null, "b": [], "c": [1, "x"], "d": {"e": [{"f": true}]}});
        check(nested, "c: 1, x\nd.e.1.f: true", "c: 1, x\nd.e.1.f: true");
        let answers = json!({"answers": {"Which?": "Blue", "Size": "2, 3"}});
        check(answers, "Which? Blue\nSize: 2, 3", "Which? Blue\nSize: 2, 3");
        let image = json!({"type": "base64", "media_type": "image/png", "data": "A".repeat(4096)});
        check(json!({"image": image}), "image: image/png, 3 KiB", "image: image/png, 3 KiB");
        let parts = json!({"content": [{"type": "text", "text": "one"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"}]});
        check(parts, "one\nimage/png, 1 KiB", "one\nimage/png, 1 KiB");
    }

    #[test]
    fn lists_are_told_line_by_line() {
        let found = json!({"matches": [{"path": "a.rs", "line": 7, "text": "fn x() {"}]});
        assert_eq!(full_text(&found), "a.rs:7: fn x() {");
        let listed = json!({"files": ["a.rs", "src/"], "entries": [{"name": "a.rs"}]});
        assert_eq!(full_text(&listed), "a.rs\nsrc/");
    }

    #[test]
    fn a_background_command_is_told_by_its_output() {
        let news = json!({"id": "command-1", "running": true, "exitCode": null, "output": "a\n"});
        assert_eq!(full_text(&news), "a");
        let silent = json!({"id": "command-1", "running": true, "exitCode": null, "output": ""});
        assert_eq!(full_text(&silent), "still running");
        let ended = json!({"id": "command-1", "running": false, "exitCode": 0, "output": ""});
        assert_eq!(full_text(&ended), "");
    }
}
