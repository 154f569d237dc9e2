//! The CLI's messages, and the events they become.

use callgate_wire::control::CliMessage;
use expect_test::{Expect, expect};

use super::*;

/// The events of a line, one a line.
#[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
fn check(line: &str, expected: Expect) {
    let told: Vec<String> = read(line).iter().map(|event| format!("{event:?}")).collect();
    expected.assert_eq(&told.join("\n"));
}

fn read(line: &str) -> Vec<ClaudeEvent> {
    match CliMessage::decode(line.as_bytes()) {
        Ok(CliMessage::Message { kind, message }) => events_in_message(&kind, &message),
        other => panic!("{line} is {other:?}"),
    }
}

#[test]
fn a_session_begins() {
    check(
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":["Bash","mcp__a__b"],"mcp_servers":[{"name":"a","status":"connected","source":"sdk"}],"cwd":"/"}"#,
        expect![[
            r#"Started(SessionSetup { session_id: "s", model: "m", tools: ["Bash", "mcp__a__b"], servers: [McpServer { name: "a", status: "connected" }] })"#
        ]],
    );
    check(
        r#"{"type":"system","subtype":"init"}"#,
        expect![[r#"Started(SessionSetup { session_id: "", model: "", tools: [], servers: [] })"#]],
    );
}

#[test]
fn an_assistant_speaks_thinks_and_acts() {
    check(
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"gr\u00fc\u00dfe"},{"type":"tool_use","id":"t1","name":"Bash","input":{"b":1.50,"a":123456789012345678901234567890}}]},"parent_tool_use_id":null}"#,
        expect![[r#"
            Thinking("hm")
            Text("grüße")
            ToolUse(ClaudeToolUse { id: "t1", name: "Bash", input: RawValue({"b":1.50,"a":123456789012345678901234567890}) })"#]],
    );
}

