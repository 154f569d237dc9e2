//! What passes through the bridge, and how it treats a host's answers.

use callgate_testkit::process::Piped;
use expect_test::expect;
use serde_json::json;

use crate::fixture::{Peer, Stage, call, error_of, text_of};

fn connected(stage: &Stage) -> (Piped, Peer) {
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(0, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    peer.answer("first");
    assert_eq!(text_of(&bridge.recv(), 0), "first");
    (bridge, peer)
}

#[test]
fn arguments_and_results_cross_byte_for_byte() {
    let stage = Stage::new();
    let (mut bridge, mut peer) = connected(&stage);
    bridge.send(r#"{"method":"tools/call","params":{"name":"echo","arguments":{"z":1.50, "a":12345678901234567890123, "u":"é\u00e9🎈","n":null},"_meta":{"claudecode/toolUseId":"toolu_1","progressToken":2}},"jsonrpc":"2.0","id":"one"}"#);
    expect![[r#"{"method":"call_tool","params":{"name":"echo","arguments":{"z":1.50, "a":12345678901234567890123, "u":"é\u00e9🎈","n":null},"_meta":{"claudecode/toolUseId":"toolu_1","progressToken":2}}}"#]]
        .assert_eq(&peer.request());
    peer.send(r#"{ "result" : {"isError":false, "content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"é\u00e9🎈"}],"structuredContent":{"z":1.50,"a":12345678901234567890123},"own":{"b":1,"a":[]}} , "more": 1}"#);
    expect![[r#"{"jsonrpc":"2.0","id":"one","result":{"isError":false, "content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"é\u00e9🎈"}],"structuredContent":{"z":1.50,"a":12345678901234567890123},"own":{"b":1,"a":[]}}}"#]]
        .assert_eq(&bridge.recv_line());
}

#[test]
fn a_result_on_several_lines_is_put_on_one() {
    let stage = Stage::new();
    let (mut bridge, mut peer) = connected(&stage);
    bridge.send(call(1, &json!({})));
    peer.request();
    peer.send("{\n  \"result\": {\r\n    \"content\": [\n{\"type\":\"text\",\"text\":\"a\\nb\"}]\n  }\n}\n");
    expect![[r#"{"jsonrpc":"2.0","id":1,"result":{      "content": [ {"type":"text","text":"a\nb"}]   }}"#]]
        .assert_eq(&bridge.recv_line());
}

#[test]
fn a_modern_call_gets_the_result_type_its_client_needs() {
    let stage = Stage::new();
    let (mut bridge, mut peer) = connected(&stage);
    bridge.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#);
    peer.request();
    peer.send(r#"{"result":{"content":[]}}"#);
    assert_eq!(
        bridge.recv_line(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#
    );
}

#[test]
fn a_tools_exception_reaches_the_model_with_its_class_and_its_words() {
    let stage = Stage::new();
    let (mut bridge, mut peer) = connected(&stage);
    bridge.send(call(1, &json!({})));
    peer.request();
    peer.send(r#"{"error":{"message":"no such row: \"7\"","type":"KeyError"}}"#);
    assert_eq!(error_of(&bridge.recv(), 1), "KeyError: no such row: \"7\"");
}

#[test]
fn a_message_that_breaks_the_protocol_is_an_error_and_the_next_call_dials_anew() {
    let stage = Stage::new();
    let (mut bridge, mut peer) = connected(&stage);
    for (answer, reason) in [
        (
            "{\"result\":",
            "IPCError: the host's answer cannot be read: it is not a JSON object (read 10 bytes of it)",
        ),
        (
            "[{\"content\":[]}]",
            "IPCError: the host's answer cannot be read: it is not a JSON object (read 0 bytes of it)",
        ),
        ("{}", "IPCError: the host's answer needs exactly one of `result` and `error`"),
        (
            r#"{"result":{"content":[]},"error":{"message":"m","type":"t"}}"#,
            "IPCError: the host's answer needs exactly one of `result` and `error`",
        ),
        (r#"{"result":[]}"#, "IPCError: the host's `result` is not an object"),
        (r#"{"result":null}"#, "IPCError: the host's `result` is not an object"),
        (
            r#"{"error":{"message":"m"}}"#,
            "IPCError: the host's `error` cannot be read: missing field `type`",
        ),
        (
            r#"{"progress":{"progress":NaN}}"#,
            "IPCError: the host's answer cannot be read: it is not a JSON object (read 24 bytes of it)",
        ),
        (r#"{"progress":{"progress":1e999}}"#, "IPCError: the host's `progress` cannot be read"),
        (r#"{"log":"x"}"#, "IPCError: the host's answer needs exactly one of"),
        ("{\"result\":{\"a\":\"b\nc\"}}", "IPCError: the host's answer cannot be read"),
    ] {
        bridge.send(call(1, &json!({})));
        peer.request();
        peer.send(answer);
        let error = error_of(&bridge.recv(), 1);
        assert!(error.starts_with(reason), "{answer}: {error}");
        peer.assert_closed();
        // Whatever else the host says on the old connection is nobody's answer.
        bridge.send(call(2, &json!({})));
        peer = stage.accept();
        peer.request();
        peer.answer("its own");
        assert_eq!(text_of(&bridge.recv(), 2), "its own");
    }
    bridge.send(call(2, &json!({})));
    peer.request();
    peer.send(b"{\"result\":\"\xff\"}");
    let error = error_of(&bridge.recv(), 2);
    assert!(error.starts_with("IPCError: the host's answer is not UTF-8"), "{error}");
}

#[test]
fn a_tool_that_only_the_schema_file_knows_is_not_found_by_the_host() {
    let stage = Stage::new();
    let (mut bridge, mut peer) = connected(&stage);
    bridge.send(call(1, &json!({})));
    peer.request();
    peer.send(r#"{"error":{"message":"no tool is called \"echo\"","type":"ToolNotFoundError"}}"#);
    assert_eq!(error_of(&bridge.recv(), 1), "ToolNotFoundError: no tool is called \"echo\"");
}

#[test]
fn what_the_bridge_knows_itself_it_answers_without_the_host() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#);
    assert_eq!(bridge.recv()["result"]["protocolVersion"], "2025-06-18");
    bridge.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    bridge.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(bridge.recv()["result"]["tools"][1]["name"], "look");
    bridge.send("not json\r\n\r\n");
    assert_eq!(bridge.recv()["error"]["code"], -32700);
    bridge.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"none"}}"#);
    assert_eq!(bridge.recv()["error"]["code"], -32602);
    stage.assert_not_dialled();
    assert_eq!(bridge.stderr(), "");
}
