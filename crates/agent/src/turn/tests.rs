//! Turns, whole and broken.

mod failures;
mod own_calls;
mod property;

use std::collections::HashSet;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::round_calls::MOST_CALLS;
use super::*;
use crate::message::Role;
use crate::tool::CallOutcome;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn turn(most_rounds: u32) -> Turn {
    let user = ChatMessage::user(vec![Block::text("hello")]);
    let patience = Duration::from_mins(1);
    let bounds = TurnLimits { most_rounds, keeps_unanswered: true, patience, seed: 0 };
    Turn::new(user, bounds, |name| name.starts_with("read"))
}

fn text(text: &str) -> AnswerPiece {
    AnswerPiece::Text(text.to_owned())
}

fn tool(id: &str, name: &str) -> AnswerPiece {
    AnswerPiece::ToolUse { id: id.to_owned(), name: name.to_owned(), input: raw("{}"), fault: None }
}

fn trouble(kind: EngineErrorKind) -> EngineError {
    EngineError { kind, status: None, retry_after: None, text: format!("{kind:?}") }
}

fn ran(text: &str) -> FinishedCall {
    let outcome = CallOutcome::done(&(), text);
    FinishedCall { outcome, interrupt: false }
}

/// What comes in.
enum In {
    Begin,
    Piece(AnswerPiece),
    Failed(EngineError),
    Silent,
    Ran(usize, FinishedCall),
    Cancel,
    Abandon,
}

/// Plays a turn and shows all that is to be done, a line for each input.
fn check(turn: &mut Turn, inputs: Vec<In>, expected: &Expect) {
    let mut shown = String::new();
    for input in inputs {
        let mut todo = Vec::new();
        match input {
            In::Begin => turn.start_turn(&mut todo),
            In::Piece(piece) => turn.handle_piece(piece, &mut todo),
            In::Failed(error) => turn.handle_error(error, &mut todo),
            In::Silent => turn.handle_stream_end(&mut todo),
            In::Ran(index, ran) => turn.handle_call_end(index, ran, &mut todo),
            In::Cancel => turn.cancel(&mut todo),
            In::Abandon => turn.abandon(RequestFailure::permanent("budget", "spent"), &mut todo),
        }
        shown.push_str(&todo.iter().map(show).collect::<Vec<_>>().join(" | "));
        shown.push('\n');
    }
    expected.assert_eq(&shown);
}

fn show(todo: &TurnAction) -> String {
    match todo {
        TurnAction::Tell(SessionEvent::Token(text)) => format!("token {text:?}"),
        TurnAction::Tell(SessionEvent::Thinking(text)) => format!("thinking {text:?}"),
        TurnAction::Tell(SessionEvent::ToolInput(piece)) => {
            format!("tool_input {} {:?} {}", piece.tool_id, piece.deed, piece.text)
        }
        TurnAction::Tell(SessionEvent::ToolUse(call)) => {
            format!("tool_use {} {}", call.tool_id, call.tool_name)
        }
        TurnAction::Tell(SessionEvent::ToolResult(call)) => {
            format!("tool_result {} {}", call.tool_id, call.is_error == Some(true))
        }
        TurnAction::Tell(SessionEvent::Notice(notice)) => {
            format!("notice {}: {}", notice.kind, notice.text)
        }
        TurnAction::Tell(event) => format!("{event:?}"),
        TurnAction::Ask(wait) => format!("ask after {wait:?}"),
        TurnAction::Shorten(failure) => format!("shorten or fail {}", failure.kind),
        TurnAction::Drop => "drop".to_owned(),
        TurnAction::Run(wanted) => format!("run {} {}", wanted.index, wanted.id),
        TurnAction::Stop(calls) => format!("stop {calls:?}"),
        TurnAction::Keep { messages, .. } => {
            let messages: Vec<String> = messages.iter().map(show_message).collect();
            format!("keep {}", messages.join(", "))
        }
        TurnAction::End(Ok(stop)) => format!("done {}", stop.name()),
        TurnAction::End(Err(failure)) => format!("failed {}: {}", failure.kind, failure.text),
    }
}

fn show_message(message: &ChatMessage) -> String {
    let block = |block: &Block| match block {
        Block::Text { text } => format!("{text:?}"),
        Block::ToolUse { id, .. } => format!("use {id}"),
        Block::ToolResult { tool_use_id, content, .. } => {
            let content = &content.text;
            format!("{tool_use_id} gave {content:?}")
        }
        Block::Thinking { thinking, signature } => {
            format!("thought {thinking:?} {signature:?}")
        }
        other => format!("{other:?}"),
    };
    let blocks: Vec<String> = message.content.iter().map(block).collect();
    format!("{} [{}]", message.role.name(), blocks.join(", "))
}

