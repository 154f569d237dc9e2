//! The fake CLI compared with the real one: the same script yields the same events.

use std::sync::{Arc, Mutex};

use callgate_claude::{
    ClaudeEvent, ClaudeSettings, ClaudeStream, FakeCli, Hook, HookEvent, HookOutput, Model,
    PermissionDecision,
};
use callgate_testkit::messages::Turn;
use serde_json::{Value, json};

use crate::fixture::{Stage, TRANSPORTS, command, read, read_until};

/// What the model does, and what comes of it.
fn script() -> [(&'static str, Value); 5] {
    [
        ("mcp__callgate__echo", json!({"text": "hello"})),
        ("mcp__callgate__fail", json!({"text": "too bad"})),
        ("mcp__callgate__echo", json!({"text": 7})),
        ("Bash", command("touch allowed")),
        ("Bash", command("make trouble")),
    ]
}

/// The settings of both, and the calls that their hook has heard.
fn settings(settings: ClaudeSettings) -> (ClaudeSettings, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    let hook = Hook::new(HookEvent::PreToolUse, move |call| {
        kept.lock().unwrap().push(format!("{:?} {}", call.tool_name, call.tool_input));
        async { HookOutput::proceed() }
    });
    let settings = settings.hook(hook).permission(|question| async move {
        match question.input["command"].as_str() {
            Some("touch allowed") => PermissionDecision::allow(),
            _ => PermissionDecision::deny("not on a Sunday"),
        }
    });
    (settings, heard)
}

/// An event without what differs from run to run; `None` for what is not the CLI's.
fn told(event: &ClaudeEvent) -> Option<String> {
    Some(match event {
        ClaudeEvent::Started(started) => {
            let own = started.tools.iter().filter(|tool| tool.starts_with("mcp__"));
            let mut own: Vec<&String> = own.collect();
            own.sort();
            format!("started {own:?}")
        }
        ClaudeEvent::Text(text) => format!("says {text}"),
        ClaudeEvent::Thinking(text) => format!("thinks {text}"),
        ClaudeEvent::ToolUse(call) => format!("uses {} {}", call.name, call.input),
        ClaudeEvent::ToolResult(result) => format!("result {} {}", result.is_error, result.text()),
        ClaudeEvent::Permission { tool_name, is_allowed } => {
            format!("may {tool_name} {is_allowed}")
        }
        ClaudeEvent::Finished(answer) => {
            let denied: Vec<&Value> = answer.denials.iter().map(|denial| &denial.input).collect();
            format!("finished {:?} {} {denied:?}", answer.outcome, answer.text)
        }
        _ => return None,
    })
}

async fn told_by(stream: ClaudeStream) -> Vec<String> {
    let (events, error) = read(stream).await;
    assert!(error.is_none(), "{error:?}");
    events.iter().filter_map(told).collect()
}

#[tokio::test]
async fn the_fake_tells_what_the_cli_tells() {
    let turns = script().map(|(tool, input)| Turn::tool_use(tool, input));
    let first = Turn::new().thinking("Hm.").and_text("Done.");
    let Some(stage) = Stage::new(turns.into_iter().chain([first])) else { return };
    let (real, heard) = settings(stage.settings());
    let real = told_by(stage.model_with(real, TRANSPORTS[1]).stream("Go").unwrap()).await;
    let heard = heard.lock().unwrap().clone();

    let fake = script().into_iter().fold(FakeCli::new(), |fake, (tool, input)| {
        fake.uses_with_result(tool, input, "(Bash completed with no output)")
    });
    let fake = fake.thinks("Hm.").says("Done.");
    let (settings, heard_by_fake) = settings(stage.settings().fake_cli(fake.clone()));
    // A bridge is asked for, and not started.
    let model = stage.model_with(settings, TRANSPORTS[0]);
    assert_eq!(told_by(model.stream("Go").unwrap()).await, real);
    assert_eq!(*heard_by_fake.lock().unwrap(), heard);
    assert_eq!(fake.prompts(), ["Go"]);
    let results = fake.tool_results();
    assert_eq!(results.len(), 5);
    assert!(results[4].is_error && results[4].text.contains("not on a Sunday"), "{results:?}");
}

#[tokio::test]
async fn a_fake_can_be_interrupted_and_go_on() {
    let Some(stage) = Stage::new([]) else { return };
    let fake =
        FakeCli::new().uses("mcp__callgate__wait", json!({"text": "in vain"})).says("Never.");
    let fake = fake.waits().says("On we go.").fails("overloaded");
    let settings = stage.settings().fake_cli(fake.clone());
    let model = stage.model_with(settings, TRANSPORTS[1]);
    let mut stream = model.stream("Wait").unwrap();
    read_until(&mut stream, stage.visits.entered(1)).await;
    stream.interrupt();
    let events = told_by(stream).await;
    assert_eq!(events.last().unwrap(), "finished Interrupted  []");
    stage.visits.cancelled(1).await;

    let mut conversation = model.converse().unwrap();
    let mut turn = conversation.turn("Wait again");
    turn.interrupt();
    while let Some(event) = turn.next().await {
        event.unwrap();
    }
    drop(turn);
    conversation.set_model("another").await.unwrap();
    assert_eq!(conversation.ask("Go on").await.unwrap().text, "On we go.");
    for reason in ["overloaded", "the fake's script has ended"] {
        let error = conversation.ask("And now?").await.unwrap_err().to_string();
        assert!(error.contains("the model's service failed") && error.contains(reason), "{error}");
    }
    assert_eq!(fake.prompts().len(), 5);
}

#[tokio::test]
async fn a_fake_needs_no_tools_and_no_cli() {
    let fake = FakeCli::new().uses_with_result("Bash", command("ls"), "a b").says("Two files.");
    let settings = ClaudeSettings::new().fake_cli(fake.clone()).allow("Bash");
    assert_eq!(Model::with_settings(settings).request("Look").await.unwrap(), "Two files.");
    assert_eq!(fake.tool_results()[0].text, "a b");
}
