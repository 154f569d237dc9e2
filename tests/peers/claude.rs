//! The Claude Code CLI, offline: its model is a strict fake that plays a script.

use callgate_testkit::claude::{Claude, Run};
use callgate_testkit::leaks::Leaks;
use callgate_testkit::messages::{Messages, ToolResult, Turn};
use callgate_testkit::process::Piped;
use callgate_tools::McpClient;
use serde_json::{Value, json};

use crate::fixture::{DEADLINE, Fixture, NAME, ODD_TEXT, TOGETHER, kill};

/// What the CLI calls a tool of ours.
fn tool(name: &str) -> String {
    format!("mcp__{NAME}__{name}")
}

/// A turn of the model that uses these tools at once.
fn uses(calls: &[(&str, Value)]) -> Turn {
    calls.iter().fold(Turn::new(), |turn, (name, input)| turn.tool(tool(name), input.clone()))
}

fn echo(text: &str) -> (&'static str, Value) {
    ("echo", json!({"text": text}))
}

/// The CLI with the fixture's tools, about to play its part.
fn claude(fixture: &Fixture, fake: &Messages) -> Claude {
    Claude::new(fake)
        .prompt("Use the tools.")
        .mcp_config(&fixture.mcp_config(McpClient::ClaudeCode))
        .allowed_tools([format!("mcp__{NAME}")])
        .deadline(DEADLINE)
}

/// A model that plays these turns, then says that it is done.
fn model(turns: impl IntoIterator<Item = Turn>) -> Messages {
    Messages::start(turns.into_iter().chain([Turn::text("All done.")]))
}

/// Runs the CLI to its end, after which none of its children is left.
fn run(fixture: &Fixture, claude: Claude) -> Run {
    let children = children(&claude);
    let run = claude.run();
    assert_eq!(run.result_text(), "All done.", "{}", run.stderr());
    children.check();
    assert!(fixture.bridges().is_empty());
    run
}

/// Watches whatever the CLI starts.
fn children(claude: &Claude) -> Leaks {
    Leaks::watch(claude.work(), &[""]).marker(claude.folder().to_str().unwrap()).deadline(DEADLINE)
}

/// Lets a model play these turns; gives what it was told after each.
fn play<const N: usize>(fixture: &Fixture, turns: [Turn; N]) -> [Vec<ToolResult>; N] {
    let fake = model(turns);
    run(fixture, claude(fixture, &fake));
    told(&fake)
}

/// What the model was told after each of its turns, in the order of its uses.
fn told<const N: usize>(fake: &Messages) -> [Vec<ToolResult>; N] {
    fake.assert_played();
    let requests = fake.main_requests();
    let told = requests.iter().skip(1).map(|request| {
        let mut results = request.tool_results();
        // The CLI gives them in the order in which they came; the fake numbers its uses.
        results.sort_by(|one, other| one.tool_use_id.cmp(&other.tool_use_id));
        results
    });
    told.collect::<Vec<_>>().try_into().unwrap()
}

fn texts(results: &[ToolResult]) -> Vec<&str> {
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    results.iter().map(|result| result.text.as_str()).collect()
}

#[test]
fn every_tool_is_offered_to_the_model() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let fake = model([]);
    let run = run(&fixture, claude(&fixture, &fake));
    assert_eq!(run.mcp_servers(), [(NAME.to_owned(), "connected".to_owned())]);
    let mut wanted: Vec<String> = fixture.names().iter().map(|name| tool(name)).collect();
    wanted.sort();
    for mut offered in [run.tools(), fake.last().tool_names()] {
        offered.retain(|name| name.starts_with("mcp__"));
        offered.sort();
        assert_eq!(offered, wanted);
    }
    let request = fake.last();
    let add = request.tool(&tool("add")).unwrap();
    assert_eq!(add["input_schema"]["required"], json!(["a", "b"]), "{add}");
}

