//! The real Claude Code CLI under control: cancelled, steered, in each mode, and what it reports
//! while it works.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::Turn;
use serde_json::{Value, json};

use crate::engines::claude_code::{Stage, agent_conversation, of_type, runs, say_and_answer};
use crate::fixture::{Runtime, kinds, words};

/// A command that ends only if it is stopped.
const FOREVER: &str = "until false; do sleep 1; done";
/// What the prompt of a new session begins with in a conversation that has a past.
const TOLD: &str = "This is what was said";

fn cancel(agent: &mut Runtime, target: &str) {
    agent.send(&json!({"id": "c", "kind": "cancel", "target": target}));
    assert_eq!(agent.end("c")["type"], "done");
}

/// Checks that the last request is of the session in which all this was said.
fn assert_same_session(stage: &Stage, said: &[&str]) {
    let last = stage.fake.last().body["messages"].to_string();
    assert!(!last.contains(TOLD), "it knows by itself: {last}");
    for said in said {
        assert!(last.contains(said), "{said}: {last}");
    }
}

#[test]
fn cancel_interrupts_a_tool_and_the_session_goes_on() {
    let turns = [Turn::text("First."), runs(FOREVER), Turn::text("Third.")];
    let Some(stage) = Stage::new(turns) else { return };
    let mut agent = stage.setup.clone().runs().start();
    agent.hello();
    agent.say("1", "one");
    assert_eq!(words(&agent.all("1")), "First.");
    agent.say("2", "two");
    agent.until("2", "tool_use");
    cancel(&mut agent, "2");
    let all = agent.all("2");
    assert_eq!(all.last().unwrap()["data"]["stopReason"], "cancelled", "{all:#?}");
    let results = of_type(&all, "tool_result");
    assert_eq!(results.len(), 1, "{all:#?}");
    assert_eq!(results[0]["data"]["isError"], true, "{all:#?}");
    assert_eq!(results[0]["data"]["result"], json!({"error": "stopped by the user"}));
    agent.say("3", "three");
    assert_eq!(words(&agent.all("3")), "Third.");
    assert_same_session(&stage, &["one", "First.", "two", "interrupted by user", "three"]);
    agent.finish();
}

