//! Commands in the background: what the gate sees of them, and how they end.

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::proc::is_running;
use callgate_testkit::until::until;
use serde_json::json;

use crate::fixture::Setup;

const RULES: &str = r#"
[[rule]]
name = "run"
decide = "allow"
command = "*"

[[rule]]
name = "no pushing"
decide = "deny"
command = "git push *"
"#;

#[test]
fn a_line_that_is_written_to_a_command_is_judged_like_a_command() {
    let write =
        |line: &str| Turn::tool_use("write_to_command", json!({"id": "command-1", "line": line}));
    let fake = Messages::start([
        Turn::tool_use("start_command", json!({"command": "sh"})),
        write("cd /tmp && git push origin"),
        write("touch made.txt; echo done"),
        Turn::tool_use("read_command", json!({"id": "command-1", "waitSeconds": 30})),
        Turn::tool_use("stop_command", json!({"id": "command-1"})),
        Turn::text("so be it"),
    ]);
    let mut agent = Setup::on(&fake).rules(RULES).start();
    agent.hello();
    agent.say("1", "do it");
    // A rule allows every command, but nothing is known of the shell into which this is typed.
    let request = agent.until("1", "permission_request");
    let data = &request["data"];
    assert_eq!(
        (&data["toolName"], &data["title"]),
        (&json!("write_to_command"), &json!("touch made.txt; echo done"))
    );
    assert_eq!(data["card"]["body"]["type"], "command", "{data}");
    assert!(!agent.setup.work().join("made.txt").exists());
    let question = &data["question"];
    let allow =
        json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "allow"});
    assert_eq!(agent.ask(&allow)["type"], "done");
    assert_eq!(agent.end("1")["type"], "done");
    let results = fake.requests().into_iter().flat_map(|request| request.tool_results());
    let results: Vec<String> = results.map(|result| result.text).collect();
    let has = |part: &str| results.iter().any(|text| text.contains(part));
    assert!(has("denied by rule `no pushing`"), "{results:#?}");
    assert!(has("command-1 is running\ndone\n"), "{results:#?}");
    assert!(has("command-1 was ended by the signal"), "{results:#?}");
    assert!(agent.setup.work().join("made.txt").exists());
}

/// The shell and what it has started, by their ids.
fn started(end: &str) -> (crate::fixture::Runtime, Vec<u32>) {
    let input = json!({"command": "./job"});
    let fake = Messages::start([
        Turn::tool_use("start_command", input),
        Turn::tool_use("read_command", json!({"id": "command-1", "waitSeconds": 30})),
        Turn::text(end),
    ]);
    let mut agent = Setup::on(&fake).runs().script("job", "sleep 300 & echo $$ $!; wait").start();
    agent.hello();
    agent.say("1", "run it");
    agent.until("1", "tool_result");
    let read = agent.until("1", "tool_result");
    let output = read["data"]["result"]["output"].as_str().unwrap();
    let pids: Vec<u32> = output.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2, "{read}");
    assert_eq!(agent.end("1")["type"], "done");
    assert!(pids.iter().all(|pid| is_running(*pid)), "they outlive their turn");
    (agent, pids)
}

fn assert_gone(pids: &[u32]) {
    until(&format!("the end of {pids:?}"), || !pids.iter().any(|pid| is_running(*pid)));
}

#[test]
fn commands_end_with_the_session() {
    let (agent, pids) = started("It runs.");
    assert!(agent.finish().1.success());
    assert!(pids.iter().all(|pid| !is_running(*pid)), "{pids:?}");
}

#[test]
fn commands_end_when_the_runtime_is_killed() {
    let (agent, pids) = started("It runs.");
    agent.kill();
    assert_gone(&pids);
}