#[test]
fn the_first_piece_of_an_input_says_what_the_call_does() {
    let piece = |id: &str, name: &str, text: &str| {
        let (id, name, text) = (id.to_owned(), name.to_owned(), text.to_owned());
        In::Piece(AnswerPiece::ToolInput { id, name, text })
    };
    check(
        &mut turn(9),
        vec![
            In::Begin,
            piece("a", "write_file", "{\"path\""),
            piece("a", "write_file", ": \"x\"}"),
            piece("b", "fly", "{}"),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_input a Some("Write a file") {"path"
            tool_input a None : "x"}
            tool_input b Some("Use fly") {}
        "#]],
    );
}

#[test]
fn an_answer() {
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(AnswerPiece::Thinking("hm".to_owned())),
            In::Piece(AnswerPiece::Signature("sig".to_owned())),
            In::Piece(AnswerPiece::Signature("of a hidden one".to_owned())),
            In::Piece(text("Hi")),
            In::Piece(text(" there")),
            In::Piece(AnswerPiece::End(ModelStop::EndTurn)),
            In::Piece(text("late")),
            In::Cancel,
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            thinking "hm"


            token "Hi"
            token " there"
            keep assistant [thought "hm" "sig", thought "" "of a hidden one", "Hi there"] | done end_turn


        "#]],
    );
}

/// Plays an answer with so many calls; returns which of them ran, and what the model is told.
fn play_calls(count: usize, id: impl Fn(usize) -> String) -> (Vec<usize>, Vec<String>) {
    let mut turn = turn(9);
    let (mut todo, mut started, mut told) = (Vec::new(), Vec::new(), Vec::new());
    turn.start_turn(&mut todo);
    for number in 0..count {
        turn.handle_piece(tool(&id(number), "write"), &mut todo);
    }
    turn.handle_piece(AnswerPiece::End(ModelStop::ToolUse), &mut todo);
    while !todo.is_empty() {
        for step in std::mem::take(&mut todo) {
            match step {
                TurnAction::Run(wanted) => {
                    started.push(wanted.index);
                    turn.handle_call_end(wanted.index, ran("fine"), &mut todo);
                }
                TurnAction::Keep { messages, is_part: false, .. } => {
                    let results = messages.last().unwrap().content.iter();
                    told.extend(results.map(|block| match block {
                        Block::ToolResult { content, .. } => content.text.clone(),
                        other => format!("{other:?}"),
                    }));
                }
                _ => {}
            }
        }
    }
    (started, told)
}

#[test]
fn an_answer_with_too_many_calls_runs_the_first_and_says_so() {
    let (started, told) = play_calls(MOST_CALLS, |number| number.to_string());
    assert_eq!((started.len(), told), (MOST_CALLS, vec!["fine".to_owned(); MOST_CALLS]));
    let (started, told) = play_calls(MOST_CALLS + 2, |number| number.to_string());
    assert_eq!(started, (0..MOST_CALLS).collect::<Vec<_>>());
    assert_eq!(told.len(), MOST_CALLS + 2);
    for text in &told[MOST_CALLS..] {
        assert!(text.contains("may call 64 tools") && text.contains("next answer"), "{text}");
    }
}

/// A provider that repeats itself costs no more than one that does not.
#[test]
fn calls_without_end_burst_the_answer() {
    let (mut turn, mut todo) = (turn(9), Vec::new());
    turn.start_turn(&mut todo);
    for _ in 0..LONGEST_ANSWER / 1024 {
        turn.handle_piece(tool("same", "write"), &mut todo);
    }
    let last = todo.iter().map(show).next_back().unwrap();
    assert!(last.starts_with("failed too_long"), "{last}");
}

#[test]
fn tools_that_change_nothing_run_beside_each_other_and_others_alone() {
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(tool("a", "read_a")),
            In::Piece(tool("b", "read_b")),
            In::Piece(tool("c", "write")),
            In::Piece(tool("a", "read_d")),
            In::Piece(AnswerPiece::End(ModelStop::ToolUse)),
            In::Ran(1, ran("B")),
            In::Ran(0, ran("A")),
            In::Ran(0, ran("twice")),
            In::Ran(2, ran("")),
            In::Ran(3, ran("D")),
            In::Piece(text("Done.")),
            In::Piece(AnswerPiece::End(ModelStop::EndTurn)),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a read_a
            tool_use b read_b
            tool_use c write
            tool_use a-2 read_d
            run 0 a | run 1 b
            tool_result b false
            tool_result a false | run 2 c

            tool_result c false | run 3 a-2
            tool_result a-2 false | keep assistant [use a, use b, use c, use a-2], user [a gave "A", b gave "B", c gave "(nothing)", a-2 gave "D"] | ask after 0ns
            token "Done."
            keep assistant ["Done."] | done end_turn
        "#]],
    );
}