#[test]
fn cancel_interrupts_an_answer_and_its_session_goes_on_after_a_restart() {
    let stalled = Turn::text("Half of an answer").pieces(4).stall_after(5);
    let Some(stage) = Stage::new([stalled, Turn::text("Second.")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    agent.say("1", "one");
    agent.until("1", "token");
    cancel(&mut agent, "1");
    let end = agent.end("1");
    assert_eq!(end["data"]["stopReason"], "cancelled", "{end}");
    agent.finish();
    let mut agent = stage.setup.clone().arg("--resume").start();
    agent.hello();
    agent.say("2", "two");
    assert_eq!(words(&agent.all("2")), "Second.");
    assert_same_session(&stage, &["one", "Half", "interrupted by user", "two"]);
}

#[test]
fn cancel_withdraws_a_question_and_the_session_goes_on() {
    let Some(stage) = Stage::new([runs("touch it"), Turn::text("Second.")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello();
    agent.say("1", "one");
    let question = agent.until("1", "permission_request")["data"]["question"].clone();
    cancel(&mut agent, "1");
    assert_eq!(agent.end("1")["data"]["stopReason"], "cancelled");
    let late = agent.ask(&json!({"id": "a", "kind": "permission_answer", "question": question,
        "decision": "allow"}));
    assert_eq!(late["type"], "error", "{late}");
    agent.say("2", "two");
    assert_eq!(words(&agent.all("2")), "Second.");
    assert!(!stage.setup.work().join("it").exists());
    assert_same_session(&stage, &["one", "touch it", "two"]);
}

/// A CLI that hears no interrupt is ended, and the next one is told what was said.
#[test]
fn a_cli_that_does_not_obey_is_ended() {
    let Some(stage) = Stage::new([runs(FOREVER), Turn::text("Second.")]) else { return };
    let Some(cli) = Claude::find() else { return };
    let deaf = stage.setup.home().join("deaf");
    let script = format!(
        "#!/bin/sh\ngrep --line-buffered -v '\"subtype\":\"interrupt\"' | {} \"$@\"\n",
        cli.display()
    );
    fs::write(&deaf, script).unwrap();
    fs::set_permissions(&deaf, fs::Permissions::from_mode(0o755)).unwrap();
    let setup = stage.setup.clone().runs().env("CALLGATE_AGENT_CLAUDE_CLI", deaf.to_str().unwrap());
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "one");
    agent.until("1", "tool_use");
    cancel(&mut agent, "1");
    let all = agent.all("1");
    assert_eq!(all.last().unwrap()["data"]["stopReason"], "cancelled", "{all:#?}");
    assert_eq!(of_type(&all, "tool_result").len(), 1, "{all:#?}");
    agent.say("2", "two");
    assert_eq!(words(&agent.all("2")), "Second.");
    assert!(stage.fake.last().body["messages"].to_string().contains(TOLD));
}

#[test]
fn each_turn_reports_what_it_has_cost() {
    let turns = ["First.", "Second.", "Third."].map(Turn::text);
    let Some(stage) = Stage::new(turns) else { return };
    let mut agent = stage.setup.start();
    agent.hello_with(&["usage"]);
    let mut costs = Vec::new();
    let mut say = |agent: &mut Runtime, id: &str| {
        agent.say(id, "Go");
        let all = agent.all(id);
        let cost = all.last().unwrap()["data"]["cost"].as_f64();
        let report = of_type(&all, "usage").pop().unwrap()["data"]["cost"].as_f64();
        assert_eq!(report, cost, "{all:#?}");
        costs.push(cost.unwrap_or_else(|| panic!("no cost: {all:#?}")));
    };
    say(&mut agent, "1");
    say(&mut agent, "2");
    agent.finish();
    let mut agent = stage.setup.clone().arg("--resume").start();
    agent.hello_with(&["usage"]);
    say(&mut agent, "3");
    // The CLI counts from the beginning of its session; a turn has its own cost only.
    assert!(costs[0] > 0.0, "{costs:?}");
    for cost in &costs[1..] {
        assert!((cost / costs[0] - 1.0).abs() < 0.5, "{costs:?}");
    }
}

#[test]
fn its_usage_is_told_in_every_round_and_its_context_is_that_of_the_last() {
    let turns = [runs("true"), runs("true"), Turn::text("Done.")];
    let Some(stage) = Stage::new(turns) else { return };
    let mut agent = stage.setup.clone().runs().start();
    agent.hello_with(&["usage"]);
    agent.say("1", "Go");
    let all = agent.all("1");
    // Each response of the fake reads 10 tokens and writes 5.
    let reports: Vec<[u64; 3]> = of_type(&all, "usage")
        .iter()
        .map(|line| {
            let count = |name: &str| line["data"][name].as_u64().unwrap();
            [count("inputTokens"), count("outputTokens"), count("contextTokens")]
        })
        .collect();
    for expected in [[10, 5, 15], [20, 10, 15], [30, 15, 15]] {
        assert!(reports.contains(&expected), "{expected:?}: {reports:?}");
    }
    assert_eq!(reports.last().unwrap(), &[30, 15, 15], "{reports:?}");
    assert!(reports.iter().all(|[_, _, context]| *context <= 15), "{reports:?}");
    let place = |kind: &str| kinds(&all).iter().position(|it| *it == kind).unwrap();
    assert!(place("usage") < place("tool_result"), "{all:#?}");
}

#[test]
fn the_input_of_its_tools_is_shown_while_it_is_written() {
    let input = json!({"path": ".", "pattern": "a rather long pattern"});
    let turn = Turn::tool_use("mcp__callgate__search_files", input.clone()).pieces(7);
    let Some(stage) = Stage::new([turn, Turn::text("None.")]) else { return };
    let mut agent = stage.setup.start();
    agent.hello_with(&["tool_input"]);
    agent.say("1", "Find it");
    let all = agent.all("1");
    let pieces = of_type(&all, "tool_input");
    assert!(pieces.len() > 1, "{all:#?}");
    let written: String = pieces.iter().filter_map(|line| line["data"]["text"].as_str()).collect();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), input, "{all:#?}");
    let call = of_type(&all, "tool_use")[0]["data"].clone();
    for piece in pieces {
        assert_eq!(piece["data"]["toolId"], call["toolId"], "{all:#?}");
        assert_eq!(piece["data"]["toolName"], "search_files", "{all:#?}");
    }
    assert!(
        kinds(&all).iter().position(|kind| *kind == "tool_input")
            < kinds(&all).iter().position(|kind| *kind == "tool_use")
    );
}

#[test]
fn a_message_that_steers_is_read_with_the_result_of_its_tool() {
    let turns = [runs("./job"), Turn::text("As you wish."), Turn::text("And on.")];
    let Some(stage) = Stage::new(turns) else { return };
    let setup = stage.setup.clone().runs().script("job", "read line < go; echo done");
    let mut agent = setup.pipe("go").start();
    agent.hello();
    agent.say("1", "do it");
    agent.until("1", "tool_use");
    agent.send(&json!({"id": "2", "kind": "user_message", "message": "only the first part",
        "steer": true}));
    assert_eq!(agent.next_of("2")["data"]["kind"], "queued");
    fs::write(stage.setup.work().join("go"), "go\n").unwrap();
    let all = agent.all("1");
    assert_eq!(words(&all), "As you wish.", "{all:#?}");
    let told = of_type(&all, "user_message");
    assert_eq!(told.len(), 1, "{all:#?}");
    assert_eq!(told[0]["data"]["message"], "only the first part");
    assert_eq!(agent.end("2")["data"]["stopReason"], "steered");
    let requests = stage.fake.main_requests();
    assert_eq!(requests.len(), 2, "it is read in the next round, not in another turn");
    assert!(requests[1].body["messages"].to_string().contains("only the first part"));
    let conversation = agent_conversation(&mut agent);
    let loaded = Value::from(agent.load(&conversation)).to_string();
    assert!(loaded.contains("only the first part"), "{loaded}");
    agent.say("3", "go on");
    assert_eq!(words(&agent.all("3")), "And on.");
    assert_same_session(&stage, &["do it", "only the first part", "As you wish.", "go on"]);
}

#[test]
fn in_plan_mode_it_reads_unasked_and_changes_nothing() {
    let read = |stage: &Stage| {
        let path = stage.setup.work().join("a.txt");
        Turn::tool_use("Read", json!({"file_path": path}))
    };
    let Some(stage) = Stage::new([]) else { return };
    stage.fake.extend([
        read(&stage),
        runs("touch it"),
        Turn::text("A plan."),
        runs("touch it"),
        Turn::text("Done."),
    ]);
    let mut agent = stage.setup.clone().file("a.txt", "some text").start();
    agent.hello();
    agent.ask(&json!({"id": "m", "kind": "set_mode", "mode": "plan"}));
    let all = say_and_answer(&mut agent, "1", "Go", "allow");
    assert_eq!(words(&all), "A plan.", "{all:#?}");
    let failed: Vec<bool> =
        of_type(&all, "tool_result").iter().map(|it| it["data"]["isError"] == true).collect();
    assert_eq!(failed, [false, true], "{all:#?}");
    assert!(!kinds(&all).contains(&"permission_request"), "{all:#?}");
    let told = stage.told();
    assert!(told[0].contains("some text") && told[1].contains("plan mode"), "{told:?}");
    assert!(!stage.setup.work().join("it").exists());
    assert!(stage.fake.last().body.to_string().contains("You are in plan mode"));
    // Back in the mode `ask`, somebody is asked, and the session is the same.
    agent.ask(&json!({"id": "m2", "kind": "set_mode", "mode": "ask"}));
    let all = say_and_answer(&mut agent, "2", "Now do it", "allow");
    assert_eq!(of_type(&all, "permission_request").len(), 1, "{all:#?}");
    assert!(stage.setup.work().join("it").exists());
    assert_same_session(&stage, &["A plan.", "Now do it"]);
}

#[test]
fn its_tools_for_files_are_told_like_our_own() {
    let Some(stage) = Stage::new([]) else { return };
    let path = stage.setup.work().join("a.txt");
    let edit = json!({"file_path": path, "old_string": "two", "new_string": "three"});
    let new = stage.setup.work().join("b.txt");
    stage.fake.extend([
        Turn::tool_use("Read", json!({"file_path": path})),
        Turn::tool_use("Edit", edit),
        Turn::tool_use("Write", json!({"file_path": new, "content": "x\n"})),
        Turn::text("Done."),
    ]);
    let mut agent = stage.setup.clone().file("a.txt", "one\ntwo\n").start();
    agent.hello();
    let all = say_and_answer(&mut agent, "1", "Go", "allow");
    assert_eq!(words(&all), "Done.", "{all:#?}");
    let results: Vec<&Value> =
        of_type(&all, "tool_result").iter().map(|it| &it["data"]["result"]).collect();
    assert_eq!(results[0]["totalLines"], 2, "{all:#?}");
    assert_eq!(results[0]["content"], "one\ntwo\n", "{all:#?}");
    let name = path.display();
    let diff = format!("--- {name}\n+++ {name}\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
    assert_eq!(*results[1], json!({"path": path, "diff": diff}));
    assert_eq!(*results[2], json!({"path": new, "bytes": 2, "lines": 1, "created": true}));
    let announced: Vec<(&Value, &Value)> = of_type(&all, "tool_use")
        .iter()
        .map(|call| (&call["data"]["kind"], &call["data"]["locations"]))
        .collect();
    let at = |path: &std::path::Path| json!([{ "path": path }]);
    let (read, edit) = (json!("read"), json!("edit"));
    let edited = json!([{"path": path, "line": 2}]);
    let expected = [(&read, &at(&path)), (&edit, &edited), (&edit, &at(&new))];
    assert_eq!(announced, expected, "{all:#?}");
    // Whoever is asked sees what would change.
    let asked = of_type(&all, "permission_request");
    let diffs: Vec<&str> =
        asked.iter().filter_map(|asked| asked["data"]["diff"].as_str()).collect();
    assert_eq!(diffs.len(), 2, "{asked:#?}");
    assert!(diffs[0].contains(" one\n-two\n+three"), "{}", diffs[0]);
    assert!(diffs[1].contains("+x"), "{}", diffs[1]);
}

#[test]
fn in_auto_mode_nobody_is_asked_and_rules_alone_decide_about_it() {
    let turns = [runs("touch denied"), runs("touch allowed"), Turn::text("So be it.")];
    let Some(stage) = Stage::new(turns) else { return };
    let rule = "[[rule]]\nname = \"yes\"\ndecide = \"allow\"\ncommand = \"touch allowed\"\n";
    let mut agent = stage.setup.clone().rules(rule).start();
    agent.hello();
    agent.ask(&json!({"id": "m", "kind": "set_mode", "mode": "auto"}));
    agent.say("1", "Go");
    let all = agent.all("1");
    assert_eq!(words(&all), "So be it.", "{all:#?}");
    assert!(!kinds(&all).contains(&"permission_request"), "{all:#?}");
    let work = stage.setup.work();
    assert!(work.join("allowed").exists() && !work.join("denied").exists());
    assert!(stage.told()[0].contains("no rule allows this"), "{:?}", stage.told());
}
