//! The events of a call, as they happen.

use std::time::Duration;

use callgate_claude::{ClaudeEvent, ClaudeStream, PartialContent};
use callgate_testkit::messages::Turn;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::fixture::{ENDLESS, Stage, TRANSPORTS, read, read_until, runs, uses};

/// An event in few words; what is not of interest here is `None`.
fn name(event: &ClaudeEvent) -> Option<String> {
    match event {
        ClaudeEvent::Started(_) => Some("started".to_owned()),
        ClaudeEvent::Text(text) => Some(format!("says {text}")),
        ClaudeEvent::Thinking(text) => Some(format!("thinks {text}")),
        ClaudeEvent::ToolUse(tool) => Some(format!("uses {} {}", tool.name, tool.input)),
        ClaudeEvent::ToolResult(result) => Some(format!("result: error {}", result.is_error)),
        ClaudeEvent::Permission { tool_name, is_allowed } => {
            Some(format!("may use {tool_name}: {is_allowed}"))
        }
        ClaudeEvent::Finished(answer) => Some(format!("finished {}", answer.text)),
        _ => None,
    }
}

fn turns() -> [Turn; 3] {
    let first = Turn::new().thinking("Hm, hm, hm, a tool.").and_text("I call it.");
    let echo = first.tool("mcp__callgate__echo", json!({"text": "grüße", "more": 1.5}));
    [echo, runs("touch denied"), Turn::text("That is it.")]
}

const TOLD: [&str; 10] = [
    "started",
    "thinks Hm, hm, hm, a tool.",
    "says I call it.",
    r#"uses mcp__callgate__echo {"text":"grüße","more":1.5}"#,
    "result: error false",
    r#"uses Bash {"command":"touch denied","description":"A command."}"#,
    "may use Bash: false",
    "result: error true",
    "says That is it.",
    "finished That is it.",
];

fn pieces(events: &[ClaudeEvent], which: fn(&PartialContent) -> Option<&String>) -> String {
    let partial = |event: &ClaudeEvent| match event {
        ClaudeEvent::Partial(partial) => which(partial).cloned(),
        _ => None,
    };
    events.iter().filter_map(partial).collect()
}

#[tokio::test]
async fn everything_is_told_in_its_order() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new(turns()) else { return };
        let (events, error) = read(stage.model(transport).stream("Go").unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(events.iter().filter_map(name).collect::<Vec<_>>(), TOLD);
        assert!(!events.iter().any(|event| matches!(event, ClaudeEvent::Partial(_))));
        let ClaudeEvent::Started(started) = &events[0] else { panic!("{:?}", events[0]) };
        assert!(started.tools.iter().any(|name| name == "mcp__callgate__echo"), "{started:?}");
        assert!(started.model.starts_with("claude-"), "{started:?}");
        let server = &started.servers[..];
        assert!(matches!(server, [one] if one.name == "callgate" && one.status == "connected"));
        let Some(ClaudeEvent::Finished(answer)) = events.last() else { panic!("{events:?}") };
        assert_eq!(answer.session_id, started.session_id);
        check_calls(&events);
        check_others(&events);
    }
}

/// Every result has the id of the call before it.
fn check_calls(events: &[ClaudeEvent]) {
    let mut open = None;
    for event in events {
        match event {
            ClaudeEvent::ToolUse(tool) => open = Some(tool.id.clone()),
            ClaudeEvent::ToolResult(result) => assert_eq!(open.take().as_ref(), Some(&result.id)),
            _ => {}
        }
    }
    assert_eq!(open, None);
}

/// The CLI tells how much is being thought, which is none of the kinds that are known here.
fn check_others(events: &[ClaudeEvent]) {
    let other = |event: &ClaudeEvent| match event {
        ClaudeEvent::Other { kind, message } => Some((kind.clone(), message.clone())),
        _ => None,
    };
    let (kind, message) = events.iter().find_map(other).expect("the CLI says more");
    let message: Value = serde_json::from_str(message.get()).unwrap();
    assert_eq!(message["type"], *kind);
    assert!(message["uuid"].is_string(), "{message}");
}

#[tokio::test]
async fn pieces_make_the_whole() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new(turns().map(|turn| turn.pieces(3).wire_bytes(7))) else {
            return;
        };
        let model = stage.model_with(stage.settings().partial(), transport);
        let (events, error) = read(model.stream("Go").unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(events.iter().filter_map(name).collect::<Vec<_>>(), TOLD);
        let texts = pieces(&events, |piece| match piece {
            PartialContent::Text(text) => Some(text),
            _ => None,
        });
        assert_eq!(texts, "I call it.That is it.");
        let thoughts = pieces(&events, |piece| match piece {
            PartialContent::Thinking(text) => Some(text),
            _ => None,
        });
        assert_eq!(thoughts, "Hm, hm, hm, a tool.");
        let inputs = pieces(&events, |piece| match piece {
            PartialContent::Input(text) => Some(text),
            _ => None,
        });
        let (echo, bash) = (&TOLD[3]["uses mcp__callgate__echo ".len()..], &TOLD[5][10..]);
        assert_eq!(inputs, format!("{echo}{bash}"));
    }
}

