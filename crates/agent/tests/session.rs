//! The session with an engine of the test's own, where the clock can be turned.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::{BufReader, Write, pipe};
use std::path::PathBuf;
use std::sync::Arc;

use callgate_agent::BoxFuture;
use callgate_agent::budget::Budget;
use callgate_agent::compact::REQUEST;
use callgate_agent::engine::{
    AnswerPiece, AnswerStream, Engine, EngineCall, EngineError, ModelStop,
};
use callgate_agent::engine_registry::{DefaultEngine, EngineRegistry};
use callgate_agent::gate::{GateQuestion, PermissionGate, ToolPermit};
use callgate_agent::history::{History, HistoryLocation};
use callgate_agent::message::Block;
use callgate_agent::session::{
    LogLevel, ResumedConversation, SessionLog, SessionOptions, Shutdown, greet, serve,
};
use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::session::{ModelListing, PermissionAnswer};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

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
        into.extend([
            AnswerPiece::Text("so it is".to_owned()),
            AnswerPiece::End(ModelStop::EndTurn),
        ]);
        Box::pin(async { Ok(false) })
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
    fn may(&self, _question: GateQuestion) -> BoxFuture<'_, ToolPermit> {
        let because = "shut".to_owned();
        Box::pin(async { ToolPermit::Denied { because, interrupt: false } })
    }

    fn answer(&self, _answer: PermissionAnswer) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async { Err("shut".to_owned()) })
    }

    fn unattended(&self) {}
}

fn options(answers_messages: bool) -> SessionOptions {
    let history = History::start(HistoryLocation::Memory);
    SessionOptions {
        engines: EngineRegistry::new(DefaultEngine::Fixed {
            name: "silent",
            because: String::new(),
        })
        .with_engine(Arc::new(Silent { answers_messages })),
        tools: Vec::new(),
        sources: Vec::new(),
        gate: Arc::new(Shut),
        ledger: history.clone(),
        history,
        system: "".into(),
        max_tokens: 100,
        thinking: None,
        context: 1000,
        most_rounds: 3,
        budget: Budget::default(),
        prices: None,
        resume: ResumedConversation::None,
        folder: PathBuf::from("/"),
        day_began: || 0,
        log: SessionLog::new(LogLevel::Error, |_, _| ()),
    }
}

/// Plays a session with these messages, and gives the texts of its first three notices.
async fn notices(answers_messages: bool, messages: &[String]) -> Vec<String> {
    let (input, mut to_runtime) = pipe().unwrap();
    let (from_runtime, mut output) = pipe().unwrap();
    let greeting = greet(&mut output).unwrap();
    let (endings, ending) = mpsc::channel(1);
    let options = options(answers_messages);
    let runtime =
        tokio::spawn(async move { serve(&greeting, options, input, output, ending).await });
    writeln!(to_runtime, r#"{{"id":"h","kind":"hello","capabilities":["notice"]}}"#).unwrap();
    for (number, message) in messages.iter().enumerate() {
        let line = json!({"id": number.to_string(), "kind": "user_message", "message": message});
        writeln!(to_runtime, "{line}").unwrap();
    }
    // A blocking task of the runtime's would hold the clock.
    let (all, read) = oneshot::channel();
    std::thread::spawn(move || {
        let (mut input, mut lines) = (BufReader::new(from_runtime), LineDecoder::new(1_000_000));
        let mut notices = Vec::new();
        while notices.len() < 3 {
            assert!(fill_lines(&mut input, &mut lines).unwrap() > 0, "no third notice");
            while let Some(DecodedLine::Whole(line)) = lines.next_frame() {
                let line: Value = serde_json::from_slice(line).unwrap();
                if line["type"] == "notice" && line["data"]["kind"] != "queued" {
                    let (kind, text) = (&line["data"]["kind"], &line["data"]["text"]);
                    notices.push(format!("{}: {}", kind.as_str().unwrap(), text.as_str().unwrap()));
                }
            }
        }
        // More may have come by then: the clock does not wait for this thread.
        notices.truncate(3);
        all.send((notices, input)).unwrap();
    });
    // Its output stays open: a runtime that nobody reads ends by itself.
    let (notices, _output) = read.await.unwrap();
    endings.send(Shutdown::Asked).await.unwrap();
    runtime.await.unwrap().unwrap();
    notices
}

#[tokio::test(start_paused = true)]
async fn a_quiet_turn_gives_a_sign_before_front_ends_give_up() {
    let told = notices(false, &["hello".to_owned()]).await;
    assert_eq!(told, ["working: waits for the model"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_takes_long_gives_a_sign_too() {
    let told = notices(true, &["words and words. ".repeat(200), "go on".to_owned()]).await;
    assert_eq!(told, ["working: the conversation is being summed up"; 3]);
}
