//! Pieces out of events.

use expect_test::{Expect, expect};

use super::super::WORDS;
use super::*;
use crate::engine::EngineErrorKind;
use crate::engine::model_api::ApiKey;
use crate::engine::model_api::tool_input::{DEEPEST, LONGEST_PART};

fn stream() -> PieceDecoder {
    let key = Some(ApiKey::new("sk-secret-of-the-test").unwrap());
    PieceDecoder::new(
        Arc::new(ErrorComposer::new("https://api.test".to_owned(), key, &WORDS)),
        false,
    )
}

fn shown(piece: &AnswerPiece) -> String {
    match piece {
        AnswerPiece::Text(text) => format!("text {text:?}"),
        AnswerPiece::Thinking(text) => format!("thinking {text:?}"),
        AnswerPiece::Signature(text) => format!("signature {text:?}"),
        AnswerPiece::Redacted(text) => format!("redacted {text:?}"),
        AnswerPiece::ToolInput { id, name, text } => format!("input of {id} {name} {text:?}"),
        AnswerPiece::ToolUse { id, name, input, fault: None } => {
            format!("tool {id} {name} {input}")
        }
        AnswerPiece::ToolUse { id, name, input, fault: Some(fault) } => {
            format!("tool {id} {name} {input} fault: {fault}")
        }
        AnswerPiece::Usage(usage) => format!(
            "usage {} {} {} {}",
            usage.input, usage.output, usage.cache_read, usage.cache_write
        ),
        AnswerPiece::End(stop) => format!("end {stop:?}"),
        piece => format!("{piece:?}"),
    }
}

/// Plays events, each a line of JSON; their names are their types.
fn play(lines: &str) -> Result<Vec<AnswerPiece>, EngineError> {
    let (mut stream, mut pieces) = (stream(), Vec::new());
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let kind = serde_json::from_str::<TaggedEvent<'_>>(line).map(|kind| kind.kind.into_owned());
        stream.decode_event(kind.unwrap_or_default().as_bytes(), line, &mut pieces)?;
    }
    Ok(pieces)
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
fn check(lines: &str, expected: Expect) {
    let text = match play(lines) {
        Ok(pieces) => pieces.iter().map(shown).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("{:?}: {error}", error.kind),
    };
    expected.assert_eq(&text);
}

#[test]
fn text_and_what_it_cost() {
    check(
        r#"
        {"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
        {"type":"ping"}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\n\"\ud83e\udd80\""}}
        {"type":"content_block_stop","index":0}
        {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":25}}
        {"type":"message_stop"}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"after the end"}}
        "#,
        expect![[r#"
            usage 10 1 4 3
            text "Grüße"
            text "\n\"🦀\""
            usage 10 25 4 3
            end EndTurn"#]],
    );
}

