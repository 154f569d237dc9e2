//! What the engine makes of messages and of the results of tools.

use serde_json::{Value, json};

use serde_json::value::to_raw_value;

use super::*;
use crate::message::ChatMessage;
use crate::tool::ToolSpec;

fn tools(names: &[&'static str]) -> Arc<[ToolSpec]> {
    let input_schema = || to_raw_value(&json!({})).unwrap();
    let spec = |name: &&'static str| ToolSpec {
        name: (*name).into(),
        description: "".into(),
        input_schema: input_schema(),
        is_read_only: true,
        kind: callgate_wire::session::tool_kind::OTHER,
    };
    names.iter().map(spec).collect()
}

fn user(text: &str) -> ChatMessage {
    ChatMessage::user(vec![Block::text(text)])
}

/// Answers a conversation, and returns the text and the tool uses.
fn ask(messages: Vec<ChatMessage>) -> (String, Vec<(String, Value)>) {
    let messages = messages.into_iter().map(Arc::new).collect();
    let tools = tools(&["list_files", "run_shell_command"]);
    let call = EngineCall {
        model: MODEL.into(),
        system: "".into(),
        messages,
        tools,
        max_tokens: 1000,
        thinking: None,
        streams_tool_input: false,
        engine_state: None,
        runner: None,
    };
    let (mut text, mut uses, mut stop) = (String::new(), Vec::new(), None);
    for piece in build_answer(&call) {
        assert_eq!(stop, None, "nothing follows the end");
        match piece {
            AnswerPiece::Text(piece) => text.push_str(&piece),
            AnswerPiece::ToolUse { id, input, .. } => {
                uses.push((id, serde_json::from_str(input.get()).unwrap()));
            }
            AnswerPiece::End(reason) => stop = Some(reason),
            AnswerPiece::Usage(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(stop, Some(if uses.is_empty() { ModelStop::EndTurn } else { ModelStop::ToolUse }));
    (text, uses)
}

/// Returns a conversation that has begun, so that the engine does not introduce itself.
fn later(text: &str) -> Vec<ChatMessage> {
    vec![user("help"), ChatMessage::assistant(vec![Block::text("You can say:")]), user(text)]
}

#[test]
fn each_form_is_one_use_of_a_tool() {
    let check = |message: &str, tool: &str, input: Value| {
        assert_eq!(
            form::parse_tool_request(message).map(|it| (it.tool, it.input)),
            Ok((tool, input)),
            "{message}"
        );
    };
    check("list files", "list_files", json!({"path": "."}));
    // What the README suggests to ask first.
    check("What does this folder hold?", "list_files", json!({"path": "."}));
    check(" List files in src\n", "list_files", json!({"path": "src"}));
    check("read \"my notes.txt\"", "read_file", json!({"path": "my notes.txt"}));
    check("search for TODO", "search_text", json!({"pattern": "TODO"}));
    check("search for \"to do\" in src", "search_text", json!({"pattern": "to do", "path": "src"}));
    check("find *.rs in src", "search_files", json!({"pattern": "*.rs", "path": "src"}));
    check("write \"a\nb\" to x", "write_file", json!({"content": "a\nb", "path": "x"}));
    let input = json!({"oldText": "a", "newText": "", "path": "x"});
    check("replace a with \"\" in x", "edit_file", input);
    check("run make -j 2", "run_shell_command", json!({"command": "make", "args": ["-j", "2"]}));
    let input = json!({"command": "sh", "args": ["-c", "ls | wc"]});
    check("run sh -c \"ls | wc\"", "run_shell_command", input);
    check("system info", "get_system_info", json!({}));
}

#[test]
fn anything_else_is_refused_with_the_reason() {
    for message in ["hello", "list", "list files in", "read a b", "\"read\" a", "search for", "run"]
    {
        let reason = form::parse_tool_request(message).unwrap_err();
        assert!(reason.contains("Say `help`"), "{message}: {reason}");
    }
    assert_eq!(form::parse_tool_request("read \"a").unwrap_err(), "A quote is not closed.");
    for message in ["run ls | wc", "run echo $HOME", "run a;b", "run ls *"] {
        let reason = form::parse_tool_request(message).unwrap_err();
        assert!(reason.contains("without a shell"), "{message}: {reason}");
    }
}

#[test]
fn the_first_answer_introduces_the_engine() {
    let (text, uses) = ask(vec![user("list files")]);
    assert_eq!(text, format!("{INTRODUCTION}\n\n"));
    assert_eq!(uses, [("offline_1".to_owned(), json!({"path": "."}))]);
    assert_eq!(ask(later("list files")).0, "");
}

#[test]
fn help_lists_every_form() {
    for message in ["help", "HELP", ""] {
        let (text, _) = ask(later(message));
        assert_eq!(text.matches("- `").count(), 8, "{text}");
        assert!(text.contains("- `replace OLD with NEW in PATH`\n"), "{text}");
    }
}

#[test]
fn the_guide_lists_the_same_forms() {
    let guide = include_str!("../../../../../docs/guide/agent.md");
    assert!(guide.contains(&form::forms_list()), "{}", form::forms_list());
}

#[test]
fn a_tool_that_is_not_offered_is_named() {
    assert_eq!(ask(later("read a")).0, "I cannot do that: there is no tool read_file here.");
}

#[test]
fn results_are_repeated_and_ids_differ() {
    let (_, uses) = ask(later("list files"));
    let input = to_raw_value(&uses[0].1).unwrap();
    let call = Block::ToolUse { id: uses[0].0.clone(), name: "list_files".into(), input };
    let told = |content: &str, is_error| {
        let mut messages = later("list files");
        messages.push(ChatMessage::assistant(vec![call.clone()]));
        let tool_use_id = uses[0].0.clone();
        let result = Block::ToolResult { tool_use_id, content: content.into(), is_error };
        messages.push(ChatMessage::user(vec![result]));
        messages
    };
    assert_eq!(ask(told("a ``` b\n", false)).0, "````\na ``` b\n````");
    assert_eq!(ask(told("denied by Ada", true)).0, "That did not work: denied by Ada");
    let long = ask(told(&"é".repeat(MOST_BYTES), false)).0;
    assert!(long.ends_with("```\n\nThe rest is not shown here."), "{long}");

    let mut next = told("a", false);
    next.extend([ChatMessage::assistant(vec![Block::text("a")]), user("list files")]);
    assert_ne!(ask(next).1[0].0, uses[0].0);
}
