//! Concurrent calls: of one model, and of one agent's tools.

use std::sync::Barrier;

use callgate_claude::{ClaudeSettings, Model, ModelRequest, ToolTransport};
use callgate_testkit::messages::{Part, Turn};
use callgate_tools::Tool;
use serde_json::json;
use tokio::task::JoinSet;

use crate::fixture::{DEADLINE, Stage, TRANSPORTS, Words, read, read_until, uses};

/// How many tools are inside before one returns.
const INSIDE: usize = 3;

/// One call is in the middle of a tool while another comes and goes.
#[tokio::test]
async fn two_calls_never_touch_each_other() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([]) else { return };
        stage.fake.conversation("[slow]", [uses("wait", "slow"), Turn::text("Slow answer.")]);
        stage.fake.conversation("[quick]", [uses("echo", "quick"), Turn::text("Quick answer.")]);
        let model = stage.model(transport);
        let mut slow = model.stream("[slow]").unwrap();
        read_until(&mut slow, stage.visits.entered(1)).await;
        let quick = Box::pin(model.request(ModelRequest::new("[quick]").only_tools(["echo"])));
        let reading = async {
            assert_eq!(quick.await.unwrap(), "Quick answer.");
        };
        read_until(&mut slow, reading).await;
        stage.visits.release();
        let (events, error) = read(slow).await;
        assert!(error.is_none(), "{error:?}");
        let last = format!("{:?}", events.last());
        assert!(last.contains("Slow answer."), "{last}");
        assert_eq!(told(&stage, "[slow]"), ["slow"]);
        assert!(told(&stage, "[quick]")[0].starts_with("quick, says"));
        stage.fake.assert_played();
    }
}

/// What the model was told of its tools in a conversation.
fn told(stage: &Stage, marker: &str) -> Vec<String> {
    let part = Part::Marked(marker.to_owned());
    let requests = stage.fake.requests().into_iter().filter(|request| request.part == part);
    let results = requests.flat_map(|request| request.tool_results());
    results.map(|result| result.text).collect()
}

/// Each has a CLI of its own, and a machine has to run them all.
fn patient(settings: ClaudeSettings) -> ClaudeSettings {
    settings.time_limit(DEADLINE * 3)
}

#[tokio::test]
async fn twenty_calls_at_once_get_their_own_answers() {
    many_at_once(20, ToolTransport::Stdio).await;
}

#[tokio::test]
async fn many_calls_at_once_need_no_bridge() {
    many_at_once(5, ToolTransport::Sdk).await;
}

async fn many_at_once(count: usize, transport: ToolTransport) {
    let Some(stage) = Stage::new([]) else { return };
    let model = stage.model_with(patient(stage.settings()), transport);
    let mut calls = JoinSet::new();
    for number in 0..count {
        let marker = format!("[number {number}]");
        let turns = [uses("echo", &marker), Turn::text(format!("Answer {marker}"))];
        stage.fake.conversation(&marker, turns);
        calls.spawn(ask(model.clone(), marker));
    }
    for (marker, answer) in calls.join_all().await {
        assert_eq!(answer, format!("Answer {marker}"));
        let told = told(&stage, &marker);
        assert_eq!(told, [format!("{marker}, says process {}", std::process::id())]);
    }
    stage.fake.assert_played();
}

async fn ask(model: Model, marker: String) -> (String, String) {
    let answer = model.request(marker.as_str()).await.unwrap_or_else(|error| error.to_string());
    (marker, answer)
}

/// None of these calls returns before all are inside.
#[tokio::test]
async fn read_only_tools_run_at_once() {
    for transport in TRANSPORTS {
        let labels = ["one", "two", "three"];
        let together = labels.iter().fold(Turn::new(), |turn, label| {
            turn.tool("mcp__callgate__meet", json!({"text": label}))
        });
        let Some(stage) = Stage::new([together, Turn::text("We met.")]) else { return };
        let all_inside = Barrier::new(INSIDE);
        let meet = Tool::blocking("meet", "Waits for the others.", move |args: Words, _| {
            all_inside.wait();
            args.text
        });
        let meet = meet.read_only().time_limit(DEADLINE);
        let mut model = stage.model(transport);
        model.set_tools(stage.host([meet]).connections(INSIDE), transport);
        assert_eq!(model.request("Meet").await.unwrap(), "We met.");
        let mut told = stage.told();
        told.sort_by(|one, other| one.tool_use_id.cmp(&other.tool_use_id));
        assert_eq!(told.iter().map(|result| result.text.as_str()).collect::<Vec<_>>(), labels);
    }
}
