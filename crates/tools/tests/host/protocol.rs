//! The host's side of the wire, broken bridges included.

use callgate_wire::tools::MAX_MESSAGE;
use serde_json::json;

use crate::fixture::{Stage, error, hello, text};

#[test]
fn one_connection_serves_many_calls() {
    let stage = Stage::new([hello()]);
    let mut caller = stage.caller();
    for _ in 0..50 {
        assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
    }
}

#[test]
fn what_it_cannot_read_is_an_error_and_the_connection_is_kept() {
    let stage = Stage::new([hello()]);
    let mut caller = stage.caller();
    for (payload, kind, reason) in [
        (&b"{"[..], "IPCError", "the request cannot be read"),
        (b"\xff", "IPCError", "the request is not UTF-8"),
        (b"", "IPCError", "the request cannot be read"),
        (b"[\"call_tool\",{}]", "IPCError", "the request cannot be read: it is not a JSON object"),
        (br#"{"params":{}}"#, "IPCError", "the request has no `method`"),
        (
            br#"{"method":"list_tools"}"#,
            "IPCError",
            "unknown method \"list_tools\": there is only \"call_tool\"",
        ),
        (br#"{"method":"call_tool"}"#, "IPCError", "the request's `params` are not an object"),
        (
            br#"{"method":"call_tool","params":{"arguments":{}}}"#,
            "IPCError",
            "the request's `name` is not a string",
        ),
        (
            br#"{"method":"call_tool","params":{"name":"hello"}}"#,
            "IPCError",
            "the request's `arguments` are not an object",
        ),
        (
            br#"{"method":"call_tool","params":{"name":"hello","arguments":[]}}"#,
            "IPCError",
            "the request's `arguments` are not an object",
        ),
        (
            br#"{"method":"call_tool","params":{"name":"nope","arguments":{}}}"#,
            "ToolNotFoundError",
            "there is no tool \"nope\"; the tools are: hello",
        ),
    ] {
        caller.send(payload);
        let answer = caller.recv();
        let (said, message) = error(&answer);
        assert_eq!(said, kind, "{answer}");
        assert!(message.contains(reason), "{answer}");
    }
    assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
}

#[test]
fn unknown_fields_are_no_harm() {
    let stage = Stage::new([hello()]);
    let mut caller = stage.caller();
    caller.send(r#"{"v":2,"method":"call_tool","params":{"name":"hello","arguments":{},"x":1,"_meta":null}}"#);
    assert_eq!(text(&caller.recv()), "hello");
}

#[test]
fn a_request_before_the_answer_to_the_last_is_an_error_and_ends_the_connection() {
    let (entered, is_entered) = std::sync::mpsc::channel();
    let waits = callgate_tools::Tool::blocking(
        "waits",
        "Waits for its end.",
        move |_: callgate_tools::NoArguments, call| {
            entered.send(()).unwrap();
            while !call.is_cancelled() {
                std::thread::yield_now();
            }
        },
    );
    let stage = Stage::new([waits, hello()]);
    let mut caller = stage.caller();
    caller.send_call("waits", &json!({}));
    is_entered.recv().unwrap();
    caller.send_call("hello", &json!({}));
    let answer = caller.recv();
    assert_eq!(
        error(&answer),
        ("IPCError", "a request arrived before the last one was answered: send one at a time")
    );
    caller.assert_closed();
    assert_eq!(text(&stage.caller().call("hello", &json!({}))), "hello");
}

#[test]
fn a_message_over_the_limit_is_an_error_and_ends_the_connection() {
    let stage = Stage::new([hello()]);
    let mut caller = stage.caller();
    let announced = u32::try_from(MAX_MESSAGE + 1).unwrap().to_be_bytes();
    std::io::Write::write_all(&mut caller.0, &announced).unwrap();
    let answer = caller.recv();
    assert_eq!(
        error(&answer),
        ("IPCMessageSizeError", "a message of 10485761 bytes is over the limit of 10485760 bytes")
    );
    caller.assert_closed();
    assert_eq!(text(&stage.caller().call("hello", &json!({}))), "hello");
}

#[test]
fn a_message_of_exactly_the_limit_is_served() {
    let stage = Stage::new([hello()]);
    let mut caller = stage.caller();
    let head = r#"{"method":"call_tool","params":{"name":"hello","arguments":{"x":""#;
    let tail = r#""}}}"#;
    let filler = "x".repeat(MAX_MESSAGE - head.len() - tail.len());
    caller.send(format!("{head}{filler}{tail}"));
    assert_eq!(text(&caller.recv()), "hello");
}

#[test]
fn connections_beyond_the_limit_are_closed_and_the_others_live() {
    let stage = Stage::new([hello()]);
    let mut callers: Vec<_> = (0..256).map(|_| stage.caller()).collect();
    for caller in &mut callers {
        assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
    }
    stage.caller().assert_closed();
    assert_eq!(text(&callers[0].call("hello", &json!({}))), "hello");
    drop(callers.pop());
    // The place is free once the host has seen the end of that connection.
    loop {
        let mut caller = stage.caller();
        let mut first = [0; 1];
        let request = br#"{"method":"call_tool","params":{"name":"hello","arguments":{}}}"#;
        let length = u32::try_from(request.len()).unwrap().to_be_bytes();
        // Closed already: this was still one too many.
        std::io::Write::write_all(&mut caller.0, &[&length[..], request].concat()).ok();
        if std::io::Read::read(&mut caller.0, &mut first).is_ok_and(|count| count == 1) {
            break;
        }
    }
}
