//! The session with an engine of the test's own, where the clock can be turned.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::{BufReader, Write, pipe};
use std::path::PathBuf;
use std::sync::Arc;

use callgate_agent::Later;
use callgate_agent::budget::Budget;
use callgate_agent::engine::{Answer, Call, Engine, EngineError, Piece};
use callgate_agent::gate::{self, Gate, Permit, Question};
use callgate_agent::history::{History, Place};
use callgate_agent::session::{Ending, Level, Log, Options, greet, serve};
use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{Line, Lines};
use serde_json::Value;
use tokio::sync::mpsc;

/// An engine that is always just about to answer.
struct Silent;

impl Engine for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn model(&self) -> &'static str {
        "silent"
    }

    fn answer(&self, _call: Call) -> Box<dyn Answer> {
        Box::new(Never)
    }
}

struct Never;

impl Answer for Never {
    fn next<'a>(&'a mut self, _into: &'a mut Vec<Piece>) -> Later<'a, Result<bool, EngineError>> {
        Box::pin(std::future::pending())
    }
}

/// A gate that nothing comes to.
struct Shut;

impl Gate for Shut {
    fn may(&self, _question: Question) -> Later<'_, Permit> {
        let because = "shut".to_owned();
        Box::pin(async { Permit::Denied { because, interrupt: false } })
    }

    fn answer(&self, _answer: gate::Answer) -> Later<'_, Result<String, String>> {
        Box::pin(async { Err("shut".to_owned()) })
    }

    fn unattended(&self) {}
}

fn options() -> Options {
    let history = History::start(Place::Memory);
    Options {
        engine: Arc::new(Silent),
        engine_reason: String::new(),
        tools: Vec::new(),
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
        resume: false,
        folder: PathBuf::from("/"),
        day_began: || 0,
        log: Log::new(Level::Error, |_, _| ()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_turn_gives_a_sign_before_front_ends_give_up() {
    let (input, mut to_runtime) = pipe().unwrap();
    let (from_runtime, mut output) = pipe().unwrap();
    let greeting = greet(&mut output).unwrap();
    let (endings, ending) = mpsc::channel(1);
    let runtime =
        tokio::spawn(async move { serve(&greeting, options(), input, output, ending).await });
    for line in [
        r#"{"id":"h","kind":"hello","capabilities":["notice"]}"#,
        r#"{"id":"1","kind":"user_message","message":"hello"}"#,
    ] {
        writeln!(to_runtime, "{line}").unwrap();
    }
    let read = tokio::task::spawn_blocking(move || {
        let (mut input, mut lines) = (BufReader::new(from_runtime), Lines::new(1_000_000));
        let mut notices = Vec::new();
        while notices.len() < 3 {
            assert!(fill_lines(&mut input, &mut lines).unwrap() > 0, "no third notice");
            while let Some(Line::Whole(line)) = lines.next_frame() {
                let line: Value = serde_json::from_slice(line).unwrap();
                if line["type"] == "notice" {
                    notices.push(line["data"]["kind"].as_str().unwrap().to_owned());
                }
            }
        }
        notices
    });
    assert_eq!(read.await.unwrap(), ["working", "working", "working"]);
    endings.send(Ending::Asked).await.unwrap();
    runtime.await.unwrap().unwrap();
}
