//! Conversations with the engine, and what it makes of messages.

mod conversations;
mod messages;

use super::*;
use crate::tool::Spec;

/// All tools that it knows.
fn tools() -> Arc<[Spec]> {
    let all = [
        "list_files",
        "read_file",
        "search_text",
        "search_files",
        "write_file",
        "edit_file",
        "run_shell_command",
        "get_system_info",
    ];
    let input_schema = || to_raw_value(&serde_json::json!({})).unwrap();
    let spec =
        |name| Spec { name, description: "", input_schema: input_schema(), is_read_only: true };
    all.into_iter().map(spec).collect()
}

fn call(messages: Vec<Message>, tools: Arc<[Spec]>) -> Call {
    let messages = messages.into_iter().map(Arc::new).collect();
    Call { system: "".into(), messages, tools, max_tokens: 1000, thinking: None }
}

fn user(text: &str) -> Message {
    Message::user(vec![Block::text(text)])
}

/// A conversation that has begun: the engine does not introduce itself any more.
fn after_hello(text: &str) -> Vec<Message> {
    vec![user("hello"), Message::assistant(vec![Block::text("Hello!")]), user(text)]
}

/// What was answered: the text, the uses, and why it stopped.
struct Answered {
    text: String,
    uses: Vec<Block>,
    stop: Stop,
}

/// Takes an answer to its end and looks whether it is well formed.
fn ask(call: Call) -> Answered {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut answer = Offline.answer(call);
    let mut pieces = Vec::new();
    while runtime.block_on(answer.next(&mut pieces)).unwrap() {}
    let (mut text, mut uses, mut ends) = (String::new(), Vec::new(), Vec::new());
    for piece in pieces {
        assert!(ends.is_empty(), "something comes after the end: {piece:?}");
        match piece {
            Piece::Text(piece) => {
                assert!(uses.is_empty() && !piece.is_empty());
                text.push_str(&piece);
            }
            Piece::ToolUse { id, name, input, fault } => {
                assert_eq!(fault, None);
                assert!(input.get().starts_with('{'));
                uses.push(Block::ToolUse { id, name, input });
            }
            Piece::Usage(usage) => assert_eq!(usage, Usage::default()),
            Piece::End(stop) => ends.push(stop),
            other => panic!("a piece that it never says: {other:?}"),
        }
    }
    assert_eq!(ends.len(), 1, "exactly one end");
    let stop = ends.remove(0);
    assert_eq!(stop == Stop::ToolUse, !uses.is_empty());
    assert!(!text.is_empty() || !uses.is_empty(), "an answer is never empty");
    Answered { text, uses, stop }
}

/// The uses, one in a line.
fn uses(blocks: &[Block]) -> Vec<String> {
    let line = |block: &Block| match block {
        Block::ToolUse { name, input, .. } => format!("{name} {input}"),
        other => panic!("no use: {other:?}"),
    };
    blocks.iter().map(line).collect()
}
