//! MCP servers that break their promises: what they send costs them their tools, and nobody else
//! anything.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use callgate_testkit::messages::{Messages, Recorded, ToolResult, Turn};
use callgate_testkit::proc;
use callgate_testkit::tools::repo_root;
use callgate_testkit::until::until;
use rustix::io::ioctl_fionread;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup};

const ALLOWED: &str = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";
/// Far less than a call may take, and enough for a slow machine.
const SOON: Duration = Duration::from_secs(45);

fn script() -> String {
    repo_root().join("tests/data/hostile_mcp_server.py").display().to_string()
}

/// A runtime with a server that misbehaves in this way.
fn setup(fake: &Messages, args: &[&str]) -> Setup {
    let args: Vec<String> =
        [script().as_str()].iter().chain(args).map(|arg| format!("{arg:?}")).collect();
    let config =
        "[agent]\nlog_level = \"warn\"\n[agent.mcp_servers.test]\ncommand = \"/usr/bin/python3\"\n";
    let config = format!("{config}args = [{}]\n", args.join(", "));
    Setup::on(fake).rules(ALLOWED).config(&config)
}

fn calls(tool: &str, input: Value) -> Turn {
    Turn::tool_use(format!("mcp__test__{tool}"), input)
}

fn offered(fake: &Messages) -> Vec<String> {
    let names = fake.last().tool_names();
    names.iter().filter_map(|name| name.strip_prefix("mcp__test__").map(str::to_owned)).collect()
}

/// Sends a message, whose answer comes soon.
fn turn(agent: &mut Runtime, id: &str) -> Vec<Value> {
    let start = Instant::now();
    agent.say(id, "go");
    let all = agent.all(id);
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    all
}

fn results(fake: &Messages) -> Vec<ToolResult> {
    fake.requests().iter().flat_map(Recorded::tool_results).collect()
}

#[test]
fn a_tool_whose_schema_is_wrong_costs_only_itself() {
    let fake = Messages::start([calls("echo", json!({"text": "hé"})), Turn::text("done")]);
    let mut agent = setup(&fake, &["schemas"]).start();
    turn(&mut agent, "1");
    assert_eq!(results(&fake)[0].text, "hé");
    let offered = offered(&fake);
    assert_eq!(offered[..3], ["echo", "bare", "either"], "{offered:?}");
    // The same name again gets another one, once.
    assert!(offered.len() == 4 && offered[3].starts_with("echo_"), "{offered:?}");
    agent.piped.close_stdin();
    agent.rest();
    let log = agent.piped.stderr();
    for name in ["`text`", "`list`", "`properties`", "no name"] {
        assert!(log.contains(name), "{name}: {log}");
    }
}

#[test]
fn a_list_without_an_end_is_given_up() {
    let fake = Messages::start([calls("echo1", json!({"text": "a"})), Turn::text("done")]);
    let mut agent = setup(&fake, &["endless"]).start();
    turn(&mut agent, "1");
    assert_eq!(results(&fake)[0].text, "a");
    assert!(offered(&fake).len() >= 32, "{:?}", offered(&fake));
}

#[test]
fn an_answer_that_cannot_be_used_fails_at_once_and_the_server_goes_on() {
    let echo = || calls("echo", json!({"text": "here"}));
    let fake = Messages::start([
        calls("huge", json!({})),
        echo(),
        calls("odd", json!({})),
        echo(),
        calls("flood", json!({})),
        calls("half", json!({})),
        echo(),
        Turn::text("done"),
    ]);
    let mut agent = setup(&fake, &["answers"]).start();
    turn(&mut agent, "1");
    let results = results(&fake);
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    assert!(results[0].is_error && texts[0].contains("longer than 32 MiB"), "{texts:?}");
    assert_eq!(texts[1], "here");
    assert!(results[2].is_error && texts[2].contains("cannot be read"), "{texts:?}");
    assert_eq!((texts[3], texts[4]), ("here", "after the flood"));
    assert!(results[5].is_error && texts[5].contains("`test` failed"), "{texts:?}");
    assert_eq!(texts[6], "here");
}

/// Whether no more can be written to the server that reads nothing.
fn is_deaf_server_full(setup: &Setup) -> bool {
    let folder = setup.work();
    let is_server = |pid: u32| {
        proc::command_line(pid).contains("hostile_mcp_server.py deaf")
            && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder)
    };
    let server = proc::all().into_iter().find(|process| is_server(process.pid));
    let input = server.and_then(|server| File::open(format!("/proc/{}/fd/0", server.pid)).ok());
    input.is_some_and(|input| ioctl_fionread(input).is_ok_and(|waiting| waiting >= 65536))
}

#[test]
fn a_server_that_reads_nothing_holds_nobody_up() {
    let large = json!({"text": "x".repeat(150_000)});
    let fake =
        Messages::start([Turn::text("hello"), calls("echo", large), Turn::text("It is gone.")]);
    let file = json!({"mcpServers": {"test": {"command": "/usr/bin/python3", "args": [script(), "deaf"]}}});
    let setup = Setup::on(&fake).rules(ALLOWED).file(".mcp.json", file.to_string());
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "go");
    let asked = agent.until("1", "permission_request")["data"].clone();
    let question = &asked["question"];
    agent.send(
        &json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "allow"}),
    );
    assert_eq!(agent.end("1")["type"], "done");
    agent.say("2", "call it");
    agent.until("2", "tool_use");
    until("the call at the server", || is_deaf_server_full(&setup));
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "2"}));
    assert_eq!(agent.end("2")["data"]["stopReason"], "cancelled");
    // Its file is gone, so it is ended before the next message.
    fs::remove_file(setup.work().join(".mcp.json")).unwrap();
    turn(&mut agent, "3");
    assert_eq!(offered(&fake), [""; 0]);
    let (_, status) = agent.finish();
    assert!(status.success());
}

#[test]
fn a_server_that_always_reports_changes_is_not_always_asked() {
    let fake =
        Messages::start([calls("wait", json!({})), calls("wait", json!({})), Turn::text("done")]);
    let home = tempfile::tempdir().unwrap();
    let lists = home.path().join("lists");
    let mut agent = setup(&fake, &["restless", lists.to_str().unwrap()]).start();
    turn(&mut agent, "1");
    assert_eq!(results(&fake)[1].text, "waited");
    let count = fs::read_to_string(&lists).unwrap().lines().count();
    assert!((2..=40).contains(&count), "it was asked {count} times in two seconds");
}
