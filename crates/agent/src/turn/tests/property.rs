//! Whatever happens to a turn, it ends once and keeps what the model accepts.

use super::*;
use crate::history::tests::strict::repair;

fn any_input() -> impl Strategy<Value = (u8, u8)> {
    (0..16_u8, 0..4_u8)
}

proptest! {
    /// Whatever happens in whatever order: at most one end, nothing after it, every announced
    /// tool has its result before it, and all that is kept can be sent to the model again.
    #[test]
    fn every_turn_ends_once_and_keeps_what_the_model_accepts(
        inputs in prop::collection::vec(any_input(), 0..80),
    ) {
        let mut turn = turn(4);
        let mut todo = Vec::new();
        turn.start_turn(&mut todo);
        for (what, which) in inputs {
            play(&mut turn, what, which, &mut todo);
        }
        turn.cancel(&mut todo);
        assert_whole(&todo)?;
    }
}

fn play(turn: &mut Turn, what: u8, which: u8, todo: &mut Vec<TurnAction>) {
    let kinds = [
        EngineErrorKind::Overloaded,
        EngineErrorKind::Cut,
        EngineErrorKind::Auth,
        EngineErrorKind::TooLong,
    ];
    let stops = [ModelStop::EndTurn, ModelStop::ToolUse, ModelStop::MaxTokens, ModelStop::Refusal];
    let at = usize::from(which);
    match what {
        0..=2 => turn.handle_piece(text(["a", " ", "", "b"][at]), todo),
        3 => turn.handle_piece(AnswerPiece::Thinking("hm".to_owned()), todo),
        4 => turn.handle_piece(AnswerPiece::Signature("s".to_owned()), todo),
        5 | 6 => {
            turn.handle_piece(
                tool(["a", "b", "", "a"][at], ["read", "write", "x", "read"][at]),
                todo,
            );
        }
        7 | 8 => turn.handle_piece(AnswerPiece::End(stops[at].clone()), todo),
        9 => turn.handle_error(trouble(kinds[at]), todo),
        10 => turn.handle_stream_end(todo),
        11 | 12 => turn.handle_call_end(at, ran("done"), todo),
        13 => turn.steer(vec![Block::text("rather this")]),
        14 => {
            let (id, name) = ("a".to_owned(), "read".to_owned());
            turn.handle_piece(AnswerPiece::ToolInput { id, name, text: "{".to_owned() }, todo);
        }
        _ if which == 0 => turn.cancel(todo),
        _ => turn.handle_call_end(at, FinishedCall { interrupt: which == 1, ..ran("") }, todo),
    }
}

fn assert_whole(todo: &[TurnAction]) -> Result<(), TestCaseError> {
    let ends = todo.iter().filter(|todo| matches!(todo, TurnAction::End(_))).count();
    prop_assert_eq!(ends, 1);
    prop_assert!(matches!(todo.last(), Some(TurnAction::End(_))), "something follows the end");
    let mut open = HashSet::new();
    let mut kept = Vec::new();
    for step in todo {
        match step {
            TurnAction::Tell(SessionEvent::ToolUse(call)) => {
                prop_assert!(open.insert(call.tool_id.clone()));
            }
            TurnAction::Tell(SessionEvent::ToolResult(call)) => {
                prop_assert!(open.remove(&call.tool_id));
            }
            TurnAction::Keep { messages, .. } => kept.extend(messages.iter().cloned()),
            _ => {}
        }
    }
    prop_assert!(open.is_empty(), "without a result: {open:?}");
    let mended = repair(kept);
    assert_sendable(&mended.iter().collect::<Vec<_>>())
}

/// Returns what the Messages API demands of a conversation.
fn assert_sendable(messages: &[&ChatMessage]) -> Result<(), TestCaseError> {
    let mut wanted: Vec<&String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        prop_assert_eq!(message.role, role, "message {}", at);
        prop_assert!(!message.content.is_empty());
        let results: Vec<&String> = message.content.iter().filter_map(result_of).collect();
        prop_assert_eq!(&results, &wanted, "results of message {}", at);
        wanted = message.content.iter().filter_map(use_of).collect();
        for block in &message.content {
            match block {
                Block::Text { text } => prop_assert!(!text.trim().is_empty()),
                Block::ToolResult { content, .. } => prop_assert!(!content.text.is_empty()),
                _ => {}
            }
        }
    }
    prop_assert!(wanted.is_empty(), "tools without results at the end");
    Ok(())
}

fn use_of(block: &Block) -> Option<&String> {
    match block {
        Block::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

fn result_of(block: &Block) -> Option<&String> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}
