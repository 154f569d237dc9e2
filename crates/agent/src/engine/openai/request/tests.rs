//! What is sent.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::message::ResultContent;
use crate::tool::raw_json;

fn call(messages: Vec<ChatMessage>) -> EngineCall {
    let spec = ToolSpec {
        name: "add".into(),
        description: "Adds.".into(),
        input_schema: raw_json(&json!({"type": "object"})),
        kind: "other",
        is_read_only: true,
    };
    EngineCall {
        model: "m".into(),
        system: "Be kind.".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([spec]),
        max_tokens: 100,
        thinking: None,
        streams_tool_input: false,
        engine_state: None,
        runner: None,
    }
}

fn sent(call: &EngineCall, limit: AnswerLimit) -> Value {
    serde_json::from_slice(&encode_body(call, limit).unwrap()).unwrap()
}

fn picture(data: &str) -> MediaSource {
    MediaSource::Base64 { media_type: "image/png".to_owned(), data: data.to_owned() }
}

#[test]
fn a_conversation_with_tools_pictures_and_thoughts() {
    let input = raw_json(&json!({"a": 1}));
    let (id, name) = ("call_1".to_owned(), "add".to_owned());
    let content = ResultContent { text: "2".to_owned(), images: vec![picture("BB")] };
    let call = call(vec![
        ChatMessage::user(vec![Block::Image { source: picture("AA") }, Block::text("Add.")]),
        ChatMessage::assistant(vec![
            Block::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() },
            Block::ToolUse { id: id.clone(), name, input },
        ]),
        ChatMessage::user(vec![
            Block::ToolResult { tool_use_id: id, content, is_error: false },
            Block::text("Go on."),
        ]),
        ChatMessage::assistant(vec![Block::text("Two."), Block::text("Really.")]),
        ChatMessage::user(vec![Block::text("Thanks."), Block::text(" ")]),
    ]);
    let url = |data: &str| {
        let url = format!("data:image/png;base64,{data}");
        json!({"type": "image_url", "image_url": {"url": url}})
    };
    let body = sent(&call, AnswerLimit::MaxTokens);
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [url("AA"), {"type": "text", "text": "Add."}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1",
                "type": "function", "function": {"name": "add", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "2"},
            {"role": "user", "content": [{"type": "text", "text": "Go on."}, url("BB")]},
            {"role": "assistant", "content": "Two.\n\nReally."},
            {"role": "user", "content": "Thanks."},
        ])
    );
    let function = json!({"name": "add", "description": "Adds.", "parameters": {"type": "object"}});
    assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(true)));
}

#[test]
fn the_longest_answer_is_said_as_the_server_wants_it() {
    let call = call(vec![ChatMessage::user(vec![Block::text("a")])]);
    let told = |limit| {
        let body = sent(&call, limit);
        (body["max_tokens"].as_u64(), body["max_completion_tokens"].as_u64())
    };
    assert_eq!(told(AnswerLimit::MaxTokens), (Some(100), None));
    assert_eq!(told(AnswerLimit::MaxCompletionTokens), (None, Some(100)));
    assert_eq!(told(AnswerLimit::Unlimited), (None, None));
}

#[test]
fn nothing_is_not_sent() {
    let empty = call(vec![ChatMessage::user(vec![Block::text(" ")])]);
    let error = encode_body(&empty, AnswerLimit::MaxTokens).unwrap_err();
    assert_eq!(error.text, "There is nothing to answer: the message is empty");
}
