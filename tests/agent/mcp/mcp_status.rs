//! What a front end learns of MCP servers: their state, and what happens to them during a turn.

use std::process::Command;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::Piped;
use callgate_testkit::tools::repo_root;
use callgate_testkit::until::until;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, words};

const PYTHON: &str = "/usr/bin/python3";

fn script(name: &str) -> String {
    repo_root().join("tests/data").join(name).display().to_string()
}

/// The state of the servers, by their names.
fn servers(agent: &mut Runtime) -> Vec<Value> {
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    status["data"]["servers"].as_array().unwrap_or_else(|| panic!("{status}")).clone()
}

/// The texts of the notices about servers.
fn notices(all: &[Value]) -> Vec<&str> {
    let is_about_servers = |event: &&Value| event["data"]["kind"] == "server";
    let about = all.iter().filter(|event| event["type"] == "notice").filter(is_about_servers);
    about.map(|event| event["data"]["text"].as_str().unwrap()).collect()
}

#[test]
fn a_slow_server_delays_nothing_and_a_broken_one_says_why() {
    let fake = Messages::start(["one", "two"].map(Turn::text));
    let config = format!(
        "[agent.mcp_servers.slow]\ncommand = {PYTHON:?}\nargs = [\"-c\", \"input(); input()\"]\n\
         [agent.mcp_servers.broken]\ncommand = \"no-such-program\"\n"
    );
    let setup = Setup::on(&fake).config(&config).env("CALLGATE_AGENT_MCP_WAIT_SECONDS", "0");
    let mut agent = setup.start();
    agent.hello();
    let unused = servers(&mut agent);
    assert!(unused.iter().all(|server| server["state"] == "unused"), "{unused:#?}");
    agent.say("1", "hello");
    let all = agent.all("1");
    assert_eq!(words(&all), "one", "{all:#?}");
    let slow = "the MCP server `slow` is still connecting: its tools are used when it is";
    assert!(notices(&all).contains(&slow), "{all:#?}");
    // Nobody waits for it again, and the other has failed by now or in this turn.
    agent.say("2", "hello");
    let more = agent.all("2");
    assert_eq!(words(&more), "two", "{more:#?}");
    let said: Vec<&str> = notices(&all).into_iter().chain(notices(&more)).collect();
    let why = "the MCP server `broken` failed: there is no program `no-such-program`";
    assert!(said.iter().any(|text| text.starts_with(why)), "{said:#?}");
    let mut known = servers(&mut agent);
    known.sort_by_key(|server| server["name"].to_string());
    assert_eq!((&known[0]["name"], &known[0]["state"]), (&json!("broken"), &json!("failed")));
    assert!(known[0]["text"].as_str().unwrap().starts_with(why), "{known:#?}");
    let slow = json!({"name": "slow", "state": "connecting", "text": "is connecting", "tools": 0,
        "isProject": false});
    assert_eq!(known[1], slow);
}

#[test]
fn tools_that_change_are_told() {
    let grow = Turn::tool_use("mcp__test__grow", json!({}));
    let echo = Turn::tool_use("mcp__test__echo", json!({"text": "a"}));
    let fake = Messages::start([grow, echo, Turn::text("done")]);
    let config = format!(
        "[agent.mcp_servers.test]\ncommand = {PYTHON:?}\nargs = [{:?}]\n",
        script("mcp_server.py")
    );
    let rule = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";
    let mut agent = Setup::on(&fake).rules(rule).config(&config).start();
    agent.hello();
    agent.say("1", "go");
    let all = agent.all("1");
    let changed = "the tools of the MCP server `test` have changed: 9 tools";
    assert_eq!(notices(&all), [changed], "{all:#?}");
    let known = servers(&mut agent);
    assert_eq!((&known[0]["state"], &known[0]["tools"]), (&json!("ready"), &json!(9)));
    assert_eq!(known[0]["text"], "is ready: 9 tools");
}

/// An event of 33 MiB that nobody asked for is left out, and what follows it is read.
#[test]
fn a_long_event_does_not_end_the_stream_of_a_server() {
    let mut command = Command::new(PYTHON);
    command.arg(script("mcp_http_server.py"));
    let mut server = Piped::spawn(command);
    let port = server.recv();
    let fake = Messages::start(std::iter::repeat_n(Turn::text("yes"), 500));
    let config = format!("[agent.mcp_servers.far]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
    let mut agent = Setup::on(&fake).config(&config).start();
    agent.hello();
    let has_two = |agent: &mut Runtime| servers(agent)[0]["tools"] == json!(2);
    let mut number = 0;
    until("the second tool", || {
        number += 1;
        assert_eq!(agent.answer(&number.to_string(), "hello"), "yes");
        has_two(&mut agent)
    });
    agent.piped.close_stdin();
    agent.rest();
    let log = agent.piped.stderr();
    assert!(log.contains("more than 32 MiB, which was left out"), "{log}");
}
