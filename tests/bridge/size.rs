//! The limit of 10,485,760 bytes, on both sides.

use callgate_wire::mcp::LONGEST_LINE;
use callgate_wire::tools::MAX_MESSAGE;
use serde_json::json;

use crate::fixture::{Stage, call, dial_for, error_of, ping, settle, text_of};

/// The bytes of a request around the letters of its argument.
const AROUND_REQUEST: usize =
    r#"{"method":"call_tool","params":{"name":"echo","arguments":{"x":""}}}"#.len();
const AROUND_LINE: usize =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""}]}}"#.len();

#[test]
fn a_call_of_exactly_the_limit_crosses_and_one_more_byte_is_refused() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({"x": "a".repeat(MAX_MESSAGE - AROUND_REQUEST + 1)})));
    assert_eq!(
        error_of(&bridge.recv(), 1),
        "IPCMessageSizeError: the call has 10485761 bytes, but 10485760 bytes is the limit: send less at once"
    );
    stage.assert_not_dialled();
    bridge.send(call(2, &json!({"x": "a".repeat(MAX_MESSAGE - AROUND_REQUEST)})));
    let mut peer = stage.accept();
    assert_eq!(peer.request().len(), MAX_MESSAGE);
    peer.answer("it fits");
    assert_eq!(text_of(&bridge.recv(), 2), "it fits");
}

#[test]
fn an_answer_of_exactly_the_limit_crosses_and_one_more_byte_is_an_error() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    peer.answer(&"b".repeat(LONGEST_LINE - AROUND_LINE));
    assert_eq!(text_of(&bridge.recv(), 1).len(), LONGEST_LINE - AROUND_LINE);
    bridge.send(call(1, &json!({})));
    peer.request();
    peer.answer(&"b".repeat(LONGEST_LINE - AROUND_LINE + 1));
    let error = error_of(&bridge.recv(), 1);
    assert!(
        error.starts_with("IPCMessageSizeError: the tool's answer has 10485761 bytes"),
        "{error}"
    );
    bridge.send(call(3, &json!({})));
    peer.request();
    peer.answer("the same connection");
    assert_eq!(text_of(&bridge.recv(), 3), "the same connection");
}

#[test]
fn a_frame_over_the_limit_is_an_error_and_the_next_call_dials_anew() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    let announced = u32::try_from(MAX_MESSAGE + 1).unwrap().to_be_bytes();
    std::io::Write::write_all(&mut peer.0, &announced).unwrap();
    assert_eq!(
        error_of(&bridge.recv(), 1),
        "IPCMessageSizeError: the tool's answer has 10485761 bytes, but 10485760 bytes is the limit: send less at once"
    );
    peer.assert_closed();
    drop(dial_for(&stage, &mut bridge, 2));
}

#[test]
fn a_line_that_is_too_long_to_read_is_answered_under_its_id() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let filler = "a".repeat(30_000_000);
    let line = format!(
        r#"{{"method":"tools/call","params":{{"name":"echo","arguments":{{"id":7,"x":"{filler}"}}}},"jsonrpc":"2.0","id":"last"}}"#
    );
    let size = line.len();
    bridge.send(line);
    let answer = bridge.recv();
    assert_eq!(answer["id"], "last");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("IPCMessageSizeError: the request has {size} bytes")),
        "{message}"
    );
    settle(&mut bridge);
    stage.assert_not_dialled();
}

#[test]
fn a_call_too_deep_for_any_parser_crosses_as_it_is() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    bridge.send(format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"x":{deep}}}}}}}"#
    ));
    let mut peer = stage.accept();
    assert!(peer.request().contains(&deep));
    peer.answer("deep");
    assert_eq!(text_of(&bridge.recv(), 1), "deep");
}

#[test]
fn a_large_call_to_a_host_that_does_not_read_can_be_cancelled() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({"x": "a".repeat(5_000_000)})));
    let unread = stage.accept();
    settle(&mut bridge);
    bridge.send(crate::fixture::cancelled(1));
    bridge.send(call(2, &json!({"n": 2})));
    let mut peer = stage.accept();
    assert!(peer.request().contains(r#"{"n":2}"#));
    peer.answer("not held up");
    assert_eq!(text_of(&bridge.recv(), 2), "not held up");
    drop(unread);
}

#[test]
fn what_came_together_with_a_large_call_is_not_held_up_by_it() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let large = call(1, &json!({"x": "a".repeat(5_000_000)}));
    let lines = [&*large, &ping(2), &crate::fixture::cancelled(1), &call(3, &json!({"n": 3}))];
    bridge.send_bytes((lines.join("\n") + "\n").into_bytes());
    let unread = stage.accept();
    assert_eq!(bridge.recv()["id"], 2);
    let mut peer = stage.accept();
    assert!(peer.request().contains(r#"{"n":3}"#));
    peer.answer("not held up");
    assert_eq!(text_of(&bridge.recv(), 3), "not held up");
    drop(unread);
}
