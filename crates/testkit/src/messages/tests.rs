//! The fake over HTTP: scripts, streams, failures, and what it records.

use serde_json::json;

use super::*;
use crate::http;

const HEADERS: &str = "host: x\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
                       content-type: application/json\r\n";

fn post(fake: &Messages, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    let raw = format!(
        "POST /v1/messages HTTP/1.1\r\n{HEADERS}{headers}content-length: {length}\r\n\r\n{body}"
    );
    http::request(fake.address(), raw.as_bytes())
}

fn ask(text: &str) -> Value {
    json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]})
}

fn ask_streamed(text: &str) -> Value {
    let mut body = ask(text);
    body["stream"] = json!(true);
    body
}

/// Returns the body of a chunked answer.
fn joined(answer: &str) -> String {
    let mut rest = answer.split_once("\r\n\r\n").unwrap().1;
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    body
}

#[test]
fn turns_come_in_order_and_no_more_than_there_are() {
    let fake = Messages::start([Turn::text("one"), Turn::text("two")]);
    assert!(post(&fake, "", &ask("a")).contains(r#""text":"one""#));
    assert!(post(&fake, "", &ask("a")).contains(r#""text":"two""#));
    fake.assert_played();
    let answer = post(&fake, "", &ask("a"));
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("the script has 2 turns and no more"), "{answer}");
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fake.assert_played()));
    assert!(played.is_err());
}

#[test]
fn a_stream_has_all_events() {
    let fake = Messages::start([Turn::text("hello")]);
    let answer = post(&fake, "", &ask_streamed("a"));
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    let body = joined(&answer);
    let names: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn small_writes_carry_the_same_stream() {
    let fake = Messages::start([Turn::text("hello"), Turn::text("hello").wire_bytes(3)]);
    let whole = joined(&post(&fake, "", &ask_streamed("a")));
    let small = joined(&post(&fake, "", &ask_streamed("a")));
    assert_eq!(whole.replace("msg_00000001", "msg_00000002"), small);
}

#[test]
fn a_prepared_stream_is_the_same_stream() {
    let turn = || Turn::text("grüße").pieces(1).tool_with_id("t1", "look", json!({"a": 1}));
    let prepared = turn().prepared();
    let fake = Messages::start([turn(), prepared.clone(), prepared.wire_bytes(50)]);
    let usual = post(&fake, "", &ask_streamed("a")).replace("_00000001", "_00000002");
    let second = post(&fake, "", &ask_streamed("a"));
    assert_eq!(second, usual);
    let third = joined(&post(&fake, "", &ask_streamed("a")));
    assert_eq!(third.replace("_00000003", "_00000002"), joined(&usual));
    fake.assert_played();
}

#[test]
#[should_panic(expected = "needs an id")]
fn a_prepared_tool_use_needs_an_id() {
    let _ = Messages::start([Turn::tool_use("look", json!({})).prepared()]);
}

#[test]
fn no_answer_at_all() {
    let fake = Messages::start([Turn::hang_up()]);
    assert_eq!(post(&fake, "", &ask_streamed("a")), "");
    fake.assert_played();
}

#[test]
fn a_client_that_leaves_is_counted() {
    let fake = Messages::start([Turn::text("hello").stall_after(1)]);
    post(&fake, "", &ask_streamed("a"));
    fake.wait_for_hangups(1);
}

#[test]
fn a_cut_stream_has_no_end() {
    let fake = Messages::start([Turn::text("hello").cut_after(2)]);
    let answer = post(&fake, "", &ask_streamed("a"));
    assert!(answer.contains("content_block_start") && !answer.contains("message_stop"));
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn a_stalled_stream_ends_with_the_fake() {
    let fake = Messages::start([Turn::text("hello").stall_after(1)]);
    let address = fake.address();
    let client = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let body = ask_streamed("a").to_string();
        let length = body.len();
        let raw = format!(
            "POST /v1/messages HTTP/1.1\r\n{HEADERS}content-length: {length}\r\n\r\n{body}"
        );
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(raw.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    });
    fake.wait_for_main(1);
    drop(fake);
    assert!(!client.join().unwrap().contains("message_stop"));
}

#[test]
fn an_error_inside_the_stream() {
    let fake = Messages::start([Turn::text("hello").error_after(2, "overloaded_error")]);
    let body = joined(&post(&fake, "", &ask_streamed("a")));
    assert!(body.contains("event: error\ndata: {\"type\":\"error\""), "{body}");
    assert!(body.ends_with("\"overloaded_error\"}}\n\n"), "{body}");
}

#[test]
fn http_errors() {
    let fake = Messages::start([Turn::rate_limited(7), Turn::overloaded(), Turn::broken()]);
    let limited = post(&fake, "", &ask("a"));
    assert!(limited.starts_with("HTTP/1.1 429 ") && limited.contains("retry-after: 7\r\n"));
    assert!(limited.contains(r#""error":{"type":"rate_limit_error""#), "{limited}");
    assert!(post(&fake, "", &ask("a")).starts_with("HTTP/1.1 529 "));
    assert!(post(&fake, "", &ask("a")).starts_with("HTTP/1.1 500 "));
    fake.assert_played();
}

#[test]
fn a_refused_request_takes_no_turn() {
    let fake = Messages::start([Turn::text("one")]);
    let answer = post(&fake, "", &json!({"model": "m"}));
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(
        answer.ends_with(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: Field required"},"request_id":"req_00000001"}"#
        ),
        "{answer}"
    );
    assert!(post(&fake, "", &ask("a")).contains(r#""text":"one""#));
    assert_eq!(fake.requests()[0].refusal.as_ref().unwrap().status, 400);
}

#[test]
fn other_paths_are_not_found() {
    let fake = Messages::start([]);
    let answer = http::request(fake.address(), b"GET /v1/complete HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(answer.contains(r#"{"type":"error","error":{"type":"not_found_error""#), "{answer}");
}

#[test]
fn models_are_listed_for_a_caller_with_a_key() {
    let fake = Messages::start([]);
    let raw = format!("GET /v1/models HTTP/1.1\r\n{HEADERS}\r\n");
    let answer = http::request(fake.address(), raw.as_bytes());
    assert!(answer.contains(r#"{"type":"model","id":"claude-opus-5-5""#), "{answer}");
    let answer = http::request(fake.address(), b"GET /v1/models HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[test]
fn tokens_are_counted() {
    let fake = Messages::start([]);
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#;
    let length = body.len();
    let raw = format!(
        "POST /v1/messages/count_tokens?beta=true HTTP/1.1\r\n{HEADERS}content-length: {length}\r\n\r\n{body}"
    );
    let answer = http::request(fake.address(), raw.as_bytes());
    assert!(answer.ends_with(r#"{"input_tokens":15}"#), "{answer}");
}

#[test]
fn side_requests_take_no_turn() {
    let fake = Messages::start([Turn::text("one")]);
    let cli = "user-agent: claude-cli/2.1.325 (external, sdk-cli)\r\n";
    assert!(post(&fake, cli, &ask("a title, please")).contains("A side note"));
    let mut body = ask("a");
    body["tools"] = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    let subagent = format!("{cli}x-claude-code-agent-id: a1\r\n");
    assert!(post(&fake, &subagent, &body).contains("The subagent is done"));
    assert!(post(&fake, cli, &body).contains(r#""text":"one""#));
    let parts: Vec<Part> = fake.requests().into_iter().map(|request| request.part).collect();
    assert_eq!(parts, [Part::Side, Part::Side, Part::Main]);
    assert_eq!(fake.last().tool_names(), ["look"]);
}

#[test]
fn a_marked_conversation_has_its_own_script() {
    let fake = Messages::start([Turn::text("one")]);
    fake.conversation("blue", [Turn::text("sky")]);
    assert!(post(&fake, "", &ask("say blue")).contains(r#""text":"sky""#));
    assert!(post(&fake, "", &ask("say red")).contains(r#""text":"one""#));
    fake.assert_played();
}

#[test]
fn results_are_read_from_the_last_user_message() {
    let fake = Messages::start([Turn::text("one")]);
    let body = json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "look", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true,
             "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
        ]},
        {"role": "system", "content": "note"},
    ]});
    post(&fake, "", &body);
    let results = fake.last().tool_results();
    let expected = ToolResult { tool_use_id: "t1".into(), is_error: true, text: "x\ny".into() };
    assert_eq!(results, [expected]);
    fake.assert_played();
}
