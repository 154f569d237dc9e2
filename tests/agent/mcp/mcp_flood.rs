//! MCP servers on HTTP that send far more than anybody asked for: each answer has a limit, and
//! whoever goes beyond it loses that answer alone.

use std::time::{Duration, Instant};

use callgate_testkit::leaks::peak_kib;
use callgate_testkit::mcp_flood::McpFlood;
use callgate_testkit::messages::{Messages, Recorded, ToolResult, Turn};
use serde_json::json;

use crate::fixture::{Runtime, Setup};

const ALLOWED: &str = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";
/// Far less than a call may take, and enough for a slow machine.
const SOON: Duration = Duration::from_mins(1);
/// A limit of 32 MiB, twice in memory while it is copied, and what the runtime needs itself.
const MOST_KIB: u64 = 160 * 1024;

fn setup(fake: &Messages, flood: &McpFlood, path: &str) -> Setup {
    let config = "[agent]\nlog_level = \"warn\"\n[agent.mcp_servers.test]\n";
    let config = format!("{config}url = {:?}\n", flood.url(path));
    Setup::on(fake).rules(ALLOWED).config(&config)
}

fn calls(tool: &str) -> Turn {
    Turn::tool_use(format!("mcp__test__{tool}"), json!({"text": "here"}))
}

/// Sends a message, whose answer comes soon and costs little memory.
fn turn(agent: &mut Runtime, id: &str) {
    let start = Instant::now();
    agent.say(id, "go");
    let all = agent.all(id);
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    let peak = peak_kib(agent.piped.pid());
    assert!(peak < MOST_KIB, "it took {peak} KiB");
}

/// Checks that an answer in this form fails, and that the next call of the server is answered.
fn check(way: &str) {
    let flood = McpFlood::start();
    let fake = Messages::start([calls(way), calls("echo"), Turn::text("done")]);
    let mut agent = setup(&fake, &flood, "/mcp").start();
    turn(&mut agent, "1");
    let results: Vec<ToolResult> =
        fake.requests().iter().flat_map(Recorded::tool_results).collect();
    let failed = &results[0];
    assert!(failed.is_error, "{}", failed.text);
    for words in ["`test` failed", "longer than 32 MiB"] {
        assert!(failed.text.contains(words), "{words}: {}", failed.text);
    }
    assert_eq!(results[1].text, "here");
}

#[test]
fn a_body_without_an_end_fails_its_call_alone() {
    check("json");
}

#[test]
fn a_refusal_without_an_end_fails_its_call_alone() {
    check("refusal");
}

#[test]
fn an_event_without_an_end_fails_its_call_alone() {
    check("event");
}

#[test]
fn an_event_of_endless_lines_fails_its_call_alone() {
    check("lines");
}

/// Checks that a server which never gets ready is reported, and that the conversation goes on.
fn check_start(path: &str) {
    let flood = McpFlood::start();
    let fake = Messages::start([Turn::text("hello")]);
    let mut agent = setup(&fake, &flood, path).start();
    turn(&mut agent, "1");
    agent.piped.close_stdin();
    agent.rest();
    let log = agent.piped.stderr();
    for words in ["`test` failed", "longer than 32 MiB"] {
        assert!(log.contains(words), "{words}: {log}");
    }
}

#[test]
fn a_list_of_tools_without_an_end_costs_the_server_its_tools() {
    check_start("/list");
}

#[test]
fn a_greeting_without_an_end_costs_the_server_its_tools() {
    check_start("/initialize");
}