#[test]
fn the_rounds_are_bounded() {
    check(
        &mut turn(1),
        vec![
            In::Begin,
            In::Piece(tool("a", "read")),
            In::Piece(AnswerPiece::End(ModelStop::ToolUse)),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a read
            tool_result a true | keep assistant [use a], user [a gave "not run: the turn has had all of its rounds"] | done max_turn_requests
        "#]],
    );
}

#[test]
fn abandoned_it_keeps_what_was_seen_and_no_message_without_an_answer() {
    check(
        &mut turn(9),
        vec![In::Abandon, In::Abandon],
        &expect![[r"
            drop | failed budget: spent

        "]],
    );
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(tool("a", "read")),
            In::Piece(AnswerPiece::End(ModelStop::ToolUse)),
            In::Ran(0, ran("A")),
            In::Abandon,
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a read
            run 0 a
            tool_result a false | keep assistant [use a], user [a gave "A"] | ask after 0ns
            drop | failed budget: spent
        "#]],
    );
    check(
        &mut turn(9),
        vec![In::Begin, In::Piece(text("Half")), In::Abandon],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            token "Half"
            drop | keep assistant ["Half", Interrupted] | failed budget: spent
        "#]],
    );
}

#[test]
fn cancelled_at_every_point() {
    check(
        &mut turn(9),
        vec![In::Begin, In::Cancel, In::Cancel],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            drop | keep assistant ["[The user stopped this answer.]"] | done cancelled

        "#]],
    );
    check(
        &mut turn(9),
        vec![In::Begin, In::Piece(text("Half")), In::Piece(tool("a", "write")), In::Cancel],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            token "Half"
            tool_use a write
            drop | stop [] | tool_result a true | keep assistant ["Half", use a], user [a gave "stopped by the user"] | done cancelled
        "#]],
    );
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(tool("a", "read")),
            In::Piece(tool("b", "write")),
            In::Piece(AnswerPiece::End(ModelStop::ToolUse)),
            In::Cancel,
            In::Ran(0, ran("late")),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a read
            tool_use b write
            run 0 a
            drop | stop [0] | tool_result a true | tool_result b true | keep assistant [use a, use b], user [a gave "stopped by the user", b gave "stopped by the user"] | done cancelled

        "#]],
    );
}

#[test]
fn a_person_who_denies_may_end_the_turn() {
    let denied = FinishedCall { interrupt: true, ..ran("no") };
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(tool("a", "write")),
            In::Piece(tool("b", "write")),
            In::Piece(AnswerPiece::End(ModelStop::ToolUse)),
            In::Ran(0, denied),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a write
            tool_use b write
            run 0 a
            tool_result a false | tool_result b true | keep assistant [use a, use b], user [a gave "no", b gave "not run: the user stopped the turn"] | done cancelled
        "#]],
    );
}

#[test]
fn arguments_that_are_no_object_are_told_to_the_model() {
    let broken = AnswerPiece::ToolUse {
        id: "a".to_owned(),
        name: "write".to_owned(),
        input: raw("{}"),
        fault: Some("its arguments are cut off".to_owned()),
    };
    check(
        &mut turn(9),
        vec![In::Begin, In::Piece(broken), In::Piece(AnswerPiece::End(ModelStop::MaxTokens))],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a write
            tool_result a true | keep assistant [use a], user [a gave "not run: its arguments are cut off. Call it again with a JSON object."] | ask after 0ns
        "#]],
    );
}

#[test]
fn what_tools_give_front_ends_is_kept_beside_what_the_model_is_told() {
    let mut turn = turn(9);
    let mut todo = Vec::new();
    turn.start_turn(&mut todo);
    for id in ["good", "bad", "large"] {
        turn.handle_piece(tool(id, "look"), &mut todo);
    }
    turn.handle_piece(AnswerPiece::End(ModelStop::ToolUse), &mut todo);
    let outcomes = [
        CallOutcome::done(&serde_json::json!({ "lines": 2 }), "two lines"),
        CallOutcome::failed("gone"),
        CallOutcome::done(&"x".repeat(1024 * 1024), "much"),
    ];
    for (index, outcome) in outcomes.into_iter().enumerate() {
        turn.handle_call_end(index, FinishedCall { outcome, interrupt: false }, &mut todo);
    }
    let kept = todo.iter().find_map(|step| match step {
        TurnAction::Keep { results, is_part: false, .. } => Some(results),
        _ => None,
    });
    let kept: Vec<(&str, &str)> =
        kept.unwrap().iter().map(|one| (one.tool_use_id.as_str(), one.result.get())).collect();
    // A failure says no more than its text, and what is too large stays out of the file.
    assert_eq!(kept, [("good", r#"{"lines":2}"#)]);
}
