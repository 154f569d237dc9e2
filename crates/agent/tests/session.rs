//! The session with an engine of the test's own, where the clock can be turned.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::{BufReader, Write, pipe};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callgate_agent::BoxFuture;
use callgate_agent::budget::Budget;
use callgate_agent::engine::engine_registry::{DefaultEngine, EngineRegistry};
use callgate_agent::engine::{
    AnswerPiece, AnswerStream, Engine, EngineCall, EngineError, EngineErrorKind, ModelStop,
};
use callgate_agent::gate::{GateQuestion, PermissionGate, ToolPermit};
use callgate_agent::history::compact::REQUEST;
use callgate_agent::history::{History, HistoryLocation};
use callgate_agent::message::Block;
use callgate_agent::session::{
    LogLevel, ResumedConversation, SessionLog, SessionOptions, Shutdown, serve_session,
    write_greeting,
};
use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::session::{ModelListing, PermissionAnswer};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// An engine that is always just about to answer; a message at once, if it is only slow in
/// writing summaries.
struct Silent {
    answers_messages: bool,
}

impl Engine for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async { Ok("silent".into()) })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        let is_summary = matches!(
            call.messages.last().and_then(|message| message.content.last()),
            Some(Block::Text { text }) if text == REQUEST
        );
        if self.answers_messages && !is_summary { Box::new(AtOnce) } else { Box::new(Never) }
    }
}

struct AtOnce;

impl AnswerStream for AtOnce {
    fn next<'a>(
        &'a mut self,
        into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>> {
        // Only when it is polled: a future that is dropped before has said nothing.
        Box::pin(async {
            into.extend([
                AnswerPiece::Text("so it is".to_owned()),
                AnswerPiece::End(ModelStop::EndTurn),
            ]);
            Ok(false)
        })
    }
}

struct Never;

impl AnswerStream for Never {
    fn next<'a>(
        &'a mut self,
        _into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(std::future::pending())
    }
}

/// A gate that nothing comes to.
struct Shut;

impl PermissionGate for Shut {
    fn decide_question(&self, _question: GateQuestion) -> BoxFuture<'_, ToolPermit> {
        let because = "shut".to_owned();
        Box::pin(async { ToolPermit::Denied { because, interrupt: false } })
    }

    fn answer(&self, _answer: PermissionAnswer) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async { Err("shut".to_owned()) })
    }

    fn note_unattended(&self) {}
}

/// An engine whose answer is cut off after its first word, and which then cannot be reached until
/// the outage is over.
struct Outage {
    ends: Instant,
    was_asked: AtomicBool,
}

impl Engine for Outage {
    fn name(&self) -> &'static str {
        "outage"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async { Ok("outage".into()) })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        if !self.was_asked.swap(true, Ordering::Relaxed) {
            return Box::new(Cut(Some("Half"), EngineErrorKind::Cut));
        }
        if Instant::now() < self.ends {
            return Box::new(Cut(None, EngineErrorKind::Network));
        }
        let [_, half, note] = &call.messages.to_vec()[..] else { panic!("{:?}", call.messages) };
        assert!(
            matches!(&half.content[..], [Block::Text { text }] if text == "Half"),
            "{:?}",
            call.messages
        );
        assert!(matches!(&note.content[..], [Block::Text { text }] if text.contains("cut off")));
        Box::new(AtOnce)
    }
}

