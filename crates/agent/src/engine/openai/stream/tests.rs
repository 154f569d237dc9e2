//! Pieces out of the chunks of servers that differ.

use expect_test::{Expect, expect};

use super::super::WORDS;
use super::*;
use crate::engine::EngineErrorKind;

fn decoder() -> ChunkDecoder {
    ChunkDecoder::new(Arc::new(ErrorComposer::new("http://far".to_owned(), None, &WORDS)), 7, false)
}

fn shown(piece: &AnswerPiece) -> String {
    match piece {
        AnswerPiece::ToolUse { id, name, input, fault } => {
            let id = if id.len() == 37 && id.starts_with("call_") { "call_NEW" } else { id };
            let fault = fault.as_deref().map(|fault| format!(" ({fault})")).unwrap_or_default();
            format!("use {id} {name} {input}{fault}")
        }
        AnswerPiece::Usage(TokenUsage { input, output, cache_read, .. }) => {
            format!("usage {input} {output} {cache_read}")
        }
        piece => format!("{piece:?}"),
    }
}

/// Reads these events to the end of the stream.
fn read(events: &[&str]) -> String {
    let (mut decoder, mut pieces, mut lines) = (decoder(), Vec::new(), Vec::new());
    let mut failure = None;
    for event in events {
        if let Err(error) = decoder.decode_event(b"", event, &mut pieces) {
            failure = Some(error);
            break;
        }
    }
    let end = match failure {
        Some(error) => Err(error),
        None => decoder.finish(&mut pieces),
    };
    lines.extend(pieces.iter().map(shown));
    match end {
        Ok(true) => {}
        Ok(false) => lines.push("cut".to_owned()),
        Err(error) => lines.push(format!("{}: {error}", error.kind.name())),
    }
    lines.join("\n") + "\n"
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
fn check(events: &[&str], expected: Expect) {
    expected.assert_eq(&read(events));
}

const DONE: &str = "[DONE]";
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn an_answer_as_the_cloud_sends_it() {
    check(
        &[
            r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}"#,
            STOP,
            r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}"#,
            DONE,
            r#"{"choices":[{"delta":{"content":"late"}}]}"#,
        ],
        expect![[r#"
            Text("Hel")
            Text("lo")
            usage 6 2 4
            End(EndTurn)
        "#]],
    );
}

#[test]
fn tool_calls_in_pieces_at_once_without_index_and_without_id() {
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    check(
        &[
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"add","arguments":""}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","function":{"name":"sub","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
            end,
            DONE,
        ],
        expect![[r#"
            use call_1 add {"a":1}
            use call_2 sub {}
            usage 7 4 0
            End(ToolUse)
        "#]],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"add","arguments":"{\"a\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"add","arguments":{"a":2}}},{"id":"functions.sub:1","function":{"name":"sub","arguments":null}}]},"finish_reason":"stop"}]}"#,
            DONE,
        ],
        expect![[r#"
            use call_NEW add {"a":1}
            use call_NEW add {"a":2}
            use call_NEW sub {}
            usage 7 6 0
            End(EndTurn)
        "#]],
    );
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"add","arguments":"{}"}}]}}]}"#,
            DONE,
        ],
        expect![[r"
            use a add {}
            use b add {}
            usage 7 3 0
            End(ToolUse)
        "]],
    );
}