#[test]
fn thoughts_shown_hidden_and_unreadable() {
    check(
        r#"
        {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
        {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}
        {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"def"}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}
        {"type":"content_block_stop","index":1}
        {"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":"","signature":"whole"}}
        {"type":"content_block_stop","index":2}
        {"type":"message_stop"}
        "#,
        expect![[r#"
            thinking "Let me "
            thinking "see"
            signature "abcdef"
            redacted "xyz"
            signature "whole"
            end EndTurn"#]],
    );
}

#[test]
fn tools_in_pieces_at_once_and_without_arguments() {
    check(
        r#"
        {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": "}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"ü\",\n\"b\":1.50}"}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t2","name":"look","input":{"a":2}}}
        {"type":"content_block_stop","index":1}
        {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t3","name":"look","input":{}}}
        {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}
        {"type":"content_block_stop","index":2}
        {"type":"message_delta","delta":{"stop_reason":"tool_use"}}
        {"type":"message_stop"}
        "#,
        expect![[r#"
            tool t1 look {"a": "ü", "b":1.50}
            tool t2 look {"a":2}
            tool t3 look {}
            end ToolUse"#]],
    );
}

#[test]
fn arguments_that_are_no_object() {
    for (input, fault) in [
        (r#"{\"a\":"#, "the arguments are not JSON: EOF while parsing a value at line 1 column 5"),
        ("[1]", "the arguments are not a JSON object"),
        (
            r#"{\"a\":\"x\ny\"}"#,
            "the arguments are not JSON: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 7",
        ),
        ("{} {}", "the arguments are not JSON: trailing characters at line 1 column 4"),
    ] {
        let lines = format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"t1","name":"look","input":{{}}}}}}
            {{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{input}"}}}}
            {{"type":"content_block_stop","index":0}}"#
        );
        let pieces = play(&lines).unwrap();
        let texts: Vec<String> = pieces.iter().map(shown).collect();
        assert_eq!(texts, [format!("tool t1 look {{}} fault: {fault}")], "{input}");
    }
}

#[test]
fn arguments_that_are_nested_too_deep() {
    let nested = |levels: usize| {
        let inner = levels - 1;
        format!(r#"{{"a":"[[\"{{","b":{}{}}}"#, "[".repeat(inner), "]".repeat(inner))
    };
    let flat = format!("{{\"a\":[{}]}}", vec!["[{}]"; 300].join(","));
    let fault = format!("the arguments are nested more than {DEEPEST} levels deep");
    for (input, is_taken) in
        [(nested(DEEPEST), true), (flat, true), (nested(DEEPEST + 1), false), (nested(5000), false)]
    {
        let at_once = OpenBlock::Tool {
            id: "t1".to_owned(),
            name: "look".to_owned(),
            first: Some(RawValue::from_string(input.clone()).unwrap()),
            input: String::new(),
        };
        let in_pieces = OpenBlock::Tool {
            id: "t1".to_owned(),
            name: "look".to_owned(),
            first: None,
            input: input.clone(),
        };
        let expected = if is_taken {
            format!("tool t1 look {input}")
        } else {
            format!("tool t1 look {{}} fault: {fault}")
        };
        for block in [at_once, in_pieces] {
            assert_eq!(shown(&block.close().unwrap()), expected);
        }
    }
}

#[test]
fn what_is_not_known_is_passed_over() {
    check(
        r#"
        {"type":"message_start","message":{"usage":"many"}}
        {"type":"new_event","x":[1]}
        {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":7,"text":{},"input":[]}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}
        {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"not ours"}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"begun","citations":null}}
        {"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"a":1}}}
        {"type":"content_block_delta","index":1,"delta":{"type":"new_delta","text":{"odd":1}}}
        {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" said","new":[{}]},"new":1}
        {"type":"content_block_stop","index":1}
        {"type":"content_block_stop","index":9}
        {"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":2,"new":{}}}
        {"type":"message_stop","new":1}
        "#,
        expect![[r#"
            text "begun"
            text " said"
            usage 0 2 0 0
            end EndTurn"#]],
    );
}

#[test]
fn a_block_that_never_ended_ends_with_the_message() {
    check(
        r#"
        {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}
        {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}
        {"type":"message_stop"}
        "#,
        expect![[r"
            tool t1 look {}
            end ToolUse"]],
    );
}

#[test]
fn names_may_be_missing() {
    let (mut stream, mut pieces) = (stream(), Vec::new());
    for (name, data) in [
        ("", r#"{"type":"ping"}"#),
        (
            "message",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#,
        ),
        ("", r#"{"no":"type"}"#),
        ("", r#"{"type":"message_stop"}"#),
    ] {
        stream.decode_event(name.as_bytes(), data, &mut pieces).unwrap();
    }
    let texts: Vec<String> = pieces.iter().map(shown).collect();
    assert_eq!(texts, ["text \"x\"", "end EndTurn"]);
    assert!(stream.is_whole());
}

#[test]
fn reasons_to_stop() {
    for (reason, expected) in [
        ("end_turn", ModelStop::EndTurn),
        ("stop_sequence", ModelStop::EndTurn),
        ("tool_use", ModelStop::ToolUse),
        ("max_tokens", ModelStop::MaxTokens),
        ("refusal", ModelStop::Refusal),
        ("model_context_window_exceeded", ModelStop::ContextWindow),
        ("pause_turn", ModelStop::Other("pause_turn".to_owned())),
    ] {
        let delta = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        let pieces = play(&format!("{delta}\n{{\"type\":\"message_stop\"}}")).unwrap();
        assert!(matches!(&pieces[..], [AnswerPiece::End(stop)] if *stop == expected), "{reason}");
    }
}

#[test]
fn errors_in_the_stream() {
    for (kind, expected) in [
        ("overloaded_error", EngineErrorKind::Overloaded),
        ("rate_limit_error", EngineErrorKind::RateLimit),
        ("api_error", EngineErrorKind::Server),
        ("timeout_error", EngineErrorKind::Server),
        ("authentication_error", EngineErrorKind::Auth),
        ("permission_error", EngineErrorKind::Auth),
        ("invalid_request_error", EngineErrorKind::Refused),
        ("not_found_error", EngineErrorKind::Refused),
        ("request_too_large", EngineErrorKind::TooLong),
        ("billing_error", EngineErrorKind::Refused),
        ("new_error", EngineErrorKind::Server),
    ] {
        let line = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"Oh no"}}}}"#);
        let error = play(&line).unwrap_err();
        assert_eq!(error.kind, expected, "{kind}");
        assert!(error.text.contains(&format!("({kind}): Oh no")), "{error}");
    }
}

#[test]
fn nonsense() {
    let start = r#"{"type":"content_block_start","index":0,"content_block":"#;
    for lines in [
        "nonsense",
        r#"{"type":"content_block_delta"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":5}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}"#,
        r#"{"type":"content_block_start","index":0}"#,
        r#"{"type":"message_start"}"#,
        r#"{"type":"error","error":5}"#,
        &format!(r#"{start}{{"type":"tool_use","id":"","name":"look","input":{{}}}}}}"#),
        &format!(r#"{start}{{"type":"tool_use","id":"t1","name":"","input":{{}}}}}}"#),
        &format!("{start}{{\"type\":\"text\",\"text\":\"\"}}}}\n").repeat(65),
    ] {
        let (mut stream, mut pieces, mut found) = (stream(), Vec::new(), None);
        for line in lines.lines() {
            // A line that is no JSON has its name on a line of its own.
            let name = line.split('"').nth(3).unwrap_or("message_start");
            found = stream.decode_event(name.as_bytes(), line, &mut pieces).err().or(found);
        }
        assert_eq!(found.map(|error| error.kind), Some(EngineErrorKind::Nonsense), "{lines}");
    }
}

#[test]
fn the_input_of_a_tool_has_a_limit() {
    let (mut stream, mut pieces) = (stream(), Vec::new());
    let start = r#"{"index":0,"content_block":{"type":"tool_use","id":"t1","name":"look"}}"#;
    stream.decode_event(b"content_block_start", start, &mut pieces).unwrap();
    let part = "1".repeat(LONGEST_PART / 4);
    let delta =
        format!(r#"{{"index":0,"delta":{{"type":"input_json_delta","partial_json":"{part}"}}}}"#);
    for _ in 0..4 {
        stream.decode_event(b"content_block_delta", &delta, &mut pieces).unwrap();
    }
    let error = stream.decode_event(b"content_block_delta", &delta, &mut pieces).unwrap_err();
    assert_eq!(error.kind, EngineErrorKind::Nonsense);
}

/// What keeps an answer alive.
#[test]
fn only_events_that_carry_something_count() {
    let mut stream = stream();
    let mut carries = |line: &str| {
        let before = stream.events();
        let kind = serde_json::from_str::<TaggedEvent<'_>>(line).unwrap().kind.into_owned();
        stream.decode_event(kind.as_bytes(), line, &mut Vec::new()).unwrap();
        stream.events() > before
    };
    for line in [
        r#"{"type":"ping"}"#,
        r#"{"type":"heartbeat"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    ] {
        assert!(!carries(line), "{line}");
    }
    for line in [
        r#"{"type":"message_start","message":{}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{}}"#,
        r#"{"type":"message_stop"}"#,
    ] {
        assert!(carries(line), "{line}");
    }
}
