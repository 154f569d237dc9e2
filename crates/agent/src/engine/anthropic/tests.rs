//! The engine against the strict fake of the Messages API, and against servers that are none.

mod failures;
mod far;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use callgate_testkit::messages::{Messages, Turn};
use callgate_wire::session::TokenUsage;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;
use crate::engine::{AnswerPiece, EngineError, ModelStop};
use crate::message::{Block, ChatMessage, MediaSource};
use crate::tool::ToolSpec;

const KEY: &str = "plain-looking-key-0123456789";
const MODEL: &str = "claude-opus-4-8";
/// Nothing here takes so long.
const DEADLINE: Duration = Duration::from_secs(30);
const WORDS: &str = "grüße, 世界 🦀 \"quoted\"\n\u{2028}é";

fn settings(url: impl Into<String>) -> AnthropicSettings {
    AnthropicSettings {
        base_url: url.into(),
        ..AnthropicSettings::new(ApiKey::new(KEY).unwrap(), MODEL)
    }
}

fn engine(url: impl Into<String>) -> Anthropic {
    Anthropic::new(settings(url)).unwrap()
}

fn call(messages: Vec<ChatMessage>) -> EngineCall {
    let schema = to_raw_value(&json!({"type": "object", "properties": {}})).unwrap();
    let spec = |name: &'static str| ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        input_schema: schema.clone(),
        is_read_only: false,
        kind: callgate_wire::session::tool_kind::OTHER,
    };
    EngineCall {
        model: MODEL.into(),
        system: "Be brief.".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([spec("look"), spec("read_file")]),
        max_tokens: 1000,
        thinking: None,
        streams_tool_input: false,
        engine_state: None,
        runner: None,
    }
}

fn hello() -> EngineCall {
    call(vec![ChatMessage::user(vec![Block::text("hello")])])
}

/// Returns all pieces of an answer, and how it ended.
async fn all(answer: &mut dyn AnswerStream) -> (Vec<AnswerPiece>, Result<(), EngineError>) {
    let (mut pieces, mut into) = (Vec::new(), Vec::new());
    loop {
        let next = timeout(DEADLINE, answer.next(&mut into)).await.expect("it comes in time");
        pieces.append(&mut into);
        match next {
            Ok(true) => {}
            Ok(false) => return (pieces, Ok(())),
            Err(error) => return (pieces, Err(error)),
        }
    }
}

async fn whole(url: &str, call: EngineCall) -> Vec<AnswerPiece> {
    let (pieces, end) = all(&mut *engine(url).answer(call)).await;
    end.expect("the answer is whole");
    let ends = pieces.iter().filter(|piece| matches!(piece, AnswerPiece::End(_))).count();
    assert!(ends == 1 && matches!(pieces.last(), Some(AnswerPiece::End(_))), "{pieces:?}");
    pieces
}

async fn failure(engine: &Anthropic, call: EngineCall) -> (Vec<AnswerPiece>, EngineError) {
    let mut answer = engine.answer(call);
    let (pieces, end) = all(&mut *answer).await;
    let error = end.expect_err("the answer fails");
    assert!(!pieces.iter().any(|piece| matches!(piece, AnswerPiece::End(_))), "{pieces:?}");
    let again = all(&mut *answer).await;
    assert!(again.0.is_empty());
    assert_eq!(again.1, Err(error.clone()), "it stays failed");
    for text in [format!("{error:?}"), error.to_string(), format!("{engine:?}")] {
        assert!(!text.contains(KEY), "{text}");
    }
    assert!(!error.text.contains(['\n', '\r']) && error.text.len() < 800, "{error}");
    (pieces, error)
}

