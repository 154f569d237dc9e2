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
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            notice retry: Overloaded (trying again in 0.5 s) | ask after 500ms
            notice retry: RateLimit (trying again in 8.1 s) | ask after 8.080078125s
            notice retry: Server (trying again in 2.1 s) | ask after 2.1171875s
            notice retry: Server (trying again in 4.9 s) | ask after 4.8515625s
            notice retry: Server (trying again in 8.9 s) | ask after 8.9375s
        "#]],
    );
}

#[test]
fn trouble_after_the_first_token_keeps_the_beginning_and_goes_on_from_it() {
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(text("Half")),
            In::Failed(trouble(EngineErrorKind::Overloaded)),
            In::Piece(text(" an answer")),
            In::Piece(AnswerPiece::End(ModelStop::EndTurn)),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            token "Half"
            keep assistant ["Half", Interrupted] | notice retry: Overloaded (trying again in 0.5 s) | ask after 500ms
            token " an answer"
            keep assistant [" an answer"] | done end_turn
        "#]],
    );
}

#[test]
fn calls_of_an_answer_that_was_cut_off_do_not_run_and_the_model_is_told() {
    check(
        &mut turn(9),
        vec![
            In::Begin,
            In::Piece(text("I look.")),
            In::Piece(tool("a", "read")),
            In::Silent,
            In::Piece(text("Well.")),
            In::Piece(AnswerPiece::End(ModelStop::EndTurn)),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            token "I look."
            tool_use a read
            tool_result a true | keep assistant ["I look.", use a], user [a gave "not run: the answer was cut off"] | notice retry: the model's answer was cut off (trying again in 0.5 s) | ask after 500ms
            token "Well."
            keep assistant ["Well."] | done end_turn
        "#]],
    );
}

#[test]
fn waits_grow_up_to_half_a_minute_and_end_with_the_patience() {
    let (mut turn, mut waits) = (turn(9), Vec::new());
    turn.bounds.patience = Duration::from_mins(10);
    turn.start_turn(&mut Vec::new());
    loop {
        let mut todo = Vec::new();
        turn.handle_error(trouble(EngineErrorKind::Network), &mut todo);
        match todo.last() {
            Some(TurnAction::Ask(wait)) => waits.push(*wait),
            _ => break,
        }
    }
    let sum: Duration = waits.iter().sum();
    let most = Duration::from_mins(10);
    assert!(sum <= most && sum + Duration::from_secs(38) > most, "{waits:?}");
    assert!(waits.iter().all(|wait| *wait < Duration::from_secs(38)), "{waits:?}");
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
        turn.start_turn(&mut todo);
        turn.handle_error(error, &mut todo);
        assert!(
            matches!(todo.as_slice(), [_, TurnAction::Ask(_), TurnAction::End(Err(_))]),
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
            keep user ["hello"] | ask after 0ns
            shorten or fail too_long
            tool_use a read
            run 0 a
            tool_result a false | keep assistant [use a], user [a gave "A"] | ask after 0ns
            shorten or fail too_long
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
            keep user ["hello"] | ask after 0ns
            thinking "hm"
            keep assistant [thought "hm" "", Interrupted] | failed too_long: TooLong. Send less, replace the last message with a shorter one by `edit_last`, remove the messages by `clear_history`, or begin a new conversation
        "#]],
    );
}

#[test]
fn what_is_shortened_can_be_stopped_and_abandoned() {
    check(
        &mut turn(9),
        vec![In::Begin, In::Failed(trouble(EngineErrorKind::TooLong)), In::Abandon],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            shorten or fail too_long
            drop | failed budget: spent
        "#]],
    );
    check(
        &mut turn(9),
        vec![In::Begin, In::Failed(trouble(EngineErrorKind::TooLong)), In::Cancel],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            shorten or fail too_long
            drop | keep assistant ["[The user stopped this answer.]"] | done cancelled
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
        turn.start_turn(&mut todo);
        if is_begun {
            turn.handle_piece(tool("a", "read"), &mut todo);
            turn.handle_piece(AnswerPiece::End(ModelStop::ToolUse), &mut todo);
            turn.handle_call_end(0, ran("A"), &mut todo);
        }
        turn.handle_error(error, &mut todo);
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
            keep user ["hello"] | ask after 0ns
            token "Half"
            keep assistant ["Half", Interrupted] | notice retry: the model's answer was cut off (trying again in 0.5 s) | ask after 500ms
        "#]],
    );
}

#[test]
fn an_answer_without_end_is_given_up() {
    let (mut turn, mut todo) = (turn(9), Vec::new());
    turn.start_turn(&mut todo);
    turn.handle_piece(tool("a", "write"), &mut todo);
    let megabyte = "x".repeat(1024 * 1024);
    for _ in 0..40 {
        turn.handle_piece(text(&megabyte), &mut todo);
    }
    let said =
        todo.iter().filter(|todo| matches!(todo, TurnAction::Tell(SessionEvent::Token(_)))).count();
    assert_eq!(said, 31, "what fits was told");
    let end: Vec<String> = todo[todo.len() - 3..].iter().map(show).collect();
    assert_eq!(end[..2], ["drop", "tool_result a true"]);
    assert!(end[2].starts_with("failed too_long"), "{end:?}");
}
