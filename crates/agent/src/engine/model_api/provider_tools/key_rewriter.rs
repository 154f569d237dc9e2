//! Replaces keys of objects in JSON text, and leaves every other byte as it is: parsed and written
//! again, the numbers and escapes of a call would change on its way. Pure.

use std::collections::HashMap;

/// Returns the text with its keys replaced, or `None` if none of them occurs in it. The text is
/// valid JSON.
pub(super) fn with_keys(json: &str, replaced: &HashMap<String, String>) -> Option<String> {
    let mut written = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(start) = json[at..].find('"').map(|found| at + found) {
        let end = string_end(json, start);
        at = end;
        // Only a key is followed by a colon.
        if !json[end..].trim_start().starts_with(':') {
            continue;
        }
        let key: Option<String> = serde_json::from_str(&json[start..end]).ok();
        if let Some(new) = key.and_then(|key| replaced.get(&key)) {
            written.push_str(&json[copied..start]);
            written.push_str(&serde_json::Value::from(new.as_str()).to_string());
            copied = end;
        }
    }
    if copied == 0 {
        return None;
    }
    written.push_str(&json[copied..]);
    Some(written)
}

fn string_end(json: &str, start: usize) -> usize {
    let bytes = json.as_bytes();
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_and_nothing_else() {
        let replaced = [("$a", "x"), ("b\"c", "y"), ("ü", "z\"")];
        let replaced: HashMap<String, String> =
            replaced.map(|(key, new)| (key.to_owned(), new.to_owned())).into();
        let check = |json: &str, expected: Option<&str>| {
            let _: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(with_keys(json, &replaced).as_deref(), expected, "{json}");
        };
        check(r#"{"$a" : 1.50, "n": {"$a":"$a"}}"#, Some(r#"{"x" : 1.50, "n": {"x":"$a"}}"#));
        check(r#"{"b\"c": ["$a", {"\u0024a": 1e40}]}"#, Some(r#"{"y": ["$a", {"x": 1e40}]}"#));
        check(r#"{"ü":0}"#, Some(r#"{"z\"":0}"#));
        check(r#"{"a\\": "$a", "c": "\": \"$a"}"#, None);
        check("{}", None);
        check(r#""$a""#, None);
    }
}