fn text(pieces: &[AnswerPiece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        AnswerPiece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn stop(pieces: &[AnswerPiece]) -> ModelStop {
    match pieces.last() {
        Some(AnswerPiece::End(stop)) => stop.clone(),
        other => panic!("the last piece is {other:?}"),
    }
}

fn tools(pieces: &[AnswerPiece]) -> Vec<(String, Value)> {
    let tools = pieces.iter().filter_map(|piece| match piece {
        AnswerPiece::ToolUse { name, input, fault: None, .. } => {
            Some((name.clone(), serde_json::from_str(input.get()).unwrap()))
        }
        _ => None,
    });
    tools.collect()
}

#[tokio::test]
async fn a_text_and_what_is_sent_for_it() {
    let fake = Messages::start([Turn::text("Hi, you.").pieces(2)]);
    let pieces = whole(&fake.url(), hello()).await;
    assert_eq!((text(&pieces).as_str(), stop(&pieces)), ("Hi, you.", ModelStop::EndTurn));
    let usage = pieces.iter().rev().find_map(|piece| match piece {
        AnswerPiece::Usage(usage) => Some(*usage),
        _ => None,
    });
    let expected = TokenUsage { input: 10, output: 5, cache_read: 0, cache_write: 0 };
    assert_eq!(usage, Some(expected));
    fake.assert_played();
    let request = fake.last();
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(request.header("user-agent").unwrap().starts_with("callgate/"));
    assert_eq!((&request.body["model"], &request.body["stream"]), (&json!(MODEL), &json!(true)));
    assert!(request.body.get("temperature").is_none() && request.body.get("top_p").is_none());
    assert_eq!(request.tool_names(), ["look", "read_file"]);
}

#[tokio::test]
async fn thoughts_and_tools() {
    let turn = Turn::new()
        .thinking("I had better look")
        .and_text("I look.")
        .tool("look", json!({"at": "this"}))
        .tool("read_file", json!({}));
    let fake = Messages::start([turn]);
    let pieces = whole(&fake.url(), EngineCall { thinking: Some(2000), ..hello() }).await;
    let thoughts = pieces.iter().filter_map(|piece| match piece {
        AnswerPiece::Thinking(text) | AnswerPiece::Signature(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(thoughts.collect::<String>(), "I had better lookc2lnbmF0dXJl");
    assert_eq!(
        tools(&pieces),
        [("look".to_owned(), json!({"at": "this"})), ("read_file".to_owned(), json!({}))]
    );
    assert_eq!(stop(&pieces), ModelStop::ToolUse);
    fake.assert_played();
}

/// Returns a conversation with everything in it, and with what has to be left out.
fn long_conversation() -> Vec<ChatMessage> {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB".to_owned();
    let source = |media_type: &str, data: String| MediaSource::Base64 {
        media_type: media_type.to_owned(),
        data,
    };
    let tool = |id: &str| Block::ToolUse {
        id: id.to_owned(),
        name: "look".to_owned(),
        input: RawValue::from_string("{\"a\": 1}".to_owned()).unwrap(),
    };
    let result = |id: &str, content: &str, is_error| Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: content.into(),
        is_error,
    };
    let thought = |signature: &str| Block::Thinking {
        thinking: "hm".to_owned(),
        signature: signature.to_owned(),
    };
    vec![
        ChatMessage::user(vec![
            Block::Image { source: source("image/png", png) },
            Block::Document {
                source: source("application/pdf", "JVBERi0x".to_owned()),
                title: Some("a.pdf".to_owned()),
            },
            Block::text(""),
        ]),
        ChatMessage::user(vec![Block::text("What is this?")]),
        ChatMessage::assistant(vec![thought("s"), thought(""), Block::text(" "), tool("t1")]),
        ChatMessage::assistant(vec![tool("t2")]),
        ChatMessage::user(vec![
            Block::text("and"),
            result("t2", "", true),
            result("t1", "", false),
        ]),
        ChatMessage::assistant(vec![Block::RedactedThinking { data: "r".to_owned() }]),
        ChatMessage::assistant(vec![]),
        ChatMessage::user(vec![Block::text("go on")]),
    ]
}

#[tokio::test]
async fn the_strict_fake_takes_every_conversation() {
    for model in [MODEL, "claude-sonnet-4-5"] {
        for thinking in [None, Some(5), Some(1000), Some(9000)] {
            let conversation = long_conversation();
            let ends: Vec<usize> = (1..=conversation.len())
                .filter(|end| conversation[end - 1].role == crate::message::Role::User)
                .filter(|end| *end > 1)
                .collect();
            let fake = Messages::start(ends.iter().map(|_| Turn::text("ok")));
            let engine = Anthropic::new(AnthropicSettings {
                model: model.to_owned(),
                ..settings(fake.url())
            });
            let engine = engine.unwrap();
            for end in ends {
                let call = EngineCall {
                    model: model.into(),
                    thinking,
                    ..call(conversation[..end].to_vec())
                };
                let (pieces, result) = all(&mut *engine.answer(call)).await;
                result.unwrap_or_else(|error| panic!("{model} {thinking:?} {end}: {error}"));
                assert_eq!(text(&pieces), "ok");
            }
            fake.assert_played();
        }
    }
}

#[tokio::test]
async fn a_call_without_system_and_tools() {
    let fake = Messages::start([Turn::text("ok")]);
    let bare = EngineCall { system: "".into(), tools: Arc::new([]), ..hello() };
    assert_eq!(text(&whole(&fake.url(), bare).await), "ok");
    fake.assert_played();
}

#[tokio::test]
async fn utf8_cut_at_every_byte() {
    let turn = |bytes| {
        let input = json!({"words": WORDS});
        let turn = Turn::new().thinking(WORDS).and_text(WORDS).tool("look", input);
        turn.pieces(3).wire_bytes(bytes)
    };
    let fake = Messages::start((1..=8).map(turn));
    for bytes in 1..=8 {
        let pieces = whole(&fake.url(), EngineCall { thinking: Some(2000), ..hello() }).await;
        assert_eq!(text(&pieces), WORDS, "{bytes}");
        assert_eq!(tools(&pieces), [("look".to_owned(), json!({"words": WORDS}))], "{bytes}");
    }
    fake.assert_played();
}

#[tokio::test]
async fn a_tool_input_in_14290_pieces() {
    let content = "0123456789".repeat(10_002);
    let input = json!({"content": &content[..100_016]});
    assert_eq!(input.to_string().len().div_ceil(7), 14_290);
    let turn = Turn::new().tool_with_id("t1", "look", input.clone()).pieces(7).prepared();
    let fake = Messages::start([turn]);
    let pieces = whole(&fake.url(), hello()).await;
    assert_eq!(tools(&pieces), [("look".to_owned(), input)]);
    fake.assert_played();
}

#[tokio::test]
async fn blocks_of_no_known_kind() {
    let turn = Turn::new()
        .raw(json!({"type": "new", "x": [1]}))
        .and_text("still here")
        .raw(json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}))
        .stop_reason("pause_turn");
    let fake = Messages::start([turn]);
    let pieces = whole(&fake.url(), hello()).await;
    assert_eq!(text(&pieces), "still here");
    assert_eq!(stop(&pieces), ModelStop::Other("pause_turn".to_owned()));
}

#[tokio::test]
async fn all_that_has_arrived_comes_at_once() {
    let words = "word ".repeat(2000);
    let fake = Messages::start([Turn::text(&words).pieces(5).prepared()]);
    let engine = engine(fake.url());
    let mut answer = engine.answer(hello());
    let (mut into, mut heard, mut calls) = (Vec::new(), String::new(), Vec::new());
    while timeout(DEADLINE, answer.next(&mut into)).await.unwrap().unwrap() {
        heard += &text(&into);
        calls.push(into.len());
        into.clear();
    }
    assert_eq!(heard, words);
    assert!(calls.len() < 400, "2000 events in one write took {} calls", calls.len());
    assert!(calls[0] <= 4, "the first word waited for {} pieces", calls[0]);
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    let turn = |bytes| Turn::text(WORDS.repeat(5)).pieces(2).wire_bytes(bytes);
    let fake = Messages::start([turn(1), turn(40)]);
    for _ in 0..2 {
        let engine = engine(fake.url());
        let mut answer = engine.answer(hello());
        let (mut heard, mut given_up) = (String::new(), 0);
        let ended = async {
            loop {
                let mut into = Vec::new();
                tokio::select! {
                    biased;
                    next = answer.next(&mut into) => {
                        heard += &text(&into);
                        if !next.unwrap() {
                            return;
                        }
                    }
                    () = tokio::task::yield_now() => {
                        given_up += 1;
                        assert!(into.is_empty(), "what was not handed over is kept");
                    }
                }
            }
        };
        timeout(DEADLINE, ended).await.unwrap();
        assert_eq!(heard, WORDS.repeat(5));
        assert!(given_up > 10, "{given_up}");
    }
}

#[tokio::test]
async fn pieces_are_added_to_what_is_there() {
    let fake = Messages::start([Turn::text("ab")]);
    let engine = engine(fake.url());
    let mut answer = engine.answer(hello());
    let mut into = vec![AnswerPiece::Text("before ".to_owned())];
    while timeout(DEADLINE, answer.next(&mut into)).await.unwrap().unwrap() {}
    assert_eq!(text(&into), "before ab");
    assert!(!answer.next(&mut into).await.unwrap(), "after the end nothing follows");
}

#[tokio::test]
async fn answers_run_side_by_side() {
    let fake = Messages::start([]);
    let engine = Arc::new(engine(fake.url()));
    let mut answers = Vec::new();
    for number in 0..4 {
        let question = format!("question {number}.");
        fake.conversation(&question, [Turn::text(format!("answer {number}")).pieces(1)]);
        let call = call(vec![ChatMessage::user(vec![Block::text(question)])]);
        let engine = Arc::clone(&engine);
        answers.push(tokio::spawn(async move { all(&mut *engine.answer(call)).await.0 }));
    }
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(text(&answer.await.unwrap()), format!("answer {number}"));
    }
    fake.assert_played();
}