#[test]
fn thoughts_have_two_names_and_arguments_may_be_wrong() {
    check(
        &[
            r#"{"choices":[{"delta":{"content":null,"reasoning_content":"Hm"}}]}"#,
            r#"{"choices":[{"delta":{"content":"","reasoning":"so"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"add","arguments":"{oops"}}]}}]}"#,
            DONE,
        ],
        expect![[r#"
            Thinking("Hm")
            Thinking("so")
            use a add {} (the arguments are not JSON: key must be a string at line 1 column 2)
            usage 7 3 0
            End(ToolUse)
        "#]],
    );
}

#[test]
fn an_answer_ends_with_a_reason_or_the_mark_or_is_cut() {
    let said = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    assert_eq!(read(&[said]), "Text(\"a\")\ncut\n");
    assert_eq!(read(&[said, STOP]), "Text(\"a\")\nusage 7 1 0\nEnd(EndTurn)\n");
    assert_eq!(read(&[said, DONE]), "Text(\"a\")\nusage 7 1 0\nEnd(EndTurn)\n");
    assert_eq!(read(&[]), "cut\n");
    for (reason, end) in [
        ("length", "MaxTokens"),
        ("content_filter", "Refusal"),
        ("eos", "EndTurn"),
        ("weather", "Other(\"weather\")"),
    ] {
        let chunk = STOP.replace("stop", reason);
        assert!(read(&[&chunk, DONE]).ends_with(&format!("End({end})\n")), "{reason}");
    }
    assert!(read(&[&STOP.replace("\"stop\"", "\"\"")]).ends_with("cut\n"));
}

#[test]
fn forms_that_only_some_servers_use_are_understood() {
    check(
        &[
            r#"{"choices":null,"usage":null}"#,
            r#"{"choices":[{"index":null,"delta":{"content":[{"type":"text","text":"Hel"},{"type":"thinking"},{"text":"lo"}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"!"},"message":{"content":"Hello!"},"finish_reason":"stop"}]}"#,
            DONE,
        ],
        expect![[r#"
            Text("Hello")
            Text("!")
            usage 7 2 0
            End(EndTurn)
        "#]],
    );
    assert!(read(&[r#"{"choices":[{"delta":{"content":5}}]}"#]).starts_with("nonsense: "));
    assert!(read(&[r#"{"choices":[5]}"#]).starts_with("nonsense: "));
}

#[test]
fn errors_in_the_stream_end_it() {
    check(
        &[
            r#"{"choices":[{"delta":{"content":"a"}}]}"#,
            r#"{"error":{"message":"out of memory","type":"server_error","code":500}}"#,
        ],
        expect![[r#"
            Text("a")
            server: http://far broke off the answer (server_error): out of memory. The cause is on its side
        "#]],
    );
    let mut pieces = Vec::new();
    let error =
        decoder().decode_event(b"error", r#"{"error":"too slow"}"#, &mut pieces).unwrap_err();
    assert_eq!(error.kind, EngineErrorKind::Server);
    let error = decoder().decode_event(b"", "{", &mut pieces).unwrap_err();
    assert!(error.text.contains("Check that OPENAI_BASE_URL is the address of a Chat"), "{error}");
    let nameless = r#"{"choices":[{"delta":{"tool_calls":[{"id":"a"}]}}]}"#;
    assert!(read(&[nameless, DONE]).contains("a tool call without a name"));
}

#[test]
fn the_input_of_a_tool_is_sent_in_pieces_too_if_it_is_wanted() {
    let errors = Arc::new(ErrorComposer::new("http://far".to_owned(), None, &WORDS));
    let (mut decoder, mut pieces) = (ChunkDecoder::new(errors, 7, true), Vec::new());
    for event in [
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":"{\"a\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
        DONE,
    ] {
        decoder.decode_event(b"", event, &mut pieces).unwrap();
    }
    let inputs: Vec<_> = pieces
        .iter()
        .filter_map(|piece| match piece {
            AnswerPiece::ToolInput { id, name, text } => Some(format!("{id} {name} {text}")),
            _ => None,
        })
        .collect();
    assert_eq!(inputs, ["a add {\"a\"", "a add :1}"]);
}

#[test]
fn thoughts_in_the_text_are_thoughts() {
    check(
        &[
            r#"{"choices":[{"index":0,"delta":{"content":"<thi"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"nk>Hm.</think>\n\nHi"}}]}"#,
            STOP,
            DONE,
        ],
        expect![[r#"
            Thinking("Hm.")
            Text("Hi")
            usage 7 2 0
            End(EndTurn)
        "#]],
    );
    check(
        &[r#"{"choices":[{"index":0,"delta":{"content":"<th"}}]}"#, STOP],
        expect![[r#"
            Text("<th")
            usage 7 1 0
            End(EndTurn)
        "#]],
    );
}