/// Each wait for the next event is given up many times over.
#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new(turns()) else { return };
        let mut stream = stage.model(transport).stream("Go").unwrap();
        let mut events = Vec::new();
        loop {
            match timeout(Duration::from_millis(2), stream.next()).await {
                Ok(Some(event)) => events.push(event.unwrap()),
                Ok(None) => break,
                Err(_) => {}
            }
        }
        assert_eq!(events.iter().filter_map(name).collect::<Vec<_>>(), TOLD);
    }
}

/// A turn that starts another agent.
fn starts_agent(is_in_background: bool) -> Turn {
    let input = json!({
        "description": "Ask the other",
        "prompt": "[other] Say it again.",
        "subagent_type": "general-purpose",
        "run_in_background": is_in_background,
    });
    Turn::tool_use("Agent", input)
}

/// An agent that the agent has started uses our tools too.
#[tokio::test]
async fn a_subagent_is_told_apart() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([starts_agent(false), Turn::text("It said so.")]) else {
            return;
        };
        stage.fake.conversation("[other]", [uses("echo", "below"), Turn::text("Said.")]);
        let (events, error) = read(stage.model(transport).stream("Go").unwrap()).await;
        assert!(error.is_none(), "{error:?}");
        let Some(ClaudeEvent::ToolUse(agent)) =
            events.iter().find(|e| matches!(e, ClaudeEvent::ToolUse(_)))
        else {
            panic!("{events:?}")
        };
        let below = |event: &ClaudeEvent| match event {
            ClaudeEvent::Subagent { parent, event } if *parent == agent.id => name(event),
            _ => None,
        };
        let below: Vec<String> = events.iter().filter_map(below).collect();
        assert_eq!(below, [r#"uses mcp__callgate__echo {"text":"below"}"#, "result: error false"]);
        assert_eq!(name(events.last().unwrap()).unwrap(), "finished It said so.");
        stage.fake.assert_played();
    }
}

/// Reads until the model has said this.
async fn read_until_said(stream: &mut ClaudeStream, words: &str) {
    loop {
        match stream.next().await.expect("it goes on").expect("no error") {
            ClaudeEvent::Text(text) if text == words => return,
            ClaudeEvent::Finished(answer) => panic!("{answer:?}"),
            _ => {}
        }
    }
}

/// An agent in the background goes on after the turn in which it was started. It has its tools
/// until its end, and the answer is the one that is given then.
#[tokio::test]
async fn agents_in_the_background_are_waited_for() {
    for transport in TRANSPORTS {
        let turns = ["Started.", "That was all."].map(Turn::text);
        let turns = std::iter::once(starts_agent(true)).chain(turns);
        let Some(stage) = Stage::new(turns) else { return };
        stage.fake.conversation("[other]", [uses("wait", "below"), Turn::text("Said.")]);
        let mut stream = stage.model(transport).stream("Go").unwrap();
        read_until_said(&mut stream, "Started.").await;
        read_until(&mut stream, stage.visits.entered(1)).await;
        stage.visits.release();
        let (events, error) = read(stream).await;
        assert!(error.is_none(), "{error:?}");
        let ends = events.iter().filter(|event| matches!(event, ClaudeEvent::Finished(_))).count();
        let Some(ClaudeEvent::Finished(answer)) = events.last() else { panic!("{events:?}") };
        assert_eq!((ends, answer.text.as_str(), answer.turns), (1, "That was all.", 3));
        stage.fake.assert_played();
    }
}

/// One who does not want to wait for them has the answer that was given before. An interrupt that
/// comes before the end of the turn ends that, and the call with it.
#[tokio::test]
async fn agents_in_the_background_can_be_interrupted() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([starts_agent(true), Turn::text("Started.")]) else { return };
        stage.fake.conversation("[other]", [uses("wait", "in vain")]);
        let mut stream = stage.model(transport).stream("Go").unwrap();
        read_until_said(&mut stream, "Started.").await;
        read_until(&mut stream, stage.visits.entered(1)).await;
        // The turn's end follows its last words, most often within this time.
        read_until(&mut stream, tokio::time::sleep(Duration::from_millis(500))).await;
        stream.interrupt();
        let (events, error) = read(stream).await;
        assert!(error.is_none(), "{error:?}");
        // What the CLI still does is counted, and no answer.
        let mut answers =
            events.iter().rev().skip_while(|event| matches!(event, ClaudeEvent::FinishedLater(_)));
        let Some(ClaudeEvent::Finished(answer)) = answers.next() else { panic!("{events:?}") };
        assert!(answer.text == "Started." || answer.is_error(), "{answer:?}");
        stage.visits.cancelled(1).await;
    }
}

/// A command in the background may go on for ever, but not after the call.
#[tokio::test]
async fn commands_in_the_background_are_not_waited_for() {
    let input = json!({"command": ENDLESS, "description": "Goes on.", "run_in_background": true});
    let turns = [Turn::tool_use("Bash", input), Turn::text("It runs.")];
    let Some(stage) = Stage::new(turns) else { return };
    let model = stage.model_with(stage.settings().allow("Bash"), TRANSPORTS[1]);
    assert_eq!(model.request("Go").await.unwrap(), "It runs.");
    assert_eq!(stage.processes(ENDLESS), Vec::<u32>::new());
}
