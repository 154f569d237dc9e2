//! What the CLI is told of the past.

use super::*;
use crate::tool::raw_json;

fn call(engine_state: Option<&str>) -> EngineCall {
    let id = "t".to_owned();
    let (name, input) = ("look".to_owned(), raw_json(&json!({"a": 1})));
    let messages = vec![
        ChatMessage::user(vec![Block::text("Look.")]),
        ChatMessage::assistant(vec![Block::ToolUse { id: id.clone(), name, input }]),
        ChatMessage::user(vec![Block::ToolResult {
            tool_use_id: id,
            content: "a tree".into(),
            is_error: false,
        }]),
        ChatMessage::assistant(vec![Block::text("It is a tree.")]),
        ChatMessage::user(vec![Block::text("Really?")]),
    ];
    EngineCall {
        model: "default".into(),
        system: "".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([]),
        max_tokens: 100,
        thinking: None,
        streams_tool_input: false,
        engine_state: engine_state.map(str::to_owned),
        runner: None,
    }
}

#[test]
fn a_session_that_is_resumed_is_told_only_what_is_new() {
    assert_eq!(from_call(&call(Some("session"))), Prompt::new("Really?"));
}

#[test]
fn a_new_session_is_told_what_was_said_before() {
    let past = "User: Look.\nYou used a tool: look {\"a\":1}\nIts result: a tree\n\
                You: It is a tree.\n";
    let expected = Prompt::new(format!("{PAST}\n{past}\n{NOW}")).text("Really?");
    assert_eq!(from_call(&call(None)), expected);
}
