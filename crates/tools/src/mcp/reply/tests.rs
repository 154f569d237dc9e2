//! How results, errors and progress are put on a line.

use callgate_wire::mcp::LONGEST_LINE;
use callgate_wire::raw::Json;
use callgate_wire::tools::{CallProgress, ErrorPayload};
use expect_test::{Expect, expect};
use serde_json::value::RawValue;

use super::{CallReply, CallTicket, McpEra};

fn ticket(era: McpEra, token: Option<&str>) -> CallTicket {
    CallTicket { id: "7".to_owned(), token: token.map(str::to_owned), era }
}

fn line(reply: CallReply<'_>) -> String {
    let pieces: Vec<u8> = reply.pieces().iter().flat_map(|piece| piece.to_vec()).collect();
    let line = reply.into_line();
    assert_eq!(line, pieces);
    String::from_utf8(line).unwrap()
}

fn check_result(era: McpEra, result: &str, expected: &Expect) {
    let result = Json::from_text(result).unwrap();
    expected.assert_eq(&line(ticket(era, None).result_reply(result)));
}

#[test]
fn a_legacy_result_crosses_byte_for_byte() {
    check_result(
        McpEra::Legacy,
        r#"{ "isError" : true, "content":[{"type":"image","data":"x"}], "n": 1.50, "resultType":"q"}"#,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{ "isError" : true, "content":[{"type":"image","data":"x"}], "n": 1.50, "resultType":"q"}}
        "#]],
    );
}

#[test]
fn a_modern_result_gets_its_type_unless_it_has_one() {
    check_result(
        McpEra::Modern,
        r#"{ "content":[], "z": 1.50}"#,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[], "z": 1.50}}
        "#]],
    );
    check_result(
        McpEra::Modern,
        r#"{"content":[],"resultType":"input_required"}"#,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"content":[],"resultType":"input_required"}}
        "#]],
    );
    check_result(
        McpEra::Modern,
        r#"{ "content":[]}"#,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}
        "#]],
    );
}

#[test]
fn a_question_crosses_to_a_client_that_can_put_it() {
    let question = r#"{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}"#;
    check_result(
        McpEra::Modern,
        question,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}}
        "#]],
    );
    check_result(
        McpEra::Legacy,
        question,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"IPCToolExecutionError: the tool asks its user something, which only clients that speak MCP 2026-07-28 can pass on: use a newer one, or call it with all it needs"}],"isError":true}}
        "#]],
    );
}

#[test]
fn a_result_without_content_is_an_error() {
    check_result(
        McpEra::Legacy,
        r#"{"content":"three"}"#,
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"IPCError: the host's `result.content` is not an array"}],"isError":true}}
        "#]],
    );
    check_result(
        McpEra::Modern,
        "{ }",
        &expect![[r#"
            {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"IPCError: the host's `result` has no `content`"}],"isError":true}}
        "#]],
    );
}

#[test]
fn an_error_shows_its_class_and_its_message() {
    let error = ErrorPayload { message: "no \"such\"\nfile".into(), kind: "OSError".into() };
    expect![[r#"
        {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"OSError: no \"such\"\nfile"}],"isError":true}}
    "#]]
    .assert_eq(&line(ticket(McpEra::Legacy, None).error_reply(&error)));
    expect![[r#"
        {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"OSError: no \"such\"\nfile"}],"isError":true}}
    "#]]
    .assert_eq(&line(ticket(McpEra::Modern, None).error_reply(&error)));
}

#[test]
fn a_line_of_exactly_the_limit_is_sent_and_one_more_is_an_error() {
    let around = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[""]}}"#.len();
    let result = |length: usize| {
        let text = format!(r#"{{"content":["{}"]}}"#, "x".repeat(length));
        RawValue::from_string(text).unwrap()
    };
    let fitting = result(LONGEST_LINE - around);
    assert_eq!(
        line(ticket(McpEra::Legacy, None).result_reply((&*fitting).into())).len(),
        LONGEST_LINE + 1
    );
    let over = result(LONGEST_LINE - around + 1);
    expect![[r#"
        {"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"IPCMessageSizeError: the tool's answer has 10485761 bytes, but 10485760 bytes is the limit: have it return less at once"}],"isError":true}}
    "#]]
    .assert_eq(&line(ticket(McpEra::Legacy, None).result_reply((&*over).into())));
}

#[test]
fn an_error_that_is_too_long_is_told_by_its_size() {
    let error = ErrorPayload { message: "x".repeat(LONGEST_LINE).into(), kind: "E".into() };
    let line = line(ticket(McpEra::Legacy, None).error_reply(&error));
    assert!(
        line.contains("IPCMessageSizeError: the tool's answer has 10485851 bytes"),
        "{}",
        &line[..200]
    );
}

#[test]
fn progress_goes_to_whoever_asked_for_it() {
    let progress = CallProgress { progress: 0.5, total: Some(2.0), message: Some("half".into()) };
    assert_eq!(ticket(McpEra::Legacy, None).progress_notification(&progress), None);
    let told = ticket(McpEra::Legacy, Some("\"t\"")).progress_notification(&progress).unwrap();
    expect![[r#"
        {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"total":2.0,"message":"half"}}
    "#]]
    .assert_eq(&String::from_utf8(told).unwrap());
}

#[test]
fn an_id_is_the_same_only_in_the_same_spelling() {
    assert!(ticket(McpEra::Legacy, None).has_id("7"));
    assert!(!ticket(McpEra::Legacy, None).has_id("\"7\""));
}
