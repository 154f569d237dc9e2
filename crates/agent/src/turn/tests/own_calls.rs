//! Tools that the engine runs itself.

use super::*;

fn own(id: &str) -> In {
    let (id, name) = (id.to_owned(), "Bash".to_owned());
    In::Piece(AnswerPiece::OwnCall { id, name, input: raw("{}") })
}

fn gave(id: &str, text: &str) -> In {
    let outcome = CallOutcome::done(&(), text);
    In::Piece(AnswerPiece::OwnResult { id: id.to_owned(), outcome })
}

fn end() -> In {
    In::Piece(AnswerPiece::End(ModelStop::EndTurn))
}

#[test]
fn each_round_is_kept_while_the_answer_goes_on_and_the_model_is_asked_once() {
    check(
        &mut turn(1),
        vec![
            In::Begin,
            In::Piece(text("Look")),
            own("a"),
            own("b"),
            gave("b", "two"),
            gave("a", "one"),
            gave("a", "again"),
            In::Piece(text("Done")),
            own("c"),
            gave("c", "three"),
            end(),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            token "Look"
            tool_use a Bash
            tool_use b Bash
            tool_result b false
            tool_result a false

            keep assistant ["Look", use a, use b], user [a gave "one", b gave "two"] | token "Done"
            tool_use c Bash
            tool_result c false
            keep assistant ["Done", use c], user [c gave "three"] | done end_turn
        "#]],
    );
}

/// Front ends tell calls apart by their ids, and an engine may use one again.
#[test]
fn a_result_finds_its_call_though_the_call_got_another_id() {
    check(
        &mut turn(1),
        vec![
            In::Begin,
            own("a"),
            gave("a", "one"),
            In::Piece(text("More")),
            own("a"),
            gave("a", "two"),
            end(),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a Bash
            tool_result a false
            keep assistant [use a], user [a gave "one"] | token "More"
            tool_use a-2 Bash
            tool_result a-2 false
            keep assistant ["More", use a-2], user [a-2 gave "two"] | done end_turn
        "#]],
    );
}

#[test]
fn a_call_without_a_result_gets_one_when_the_turn_ends() {
    check(
        &mut turn(9),
        vec![In::Begin, own("a"), end()],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a Bash
            tool_result a true | keep assistant [use a], user [a gave "it has no result: the answer ended before"] | done end_turn
        "#]],
    );
    check(
        &mut turn(9),
        vec![In::Begin, own("a"), In::Cancel],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a Bash
            drop | stop [0] | tool_result a true | keep assistant [use a], user [a gave "stopped by the user"] | done cancelled
        "#]],
    );
}

#[test]
fn an_engine_that_has_acted_is_not_asked_again() {
    check(
        &mut turn(9),
        vec![
            In::Begin,
            own("a"),
            gave("a", "one"),
            In::Piece(AnswerPiece::Thinking("hm".to_owned())),
            In::Failed(trouble(EngineErrorKind::Network)),
        ],
        &expect![[r#"
            keep user ["hello"] | ask after 0ns
            tool_use a Bash
            tool_result a false
            keep assistant [use a], user [a gave "one"] | thinking "hm"
            keep assistant [thought "hm" "", Interrupted] | failed network: Network. Send the message again
        "#]],
    );
}
