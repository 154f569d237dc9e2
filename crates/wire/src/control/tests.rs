//! Tests of the stream-json messages.

use expect_test::{Expect, expect};

use super::*;

fn check(line: &str, expected: &Expect) {
    expected.assert_eq(&match CliMessage::decode(line.as_bytes()) {
        Ok(CliMessage::Request { id, subtype, request }) => {
            format!("{id} asks {subtype} with {} members", request.0.len())
        }
        Ok(CliMessage::Answer { id, outcome }) => format!("{id} is answered {outcome:?}"),
        Ok(CliMessage::Cancel { id }) => format!("{id} is cancelled"),
        Ok(CliMessage::Message { kind, message }) => {
            format!("{kind:?} with {} members", message.0.len())
        }
        Err(error) => error.to_string(),
    });
}

#[test]
fn lines_are_told_apart() {
    check(
        r#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","input":{}}}"#,
        &expect!["a asks can_use_tool with 2 members"],
    );
    check(
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"x":1}}}"#,
        &expect![[r#"r is answered Ok(Json("{\"x\":1}"))"#]],
    );
    check(
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r"}}"#,
        &expect![[r#"r is answered Ok(Json("{}"))"#]],
    );
    check(
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}"#,
        &expect![[r#"r is answered Err("no")"#]],
    );
    check(r#"{"type":"control_cancel_request","request_id":"a"}"#, &expect!["a is cancelled"]);
    check(r#"{"duration":1,"type":"result"}"#, &expect![[r#""result" with 2 members"#]]);
    check(r#"{"a":1}"#, &expect![[r#""" with 1 members"#]]);
    check("oops", &expect!["it is not a JSON object (read 0 bytes of it)"]);
}

#[test]
fn what_is_written_is_one_line_of_json() {
    for line in [
        request_line("r1", &json!({"subtype": "interrupt"})),
        user_message(&json!("two\nlines"), "u1", true),
        success_line("r\"2", r#"{"a":1}"#),
        failure_line("r3", "no\nway"),
    ] {
        let text = line.strip_suffix('\n').expect("a line end");
        assert!(!text.contains('\n'), "{text}");
        serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    }
    expect![[r#"
        {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"a":1}}}
    "#]]
    .assert_eq(&success_line("r", r#"{"a":1}"#));
}