/// An answer that fails after some words.
struct Cut(Option<&'static str>, EngineErrorKind);

impl AnswerStream for Cut {
    fn next<'a>(
        &'a mut self,
        into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>> {
        let Self(words, kind) = self;
        let text = "no way to the model".to_owned();
        let error = EngineError { kind: *kind, status: None, retry_after: None, text };
        Box::pin(async {
            into.extend(words.map(|words| AnswerPiece::Text(words.to_owned())));
            Err(error)
        })
    }
}

fn options(engine: Arc<dyn Engine>) -> SessionOptions {
    let history = History::start(HistoryLocation::Memory);
    SessionOptions {
        engines: EngineRegistry::new(DefaultEngine::Fixed {
            name: engine.name(),
            because: String::new(),
        })
        .with_engine(engine),
        tools: Vec::new(),
        sources: Vec::new(),
        gate: Arc::new(Shut),
        ledger: history.clone(),
        history,
        system: "".into(),
        instructions: None,
        picker: None,
        changes: None,
        fallback: None,
        max_tokens: 100,
        thinking: None,
        context: 1000,
        most_rounds: 3,
        patience: Duration::from_mins(30),
        budget: Budget::default(),
        prices: callgate_agent::budget::price::ModelPrices::default(),
        resume: ResumedConversation::None,
        folder: PathBuf::from("/"),
        day_began: || 0,
        log: SessionLog::new(LogLevel::Error, |_, _| ()),
    }
}

/// Plays a session with these messages, and gives its lines until there are enough.
async fn play(
    engine: Arc<dyn Engine>,
    messages: &[String],
    is_enough: impl Fn(&[Value]) -> bool + Send + 'static,
) -> Vec<Value> {
    let (input, mut to_runtime) = pipe().unwrap();
    let (from_runtime, mut output) = pipe().unwrap();
    let greeting = write_greeting(&mut output).unwrap();
    let (endings, ending) = mpsc::channel(1);
    let options = options(engine);
    let runtime =
        tokio::spawn(async move { serve_session(&greeting, options, input, output, ending).await });
    writeln!(to_runtime, r#"{{"id":"h","kind":"hello","capabilities":["notice"]}}"#).unwrap();
    for (number, message) in messages.iter().enumerate() {
        let line = json!({"id": number.to_string(), "kind": "user_message", "message": message});
        writeln!(to_runtime, "{line}").unwrap();
    }
    // A blocking task of the runtime's would hold the clock.
    let (all, read) = oneshot::channel();
    std::thread::spawn(move || {
        let (mut input, mut lines) = (BufReader::new(from_runtime), LineDecoder::new(1_000_000));
        let mut seen: Vec<Value> = Vec::new();
        while !is_enough(&seen) {
            assert!(fill_lines(&mut input, &mut lines).unwrap() > 0, "not enough: {seen:#?}");
            while let Some(DecodedLine::Whole(line)) = lines.next_frame() {
                seen.push(serde_json::from_slice(line).unwrap());
            }
        }
        all.send((seen, input)).unwrap();
    });
    // Its output stays open: a runtime that nobody reads ends by itself.
    let (seen, _output) = read.await.unwrap();
    endings.send(Shutdown::Asked).await.unwrap();
    runtime.await.unwrap().unwrap();
    seen
}

/// The texts of all notices, except that a request waits for another.
fn notices(seen: &[Value]) -> Vec<String> {
    let is_told = |line: &&Value| line["type"] == "notice" && line["data"]["kind"] != "queued";
    let told = |line: &Value| {
        let (kind, text) = (&line["data"]["kind"], &line["data"]["text"]);
        format!("{}: {}", kind.as_str().unwrap(), text.as_str().unwrap())
    };
    seen.iter().filter(is_told).map(told).collect()
}

/// Gives the texts of the first three notices of a session with these messages.
async fn three_notices(answers_messages: bool, messages: &[String]) -> Vec<String> {
    let engine = Arc::new(Silent { answers_messages });
    let seen = play(engine, messages, |seen| notices(seen).len() >= 3).await;
    // More may have come by then: the clock does not wait for the thread that reads.
    notices(&seen).into_iter().take(3).collect()
}

#[tokio::test(start_paused = true)]
async fn a_quiet_turn_gives_a_sign_before_front_ends_give_up() {
    let told = three_notices(false, &["hello".to_owned()]).await;
    assert_eq!(told, ["working: waiting for the model"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_takes_long_gives_a_sign_too() {
    let told = three_notices(true, &["words and words. ".repeat(200), "go on".to_owned()]).await;
    assert_eq!(told, ["working: the conversation is being summarised"; 3]);
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_ten_minutes_costs_ten_minutes() {
    let began = Instant::now();
    let ends = began + Duration::from_mins(10);
    let engine = Arc::new(Outage { ends, was_asked: AtomicBool::new(false) });
    let is_over =
        |seen: &[Value]| seen.iter().any(|line| line["type"] == "done" && line["id"] == "0");
    let seen = play(engine, &["go on".to_owned()], is_over).await;
    let words: String = seen.iter().filter_map(|line| line["token"].as_str()).collect();
    assert_eq!(words, "Halfso it is");
    let waits: Vec<String> =
        notices(&seen).into_iter().filter(|told| told.starts_with("retry: ")).collect();
    assert!((10..60).contains(&waits.len()), "{waits:#?}");
    let is_whole = |told: &String| {
        told.starts_with("retry: no way to the model (trying again in ") && told.ends_with("s)")
    };
    assert!(waits.iter().all(is_whole), "{waits:#?}");
    // The last wait may begin just before the end of the outage.
    assert!(began.elapsed() < Duration::from_mins(11), "{:?}", began.elapsed());
}