#[test]
fn a_tool_has_ended() {
    check(
        r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"no","is_error":true},{"tool_use_id":"t2","type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}"#,
        expect![[r#"
            ToolResult(ClaudeToolResult { id: "t1", is_error: true, content: String("no"), details: None })
            ToolResult(ClaudeToolResult { id: "t2", is_error: false, content: Array [Object {"type": String("text"), "text": String("a")}, Object {"type": String("image")}, Object {"type": String("text"), "text": String("b")}], details: None })"#]],
    );
}

#[test]
fn a_result_is_text_in_either_shape() {
    let text = |content: Value| {
        ClaudeToolResult { id: String::new(), is_error: false, content, details: None }.text()
    };
    assert_eq!(text("whole".into()), "whole");
    assert_eq!(text(serde_json::json!([{"text": "a"}, {"type": "image"}, {"text": "b"}])), "ab");
    assert_eq!(text(Value::Null), "");
}

#[test]
fn what_is_said_in_the_users_name_is_not_the_models() {
    check(
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"stopped","is_error":true},{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#,
        expect![[r#"
            ToolResult(ClaudeToolResult { id: "t1", is_error: true, content: String("stopped"), details: None })
            Other { kind: "user", message: RawValue({"type":"text","text":"[Request interrupted by user for tool use]"}) }"#]],
    );
    check(
        r#"{"type":"user","message":{"role":"user","content":"a prompt"}}"#,
        expect![[
            r#"Other { kind: "user", message: RawValue({"type":"user","message":{"role":"user","content":"a prompt"}}) }"#
        ]],
    );
}

#[test]
fn what_the_cli_says_about_an_error_is_not_the_models() {
    let error = r#"{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 529 Overloaded."}]},"error":"server_error","is_api_error_message":true,"api_error_status":529}"#;
    let told = [error.to_owned(), error.replace("<synthetic>", "m")];
    for line in told {
        assert!(matches!(&read(&line)[..], [ClaudeEvent::Other { .. }]), "{line}");
    }
}

#[test]
fn what_is_reported_about_a_call_belongs_to_its_only_result() {
    let line = |more: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"tool_use_id":"t1","type":"tool_result","content":"x"}}{more}]}},"tool_use_result":{{"a":1}}}}"#
        )
    };
    let details = |line: &str| match read(line).remove(0) {
        ClaudeEvent::ToolResult(result) => result.details.map(|it| it.get().to_owned()),
        other => panic!("{other:?}"),
    };
    assert_eq!(details(&line("")).as_deref(), Some(r#"{"a":1}"#));
    let second = r#",{"tool_use_id":"t2","type":"tool_result","content":"y"}"#;
    assert_eq!(details(&line(second)), None);
}

#[test]
fn pieces() {
    let piece = |delta: &str| {
        let event = format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
        format!(r#"{{"type":"stream_event","event":{event},"session_id":"s"}}"#)
    };
    check(&piece(r#"{"type":"text_delta","text":"a"}"#), expect![[r#"Partial(Text("a"))"#]]);
    check(
        &piece(r#"{"type":"thinking_delta","thinking":"a"}"#),
        expect![[r#"Partial(Thinking("a"))"#]],
    );
    check(
        &piece(r#"{"type":"input_json_delta","partial_json":"{\"a\""}"#),
        expect![[r#"Partial(Input("{\"a\""))"#]],
    );
    let begin = |block: &str| {
        let event =
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#);
        format!(r#"{{"type":"stream_event","event":{event},"session_id":"s"}}"#)
    };
    check(
        &begin(r#"{"type":"tool_use","id":"t1","name":"Bash","input":{}}"#),
        expect![[r#"Partial(ToolCall { id: "t1", name: "Bash" })"#]],
    );
    let text = begin(r#"{"type":"text","text":""}"#);
    assert!(matches!(&read(&text)[..], [ClaudeEvent::Other { .. }]));
    for unknown in [r#"{"type":"signature_delta","signature":"s"}"#, r#"{"type":"new"}"#, "1"] {
        assert!(matches!(&read(&piece(unknown))[..], [ClaudeEvent::Other { .. }]), "{unknown}");
    }
}

#[test]
fn tokens_of_a_response() {
    let event = |event: &str| format!(r#"{{"type":"stream_event","event":{event}}}"#);
    let counts = r#"{"input_tokens":3,"cache_read_input_tokens":20,"cache_creation_input_tokens":100,"output_tokens":1}"#;
    check(
        &event(&format!(r#"{{"type":"message_start","message":{{"usage":{counts}}}}}"#)),
        expect![[
            r"Partial(Tokens { usage: ClaudeUsage { input_tokens: 3, output_tokens: 1, cache_creation_input_tokens: 100, cache_read_input_tokens: 20 }, is_first: true })"
        ]],
    );
    check(
        &event(
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7,"input_tokens":null}}"#,
        ),
        expect![[
            r"Partial(Tokens { usage: ClaudeUsage { input_tokens: 0, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }, is_first: false })"
        ]],
    );
    for without in [r#"{"type":"message_start","message":{}}"#, r#"{"type":"message_stop"}"#] {
        assert!(matches!(&read(&event(without))[..], [ClaudeEvent::Other { .. }]), "{without}");
    }
}

#[test]
fn a_subagent_is_told_apart() {
    check(
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"parent_tool_use_id":"t1"}"#,
        expect![[r#"
            Subagent { parent: "t1", event: Text("a") }
            Subagent { parent: "t1", event: Text("b") }"#]],
    );
}

#[test]
fn what_is_unknown_is_kept_as_it_came() {
    for line in [
        r#"{"type":"system","subtype":"status","more":{"a": [1,  2]}}"#,
        r#"{"type":"rate_limit_event","n":1.50}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"new"}]}}"#,
        r#"{"type":"assistant"}"#,
        r#"{"type":"stream_event"}"#,
        r#"{"no":"type"}"#,
    ] {
        let told = read(line);
        let [ClaudeEvent::Other { message, .. }] = &told[..] else { panic!("{told:?}") };
        assert_eq!(message.get(), line);
    }
}

#[test]
fn the_cli_says_when_it_is_idle() {
    let idle = |line: &str| match CliMessage::decode(line.as_bytes()) {
        Ok(CliMessage::Message { kind, message }) => is_idle(&kind, &message),
        other => panic!("{line} is {other:?}"),
    };
    let told = r#"{"type":"system","subtype":"session_state_changed","state":"#;
    assert_eq!(idle(&format!(r#"{told}"idle"}}"#)), Some(true));
    assert_eq!(idle(&format!(r#"{told}"running"}}"#)), Some(false));
    assert_eq!(idle(r#"{"type":"system","subtype":"init"}"#), None);
}