#[test]
fn results_and_errors_reach_the_model() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let turns = [
        uses(&[echo(ODD_TEXT)]),
        uses(&[("fail", json!({"text": "no such day"}))]),
        uses(&[("structured", json!({"x": 1, "y": -2}))]),
    ];
    let [echoed, failed, mirrored] = play(&fixture, turns);
    assert_eq!(texts(&echoed), [ODD_TEXT]);
    let ToolResult { text, is_error, .. } = &failed[0];
    assert!(is_error & text.contains("ValueError") & text.contains("no such day"), "{text}");
    let point: Value = serde_json::from_str(texts(&mirrored)[0]).unwrap();
    assert_eq!(point, json!({"x": -1, "y": 2}));
}

#[test]
fn a_picture_reaches_the_model() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let fake = model([uses(&[("picture", json!({}))])]);
    run(&fixture, claude(&fixture, &fake));
    let [told] = told(&fake);
    // The CLI adds where it keeps the picture.
    assert!(texts(&told)[0].starts_with("a pixel"), "{told:?}");
    let sent = fake.last().body["messages"].to_string();
    assert!(sent.contains(r#""media_type":"image/png""#), "{sent}");
}

#[test]
fn calls_in_one_message_get_their_own_answers() {
    if Claude::find().is_none() {
        return;
    }
    for fixture in [Fixture::sequential(), Fixture::parallel()] {
        let calls = [echo("first"), ("add", json!({"a": 2, "b": 3})), echo("third")];
        let [told] = play(&fixture, [uses(&calls)]);
        assert_eq!(texts(&told), ["first", "5", "third"]);
    }
}

/// None of these calls returns before all are inside the host.
#[test]
fn read_only_tools_run_in_parallel() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::parallel();
    let labels: Vec<String> = (0..TOGETHER).map(|number| format!("call {number}")).collect();
    let calls: Vec<_> = labels.iter().map(|label| ("ro_wait", json!({"text": label}))).collect();
    let [told] = play(&fixture, [uses(&calls)]);
    assert_eq!(texts(&told), labels);
}

/// Nobody releases the first call, so the CLI is sure to lose its patience.
#[test]
fn after_a_call_that_took_too_long_the_next_is_right() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let slow = ("slow", json!({"text": "too late"}));
    let fake = model([uses(&[slow]), uses(&[echo("my own answer")])]);
    run(&fixture, claude(&fixture, &fake).env("MCP_TOOL_TIMEOUT", "3000"));
    let [late, own] = told(&fake);
    assert!(late[0].is_error && late[0].text.contains("timed out"), "{late:?}");
    assert_eq!(texts(&own), ["my own answer"]);
    fixture.calls.wait_until_none();
}

#[test]
fn a_killed_cli_takes_its_bridge_and_its_call_along() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let fake = model([uses(&[("slow", json!({"text": "nobody hears"}))])]);
    let claude = claude(&fixture, &fake);
    let children = children(&claude);
    let mut cli = Piped::spawn(claude.command());
    cli.close_stdin();
    fixture.calls.wait_for(1, 0);
    kill(cli.pid());
    fixture.calls.wait_for(0, 1);
    // Before the end of `cli`, which would kill whatever the CLI left behind.
    children.check();
    cli.wait_exit(DEADLINE);
}

/// The CLI says that the connection is closed, and starts another bridge for the next call.
#[test]
fn a_killed_bridge_is_told_to_the_model_and_replaced() {
    if Claude::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let fake = model([uses(&[("slow", json!({"text": "lost"}))]), uses(&[echo("after it")])]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            fixture.calls.wait_for(1, 0);
            fixture.bridges().into_iter().for_each(kill);
        });
        run(&fixture, claude(&fixture, &fake));
    });
    fixture.calls.wait_for(0, 1);
    let [lost, after] = told(&fake);
    assert!(lost[0].is_error && lost[0].text.contains("closed"), "{lost:?}");
    assert_eq!(texts(&after), ["after it"]);
}
