//! The real Claude Code CLI against the fake Messages API.

use std::time::Duration;

use callgate_testkit::claude::Claude;
use callgate_testkit::leaks::Leaks;
use callgate_testkit::messages::{Messages, Part, Turn};
use callgate_testkit::tools;
use serde_json::json;

#[test]
fn answers_the_scripted_text() {
    if Claude::find().is_none() {
        return;
    }
    let fake = Messages::start([Turn::text("Hello from the script, grüße").pieces(3)]);
    let run = Claude::new(&fake).prompt("Say hello").run();
    assert_eq!(run.result_text(), "Hello from the script, grüße");
    assert!(run.status().success(), "{}", run.stderr());
    assert!(run.tools().contains(&"Bash".to_owned()), "{:?}", run.tools());
    fake.assert_played();
    assert!(fake.last().user_text().contains("Say hello"));
}

#[test]
fn runs_the_scripted_tool_and_reports_its_result() {
    if Claude::find().is_none() {
        return;
    }
    let bash = json!({"command": "echo hi", "description": "Say hi"});
    let fake = Messages::start([
        Turn::text("I run it.").tool_with_id("toolu_first", "Bash", bash.clone()),
        Turn::tool_use("Bash", bash),
        Turn::text("Done"),
    ]);
    let claude = Claude::new(&fake).prompt("Run it").allowed_tools(["Bash"]);
    let leaks = Leaks::watch(claude.work(), &[""]).marker(claude.folder().to_str().unwrap());
    let run = claude.run();
    leaks.check();
    assert_eq!(run.result_text(), "Done");
    fake.assert_played();
    let first = fake.main_requests()[1].tool_results();
    assert_eq!((first[0].tool_use_id.as_str(), first[0].text.as_str()), ("toolu_first", "hi"));
    assert_eq!(fake.last().tool_results().len(), 1);
    assert_eq!(run.tool_results().len(), 2);
    assert_eq!(run.tool_results()[0], first[0]);
}

/// The smallest MCP server: one tool that answers with its argument.
const SERVER: &str = r#"
const tool = {name: "say", description: "Says it", inputSchema: {type: "object"}};
const results = {
    "initialize": () => ({protocolVersion: "2025-11-25", capabilities: {tools: {}},
                          serverInfo: {name: "small", version: "1"}}),
    "tools/list": () => ({tools: [tool]}),
    "tools/call": (params) => ({content: [{type: "text", text: params.arguments.text}]}),
};
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
    const {id, method, params} = JSON.parse(line);
    if (id === undefined) return;
    const found = results[method];
    const answer = found ? {result: found(params)} : {error: {code: -32601, message: "no"}};
    console.log(JSON.stringify({jsonrpc: "2.0", id, ...answer}));
});
"#;

#[test]
fn connects_an_mcp_server_and_calls_its_tool() {
    let Some(node) = tools::node22().filter(|_| Claude::find().is_some()) else { return };
    let fake = Messages::start([
        Turn::tool_use("mcp__small__say", json!({"text": "grüße"})),
        Turn::text("Done"),
    ]);
    let server = json!({"command": node, "args": ["-e", SERVER]});
    let claude = Claude::new(&fake)
        .prompt("Say it")
        .mcp_config(&json!({"mcpServers": {"small": server}}))
        .settings(&json!({"env": {"FROM_SETTINGS": "1"}}))
        .env("FROM_TEST", "1")
        .allowed_tools(["mcp__small"]);
    let leaks = Leaks::watch(claude.work(), &[""]).marker(claude.folder().to_str().unwrap());
    let run = claude.run();
    leaks.check();
    assert_eq!(run.mcp_servers(), [("small".to_owned(), "connected".to_owned())]);
    assert!(run.tools().contains(&"mcp__small__say".to_owned()), "{:?}", run.tools());
    assert!(fake.last().tool_names().contains(&"mcp__small__say".to_owned()));
    assert_eq!(fake.last().tool_results()[0].text, "grüße");
    assert_eq!(run.result_text(), "Done");
    fake.assert_played();
}

#[test]
fn survives_what_the_service_does_on_a_bad_day() {
    if Claude::find().is_none() {
        return;
    }
    let fake = Messages::start([
        Turn::rate_limited(0),
        Turn::overloaded(),
        Turn::text("never seen").cut_after(1),
        Turn::text("There").wire_bytes(5),
    ]);
    let run = Claude::new(&fake).prompt("Are you there?").run();
    assert_eq!(run.result_text(), "There");
    fake.assert_played();
}

#[test]
fn a_subagent_plays_its_own_script() {
    if Claude::find().is_none() {
        return;
    }
    let agent = json!({
        "description": "look", "prompt": "Look at the marker", "subagent_type": "general-purpose",
    });
    let fake = Messages::start([
        Turn::tool_use("Agent", agent),
        Turn::text("It runs"),
        Turn::text("It is done"),
    ]);
    fake.conversation("Look at the marker", [Turn::text("I looked")]);
    let run = Claude::new(&fake).prompt("Start somebody").run();
    assert_eq!(run.result_text(), "It is done");
    let marked = fake.requests().into_iter().filter(|r| matches!(r.part, Part::Marked(_)));
    assert_eq!(marked.count(), 1);
    fake.assert_played();
}

#[test]
fn a_run_that_hangs_is_killed_and_shown() {
    if Claude::find().is_none() {
        return;
    }
    let fake = Messages::start([Turn::text("never more").stall_after(3)]);
    let claude = Claude::new(&fake).prompt("Wait").deadline(Duration::from_secs(2));
    let folder = claude.folder().to_str().unwrap().to_owned();
    let leaks = Leaks::watch("/nowhere", &[]).marker(folder);
    let run = std::panic::AssertUnwindSafe(|| drop(claude.run()));
    let payload = std::panic::catch_unwind(run).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.contains("did not end within 2s") && text.contains("--- stdout ---"), "{text}");
    leaks.check();
}
