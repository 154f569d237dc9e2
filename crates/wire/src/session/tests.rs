//! What the session protocol reads, refuses and writes.

mod any;
mod attachments;
mod data;
mod extensions;

use expect_test::{Expect, expect};

use super::*;
use crate::fields::tests::render_with_line;
use crate::unreadable::QUOTED_KIND_CHARS;

/// Reads each line and shows what was read and how it is written, or why it was refused.
fn check(read: fn(&[u8]) -> String, lines: &[&str], expected: &Expect) {
    let shown: Vec<String> = lines.iter().map(|line| read(line.as_bytes())).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

fn request(line: &[u8]) -> String {
    match SessionRequest::decode(line) {
        Ok(request) => render_with_line(&request, &request.to_line()),
        Err(unreadable) => refused(&unreadable),
    }
}

fn response(line: &[u8]) -> String {
    match SessionResponse::decode(line) {
        Ok(response) => render_with_line(&response, &response.to_line()),
        Err(unreadable) => refused(&unreadable),
    }
}

fn refused(unreadable: &Unreadable) -> String {
    format!("{:?}: {unreadable}", unreadable.id.as_deref())
}

#[test]
fn requests() {
    check(
        request,
        &[
            r#"{"id":"1","kind":"user_message","message":"Hi \u2028 \n \u00e9"}"#,
            r#"{"kind":"user_message","metadata":{ "b":1.0, "a":null },"message":"","attachments":[{"path":"/a","mime":"text/plain","size":3}],"id":""}"#,
            r#"{"id":"1","kind":"user_message","message":"Hi","attachments":null,"metadata":null,"new":7}"#,
            r#"{"id":"2","kind":"clear_history","message":["ignored here"]}"#,
            "{\"id\":\"3\",\n\"kind\":\"get_status\"}\r\n",
            "{\"id\":\"4\",\"kind\":\"user_message\",\"message\":\"Hi\",\"metadata\":{\n\"a\":\r\n1}}",
        ],
        &expect![[r#"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "Hi \u{2028} \n é", attachments: [], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"Hi \u{2028} \\n é\"}\n"
            SessionRequest { id: "", command: UserMessage(UserMessage { message: "", attachments: [File { path: "/a", mime: "text/plain" }], metadata: Some(RawValue({ "b":1.0, "a":null })), steer: false, output_schema: None }) }
              = "{\"id\":\"\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"path\":\"/a\",\"mime\":\"text/plain\"}],\"metadata\":{ \"b\":1.0, \"a\":null }}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "Hi", attachments: [], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"Hi\"}\n"
            SessionRequest { id: "2", command: ClearHistory { metadata: None } }
              = "{\"id\":\"2\",\"kind\":\"clear_history\"}\n"
            SessionRequest { id: "3", command: GetStatus }
              = "{\"id\":\"3\",\"kind\":\"get_status\"}\n"
            SessionRequest { id: "4", command: UserMessage(UserMessage { message: "Hi", attachments: [], metadata: Some(RawValue({␊"a":␍␊1})), steer: false, output_schema: None }) }
              = "{\"id\":\"4\",\"kind\":\"user_message\",\"message\":\"Hi\",\"metadata\":{ \"a\":  1}}\n"
        "#]],
    );
}

#[test]
fn unreadable_requests() {
    check(
        request,
        &[
            "",
            "no JSON",
            "null",
            r#"["1","get_status"]"#,
            r#"{"id":"1","kind":"get_status""#,
            r#"{"id":"1","kind":"get_status"} {}"#,
            r#"{"kind":"get_status"}"#,
            r#"{"id":7,"kind":"get_status"}"#,
            r#"{"id":null,"kind":"get_status"}"#,
            r#"{"id":"1"}"#,
            r#"{"id":"1","kind":7}"#,
            r#"{"id":"1","kind":"fly\n"}"#,
            r#"{"id":"1","kind":"user_message"}"#,
            r#"{"id":"1","kind":"user_message","message":["secret"]}"#,
            r#"{"id":"1","kind":"user_message","message":"\ud800"}"#,
            r#"{"id":"1","kind":"user_message","message":"","attachments":"secret"}"#,
            r#"{"id":"1","kind":"user_message","message":"","attachments":[{"path":"secret"}]}"#,
            r#"{"id":"1","kind":"user_message","message":"","attachments":[["/a","text/plain"]]}"#,
            r#"{"id":"1","kind":"user_message","message":"","metadata":["secret"]}"#,
        ],
        &expect![[r#"
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 0 bytes of it)
            None: the line is not one JSON object (read 29 bytes of it)
            None: the line is not one JSON object (read 31 bytes of it)
            None: the message has no id that is a string
            None: the message has no id that is a string
            None: the message has no id that is a string
            Some("1"): the message does not say of which kind it is
            Some("1"): the message does not say of which kind it is
            Some("1"): unknown kind of message "fly\n"
            Some("1"): `message` must be a string
            Some("1"): `message` must be a string
            Some("1"): `message` must be a string
            Some("1"): `attachments` must be an array of objects with mime and either path or data
            Some("1"): `attachments` must be an array of objects with mime and either path or data
            Some("1"): `attachments` must be an array of objects with mime and either path or data
            Some("1"): `metadata` must be an object
        "#]],
    );
}

#[test]
fn responses() {
    check(
        response,
        &[
            r#"{"type":"ready","timestamp":1}"#,
            r#"{"type":"ready","version":"1.0.0","capabilities":["streaming","new"],"timestamp":1}"#,
            r#"{"type":"token","id":"1","token":"Hi\n","timestamp":2}"#,
            r#"{"timestamp":3,"data":{"input":{ "b":1.0, "a":2 },"toolName":"list","toolId":"t","new":1},"id":"1","type":"tool_use"}"#,
            r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list","result":null},"timestamp":4}"#,
            r#"{"type":"done","id":"1","timestamp":5}"#,
            r#"{"type":"error","id":"1","error":"no","timestamp":6}"#,
            r#"{"type":"status","id":"1","data":{"state":"idle","conversationLength":10,"uptime":7},"timestamp":8}"#,
        ],
        &expect![[r#"
            Ready(RuntimeReady { version: None, capabilities: [], timestamp: 1, seq: None })
              = "{\"type\":\"ready\",\"timestamp\":1}\n"
            Ready(RuntimeReady { version: Some("1.0.0"), capabilities: ["streaming", "new"], timestamp: 1, seq: None })
              = "{\"type\":\"ready\",\"version\":\"1.0.0\",\"capabilities\":[\"streaming\",\"new\"],\"timestamp\":1}\n"
            Reply(SessionReply { id: Some("1"), event: Token("Hi\n"), timestamp: 2, seq: None })
              = "{\"type\":\"token\",\"id\":\"1\",\"token\":\"Hi\\n\",\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: ToolUse(ToolUse { tool_id: "t", tool_name: "list", input: RawValue({ "b":1.0, "a":2 }), kind: None, locations: None, card: None }), timestamp: 3, seq: None })
              = "{\"type\":\"tool_use\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"list\",\"input\":{ \"b\":1.0, \"a\":2 }},\"timestamp\":3}\n"
            Reply(SessionReply { id: Some("1"), event: ToolResult(ToolResult { tool_id: "t", tool_name: "list", result: RawValue(null), is_error: None }), timestamp: 4, seq: None })
              = "{\"type\":\"tool_result\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"list\",\"result\":null},\"timestamp\":4}\n"
            Reply(SessionReply { id: Some("1"), event: Done(None), timestamp: 5, seq: None })
              = "{\"type\":\"done\",\"id\":\"1\",\"timestamp\":5}\n"
            Reply(SessionReply { id: Some("1"), event: Error { error: "no", data: None }, timestamp: 6, seq: None })
              = "{\"type\":\"error\",\"id\":\"1\",\"error\":\"no\",\"timestamp\":6}\n"
            Reply(SessionReply { id: Some("1"), event: Status(RuntimeStatus { state: "idle", conversation_length: 10, uptime: 7, engine: None, engine_reason: None, model: None, conversation_id: None, mode: None, instructions: None, requests: None, questions: None, agent_questions: None, servers: None }), timestamp: 8, seq: None })
              = "{\"type\":\"status\",\"id\":\"1\",\"data\":{\"state\":\"idle\",\"conversationLength\":10,\"uptime\":7},\"timestamp\":8}\n"
        "#]],
    );
}

#[test]
fn unreadable_responses() {
    check(
        response,
        &[
            "[]",
            r#"{"id":"1","timestamp":1}"#,
            r#"{"type":"done","timestamp":1}"#,
            r#"{"type":"fly","id":"1","timestamp":1}"#,
            r#"{"type":"fly","timestamp":1}"#,
            r#"{"type":"ready"}"#,
            r#"{"type":"ready","version":1,"timestamp":1}"#,
            r#"{"type":"ready","capabilities":"all","timestamp":1}"#,
            r#"{"type":"done","id":"1","timestamp":-1}"#,
            r#"{"type":"token","id":"1","timestamp":1}"#,
            r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"list"},"timestamp":1}"#,
            r#"{"type":"tool_use","id":"1","data":["t","list",{}],"timestamp":1}"#,
            r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list"},"timestamp":1}"#,
            r#"{"type":"error","id":"1","timestamp":1}"#,
            r#"{"type":"status","id":"1","data":{"state":"idle"},"timestamp":1}"#,
        ],
        &expect![[r#"
            None: the line is not one JSON object (read 0 bytes of it)
            Some("1"): the message does not say of which kind it is
            None: the message has no id that is a string
            Some("1"): unknown kind of message "fly"
            None: unknown kind of message "fly"
            None: `timestamp` must be a whole number of milliseconds
            None: `version` must be a string
            None: `capabilities` must be an array of strings
            Some("1"): `timestamp` must be a whole number of milliseconds
            Some("1"): `token` must be a string
            Some("1"): `data` must be an object with toolId, toolName and input
            Some("1"): `data` must be an object with toolId, toolName and input
            Some("1"): `data` must be an object with toolId, toolName and result
            Some("1"): `error` must be a string
            Some("1"): `data` must be an object with state, conversationLength and uptime
        "#]],
    );
}

#[test]
fn greeting() {
    let greeting = SessionResponse::Ready(RuntimeReady::at(1));
    check(
        response,
        &[&String::from_utf8_lossy(&greeting.to_line())],
        &expect![[r#"
            Ready(RuntimeReady { version: Some("1.0.0"), capabilities: ["streaming", "tools", "attachments", "inline_attachments", "engine", "hello", "cancel", "permission", "conversations", "load_events", "edit", "thinking", "tool_progress", "notice", "replay", "set_engine", "list_models", "modes", "steer", "fork", "rewind", "usage", "tool_input", "files", "front_tools", "output_schema", "compact", "leave_out", "question", "turn_diff", "search"], timestamp: 1, seq: None })
              = "{\"type\":\"ready\",\"version\":\"1.0.0\",\"capabilities\":[\"streaming\",\"tools\",\"attachments\",\"inline_attachments\",\"engine\",\"hello\",\"cancel\",\"permission\",\"conversations\",\"load_events\",\"edit\",\"thinking\",\"tool_progress\",\"notice\",\"replay\",\"set_engine\",\"list_models\",\"modes\",\"steer\",\"fork\",\"rewind\",\"usage\",\"tool_input\",\"files\",\"front_tools\",\"output_schema\",\"compact\",\"leave_out\",\"question\",\"turn_diff\",\"search\"],\"timestamp\":1}\n"
        "#]],
    );
}

#[test]
fn bytes_that_are_not_text() {
    let line = b"{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\xff\"}";
    assert!(matches!(
        SessionRequest::decode(line),
        Err(Unreadable { id: None, reason: UnreadableReason::Malformed(_) })
    ));
}

#[test]
fn a_long_unknown_kind_is_cut() {
    let line = format!(r#"{{"id":"1","kind":"{}"}}"#, "é".repeat(1000));
    let kind = "é".repeat(QUOTED_KIND_CHARS);
    let refused = SessionRequest::decode(line.as_bytes()).expect_err("an unknown kind");
    assert_eq!(refused.reason, UnreadableReason::UnknownKind(kind));
}

#[test]
fn one_event_ends_a_request() {
    let ends =
        [SessionEvent::Done(None), SessionEvent::error(""), SessionEvent::Status(Box::default())];
    assert!(ends.iter().all(SessionEvent::is_end));
    assert!(!SessionEvent::Token(String::new()).is_end());
}
