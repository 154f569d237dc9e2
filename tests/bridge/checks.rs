//! What the bridge validates for hosts that do not, and what it carries for tools that ask.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::{Stage, call, error_of, text_of};

const ADD: &str = r#"[{"name": "echo", "description": "Adds.", "input_schema": {
    "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}]"#;

#[test]
fn arguments_that_do_not_fit_never_reach_the_host() {
    let stage = Stage::new();
    fs::write(&stage.schema, ADD).unwrap();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({"a": "7; rm"})));
    let error = error_of(&bridge.recv(), 1);
    let expected = r#"ToolArgumentError: the arguments of "echo" do not fit: /a: "7; rm" is not of type "integer""#;
    assert_eq!(error, expected);
    stage.assert_not_dialled();
    bridge.send(call(2, &json!({"a": 7})));
    let mut peer = stage.accept();
    assert!(peer.request().contains(r#""arguments":{"a":7}"#));
    peer.answer("done");
    assert_eq!(text_of(&bridge.recv(), 2), "done");
}

#[test]
fn a_host_that_checks_is_left_to_it() {
    let stage = Stage::new();
    fs::write(&stage.schema, ADD).unwrap();
    let mut bridge = stage.bridge(&["--host-checks"]);
    bridge.send(call(1, &json!({"a": "7; rm"})));
    let mut peer = stage.accept();
    peer.request();
    peer.answer("refused");
    assert_eq!(text_of(&bridge.recv(), 1), "refused");
}

#[test]
fn a_result_whose_content_is_no_array_is_an_error() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    peer.send(r#"{"result":{"content":"three"}}"#);
    let error = error_of(&bridge.recv(), 1);
    assert_eq!(error, "IPCError: the host's `result.content` is not an array");
    // The connection is in step, and serves the next call.
    bridge.send(call(2, &json!({})));
    peer.request();
    peer.answer("done");
    assert_eq!(text_of(&bridge.recv(), 2), "done");
}

/// A call of the stateless era, with more parameters.
fn modern_call(id: u64, more: &Value) -> String {
    let mut params = json!({
        "name": "echo",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_tool_asks_its_user_and_is_called_again() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(modern_call(1, &json!({})));
    let mut peer = stage.accept();
    let first = peer.request();
    assert!(!first.contains("inputResponses") && !first.contains("requestState"), "{first}");
    let question = json!({
        "resultType": "input_required",
        "inputRequests": {"day": {"method": "elicitation/create", "params": {"message": "When?"}}},
        "requestState": "step 1",
    });
    peer.send(json!({"result": question}).to_string());
    assert_eq!(bridge.recv()["result"], question);
    let answers = json!({"day": {"action": "accept", "content": {"day": "Friday"}}});
    let retry = json!({"inputResponses": answers, "requestState": "step 1"});
    bridge.send(modern_call(2, &retry));
    let second: Value = serde_json::from_str(&peer.request()).unwrap();
    assert_eq!(second["params"]["inputResponses"], answers);
    assert_eq!(second["params"]["requestState"], "step 1");
    peer.answer("on Friday");
    assert_eq!(text_of(&bridge.recv(), 2), "on Friday");
    // An older client has nothing to ask with.
    bridge.send(call(3, &json!({})));
    peer.request();
    peer.send(json!({"result": question}).to_string());
    let error = error_of(&bridge.recv(), 3);
    assert!(error.contains("the tool asks its user something"), "{error}");
}
