//! The output of the Claude Code CLI.

use callgate_wire::control::CliMessage;
use callgate_wire::raw::{Json, Members};
use serde_json::Value;
use serde_json::value::RawValue;

/// Messages that are not part of the conversation.
const CONTROL: [&str; 3] = ["control_request", "control_response", "control_cancel_request"];

/// Checks that a line of the CLI is read as a JSON parser reads it.
pub fn stream_json(data: &[u8]) {
    let parsed = serde_json::from_slice::<Value>(data).ok().filter(Value::is_object);
    let Ok(incoming) = CliMessage::decode(data) else {
        return assert_eq!(parsed, None, "an object is refused");
    };
    assert!(serde_json::from_slice::<&RawValue>(data).is_ok(), "what is no JSON is taken");
    // The parser accepts no number that is too large, and takes the last of two members of a name.
    if let Some(value) = parsed.filter(|_| has_no_twins(data)) {
        check(&incoming, &value);
    }
}

fn has_no_twins(data: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(data) else { return false };
    let Ok(members) = Members::from_text(line) else { return false };
    let inner = ["request", "response"].map(|name| members.get(name).map(Json::members));
    let each =
        |members: &Members| members.0.iter().all(|(name, _)| super::count(members, name) == 1);
    each(&members) && inner.iter().flatten().all(each)
}

fn check(incoming: &CliMessage<'_>, value: &Value) {
    let kind = text(&value["type"]);
    match incoming {
        CliMessage::Request { id, subtype, request } => {
            assert_eq!((kind, &**id), ("control_request", text(&value["request_id"])));
            assert_eq!(**subtype, *text(&value["request"]["subtype"]));
            assert_members(request, &value["request"]);
        }
        CliMessage::Answer { id, outcome } => {
            let response = &value["response"];
            assert_eq!((kind, &**id), ("control_response", text(&response["request_id"])));
            assert_eq!(outcome.is_ok(), response["subtype"] == "success");
            match outcome {
                Ok(answer) => assert_value(*answer, response.get("response")),
                Err(reason) => assert_eq!(reason, text(&response["error"])),
            }
        }
        CliMessage::Cancel { id } => {
            assert_eq!((kind, &**id), ("control_cancel_request", text(&value["request_id"])));
        }
        CliMessage::Message { kind: theirs, message } => {
            assert_eq!(**theirs, *kind);
            assert!(!CONTROL.contains(&kind), "a {kind} is no message");
            assert_members(message, value);
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn assert_members(members: &Members, value: &Value) {
    let count = value.as_object().map_or(0, serde_json::Map::len);
    assert_eq!(members.0.len(), count, "members");
    for (name, member) in &members.0 {
        assert_value(*member, value.get(&**name));
    }
}

/// An answer without a value is an empty object.
fn assert_value(json: Json<'_>, value: Option<&Value>) {
    let empty = Value::Object(serde_json::Map::new());
    let read = serde_json::from_str::<Value>(json.get()).ok();
    assert_eq!(read.as_ref(), Some(value.unwrap_or(&empty)), "another value");
}
