//! What a turn does about errors of the engine, and about answers that are cut or too long.

use super::*;

#[test]
fn trouble_before_the_first_token_is_tried_again() {
    let limited = EngineError {
        retry_after: Some(Duration::from_secs(7)),
        ..trouble(EngineErrorKind::RateLimit)
    };
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Failed(trouble(EngineErrorKind::Overloaded)),
            In::Failed(limited),
            In::Failed(trouble(EngineErrorKind::Server)),
            In::Failed(trouble(EngineErrorKind::Server)),
            In::Failed(trouble(EngineErrorKind::Server)),
        ],
        &expect![[r"
            ask after 0ns
            notice retry: Overloaded (trying again in 0.5 s) | ask after 500ms
            notice retry: RateLimit (trying again in 7.0 s) | ask after 7s
            notice retry: Server (trying again in 2.0 s) | ask after 2s
            notice retry: Server (trying again in 4.0 s) | ask after 4s
            failed server: Server
        "]],
    );
}

#[test]
fn trouble_after_the_first_token_ends_it_and_the_beginning_is_kept() {
    check(
        &mut turn(9),
        vec![In::Begin, In::Piece(text("Half")), In::Failed(trouble(EngineErrorKind::Overloaded))],
        &expect![[r#"
            ask after 0ns
            token "Half"
            keep user ["hello"], assistant ["Half"] | failed overloaded: Overloaded
        "#]],
    );
}

#[test]
fn what_will_not_pass_is_not_tried_again() {
    let later = EngineError {
        retry_after: Some(Duration::from_secs(61)),
        ..trouble(EngineErrorKind::RateLimit)
    };
    for error in [trouble(EngineErrorKind::Auth), trouble(EngineErrorKind::Refused), later] {
        let mut todo = Vec::new();
        let mut turn = turn(9);
        turn.begin(&mut todo);
        turn.failed(error, &mut todo);
        assert!(
            matches!(todo.as_slice(), [TurnAction::Ask(_), TurnAction::End(Err(_))]),
            "{todo:?}"
        );
    }
}

#[test]
fn what_is_too_long_is_shortened_once() {
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Failed(trouble(EngineErrorKind::TooLong)),
            In::Piece(tool("a", "read")),
            In::Piece(AnswerPiece::End(ModelStop::ToolUse)),
            In::Ran(0, ran("A")),
            In::Failed(trouble(EngineErrorKind::TooLong)),
        ],
        &expect![[r#"
            ask after 0ns
            shorten or fail too_long
            tool_use a read
            run 0 a
            tool_result a false | keep user ["hello"], assistant [use a], user [a gave "A"] | ask after 0ns
            failed too_long: TooLong. Send less, replace the last message with a shorter one by `edit_last`, remove the messages by `clear_history`, or begin a new conversation
        "#]],
    );
    // What was seen is not asked again.
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(AnswerPiece::Thinking("hm".to_owned())),
            In::Failed(trouble(EngineErrorKind::TooLong)),
        ],
        &expect![[r#"
            ask after 0ns
            thinking "hm"
            failed too_long: TooLong. Send less, replace the last message with a shorter one by `edit_last`, remove the messages by `clear_history`, or begin a new conversation
        "#]],
    );
}

#[test]
fn what_is_shortened_can_be_stopped_and_abandoned() {
    check(
        &mut turn(9),
        vec![In::Begin, In::Failed(trouble(EngineErrorKind::TooLong)), In::Abandon],
        &expect![[r"
            ask after 0ns
            shorten or fail too_long
            drop | failed budget: spent
        "]],
    );
    check(
        &mut turn(9),
        vec![In::Begin, In::Failed(trouble(EngineErrorKind::TooLong)), In::Cancel],
        &expect![[r#"
            ask after 0ns
            shorten or fail too_long
            drop | keep user ["hello"], assistant ["[The user stopped this answer.]"] | done cancelled
        "#]],
    );
}

#[test]
fn what_sticks_to_a_conversation_is_told() {
    let refused =
        |status| EngineError { status: Some(status), ..trouble(EngineErrorKind::Refused) };
    for (error, is_begun, is_told) in [
        (refused(400), true, true),
        (refused(422), true, true),
        (refused(400), false, false),
        (refused(404), true, false),
        (trouble(EngineErrorKind::Auth), true, false),
    ] {
        let (mut turn, mut todo) = (turn(9), Vec::new());
        turn.begin(&mut todo);
        if is_begun {
            turn.piece(tool("a", "read"), &mut todo);
            turn.piece(AnswerPiece::End(ModelStop::ToolUse), &mut todo);
            turn.ran(0, ran("A"), &mut todo);
        }
        turn.failed(error, &mut todo);
        let Some(TurnAction::End(Err(RequestFailure { text, .. }))) = todo.last() else {
            panic!("{todo:?}")
        };
        for word in ["may refuse this conversation", "`edit_last`", "`regenerate`", "a new conv"] {
            assert_eq!(text.contains(word), is_told, "{text}");
        }
    }
}

#[test]
fn an_answer_without_its_end_is_cut() {
    check(
        &mut turn(9),
        vec![In::Begin, In::Piece(text("Half")), In::Silent],
        &expect![[r#"
            ask after 0ns
            token "Half"
            keep user ["hello"], assistant ["Half"] | failed cut: the model's answer was cut off: send the message again
        "#]],
    );
}

#[test]
fn an_answer_without_end_is_given_up() {
    let (mut turn, mut todo) = (turn(9), Vec::new());
    turn.begin(&mut todo);
    turn.piece(tool("a", "write"), &mut todo);
    let megabyte = "x".repeat(1024 * 1024);
    for _ in 0..40 {
        turn.piece(text(&megabyte), &mut todo);
    }
    let said =
        todo.iter().filter(|todo| matches!(todo, TurnAction::Tell(SessionEvent::Token(_)))).count();
    assert_eq!(said, 31, "what fits was told");
    let end: Vec<String> = todo[todo.len() - 3..].iter().map(show).collect();
    assert_eq!(end[..2], ["drop", "tool_result a true"]);
    assert!(end[2].starts_with("failed too_long"), "{end:?}");
}
