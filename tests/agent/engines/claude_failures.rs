//! The real Claude Code CLI when something fails, and what its turns cost then.

use callgate_testkit::messages::Turn;
use serde_json::{Value, json};

use crate::engines::claude_code::{Stage, of_type, say_and_answer};
use crate::fixture::{Setup, notices, words};

/// A runtime whose CLI does not try again by itself.
fn impatient(turns: impl IntoIterator<Item = Turn>) -> Option<Stage> {
    let mut stage = Stage::new(turns)?;
    stage.setup = stage.setup.env("CLAUDE_CODE_MAX_RETRIES", "0");
    Some(stage)
}

#[test]
fn an_overloaded_service_is_asked_again_and_its_error_is_no_answer() {
    let Some(stage) = impatient([Turn::overloaded(), Turn::text("Hello.")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    agent.say("1", "Go");
    let all = agent.all("1");
    assert_eq!(words(&all), "Hello.", "{all:#?}");
    assert_eq!(notices(&all), ["retry"], "{all:#?}");
    let said = of_type(&all, "notice")[0].to_string();
    assert!(said.contains("API Error: 529"), "{said}");
}

#[test]
fn what_the_service_refuses_is_an_error_with_its_status() {
    let Some(stage) = impatient([Turn::refused(400, "invalid_request_error")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    agent.say("1", "Go");
    let all = agent.all("1");
    assert_eq!(words(&all), "", "{all:#?}");
    let end = all.last().unwrap();
    let expected = json!({"kind": "refused", "status": 400, "retryable": false});
    assert_eq!((&end["type"], &end["data"]), (&json!("error"), &expected), "{end}");
}

/// The CLI reads the end of a command in the background while it ends itself. The turn that has
/// started the command pays for that, and not the next one.
#[test]
fn a_turn_pays_for_what_it_has_left_in_the_background() {
    let input = json!({"command": "sleep 1", "description": "A while.",
        "run_in_background": true});
    let turns = [Turn::tool_use("Bash", input), Turn::text("Started."), Turn::text("It ended.")];
    let Some(stage) = Stage::new(turns.into_iter().chain([Turn::text("Next.")])) else { return };
    let mut agent = stage.setup.clone().runs().start();
    agent.hello_with(&["usage"]);
    let mut cost = |id: &str| {
        let all = say_and_answer(&mut agent, id, "Go", "allow");
        let end = &all.last().unwrap()["data"];
        (words(&all), end["cost"].as_f64().unwrap(), end["usage"]["outputTokens"].clone())
    };
    let (first, second) = (cost("1"), cost("2"));
    // On a slow machine the command ends before the turn does, and more is said.
    assert!(first.0.starts_with("Started."), "{first:?}");
    assert_eq!(second.0, "Next.");
    // Each response of the fake costs the same: the first turn has three of them.
    assert!((first.1 / second.1 - 3.0).abs() < 0.01, "{first:?} {second:?}");
    assert_eq!((first.2, second.2), (Value::from(15), Value::from(5)));
}

#[test]
fn an_engine_without_its_program_cannot_be_chosen() {
    let setup = Setup::new().env("CALLGATE_AGENT_CLAUDE_CLI", "/nowhere/claude");
    let mut agent = setup.start();
    agent.hello();
    let set = json!({"id": "1", "kind": "set_engine", "engine": "claude-code"});
    let end = agent.ask(&set);
    assert_eq!(end["type"], "error", "{end}");
    assert_eq!(end["data"]["kind"], "engine", "{end}");
    let error = end["error"].as_str().unwrap();
    assert!(error.contains("agent.claude_cli"), "{error}");
    // The engine of the conversation is the one that it was.
    let status = agent.ask(&json!({"id": "2", "kind": "get_status"}));
    assert_eq!(status["data"]["engine"], "offline", "{status}");
}
