//! Every request in `docs/protocol/page.md` is sent to a real host, which has to answer as shown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::browser::{Response, send};
use crate::house::House;

/// What the document has in the place of the real values.
const PORT: &str = "7420";
const CODE: &str = "7KQM2XWA";
const KEY: &str = "2f0c6d5e9b8a47f3a1c4e7d2b5908f6e1d3a7c5b9e2f4a680c1b3d5f7a9e8c6d";

/// Returns the blocks of this kind.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let opening = format!("```http {kind}\n");
    let blocks = text.split(&opening).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Splits a message into its first line, its headers and its body.
fn parts(message: &str) -> (&str, Vec<(&str, &str)>, &str) {
    let (head, body) = message.split_once("\n\n").unwrap_or((message.trim_end(), ""));
    let mut lines = head.lines();
    let first = lines.next().unwrap();
    (first, lines.map(|line| line.split_once(": ").unwrap()).collect(), body)
}

#[test]
fn every_documented_request_is_answered_as_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/page.md");
    let text = fs::read_to_string(path).unwrap();
    let (requests, responses) = (blocks(&text, "page-request"), blocks(&text, "page-response"));
    assert!(requests.len() >= 8 && requests.len() == responses.len(), "{}", requests.len());
    let house = House::new();
    let code = house.code();
    let mut key = String::new();
    for (request, expected) in requests.iter().zip(&responses) {
        let real = request.replace(PORT, &house.port.to_string());
        let real = real.replace(CODE, &code).replace(KEY, &key);
        let (line, headers, body) = parts(&real);
        let mut sent = format!("{line}\r\n");
        for (name, value) in headers {
            write!(sent, "{name}: {value}\r\n").unwrap();
        }
        if !body.is_empty() {
            write!(sent, "Content-Length: {}\r\n", body.len()).unwrap();
        }
        let mut answer = send(house.port, format!("{sent}\r\n{body}").as_bytes());
        let body = check(&mut answer, expected);
        if let Some(token) = body.and_then(|body| body["token"].as_str().map(str::to_owned)) {
            key = token;
        }
    }
}

/// Compares an answer with a documented one: status, headers, and the shape of what is in its body.
/// Returns the body if it is one JSON object.
fn check(answer: &mut Response, expected: &str) -> Option<Value> {
    let (line, headers, body) = parts(expected);
    assert_eq!(Some(answer.status.to_string().as_str()), line.split(' ').nth(1), "{expected}");
    for (name, value) in headers {
        let found = answer.headers.get(&name.to_lowercase()).map(String::as_str);
        assert_eq!(found, Some(value), "{name} in {expected}");
    }
    if answer.headers["content-type"] == "text/event-stream" {
        for event in body.trim_end().split("\n\n") {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let (name, id, data) = answer.event().unwrap();
            assert_eq!(field("event: "), Some(name.as_str()));
            assert_eq!(field("id: ").map(str::to_owned), id.map(|id| id.to_string()));
            assert_same_shape(&serde_json::from_str(field("data: ").unwrap()).unwrap(), &data);
        }
        return None;
    }
    if body.is_empty() {
        return None;
    }
    let (expected, found) = (serde_json::from_str(body).unwrap(), answer.json());
    assert_same_shape(&expected, &found);
    let fixed =
        ["error", "id", "kind", "done"].into_iter().filter(|name| expected[name] != Value::Null);
    for name in fixed {
        assert_eq!(expected[name], found[name], "{name} in {body}");
    }
    Some(found)
}

/// Asserts that two values have the same members, of the same types.
fn assert_same_shape(expected: &Value, found: &Value) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let names = |object: &serde_json::Map<String, Value>| {
                let mut names: Vec<String> = object.keys().cloned().collect();
                names.sort();
                names
            };
            assert_eq!(names(expected), names(found));
            for (name, value) in expected {
                assert_same_shape(value, &found[name]);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            let (Some(expected), Some(found)) = (expected.first(), found.first()) else {
                assert_eq!(expected.is_empty(), found.is_empty());
                return;
            };
            assert_same_shape(expected, found);
        }
        (expected, found) => {
            let kind = |value: &Value| std::mem::discriminant(value);
            assert_eq!(kind(expected), kind(found), "{expected} and {found}");
        }
    }
}
