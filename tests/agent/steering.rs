//! Steering, modes, forks and rewinds, and what a turn tells about itself while it runs.

use std::fs;

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, kinds, words};

/// A tool that runs until the test lets it end.
fn waits() -> Turn {
    Turn::tool_use("run_shell_command", json!({"command": "./job"}))
}

/// A runtime whose `./job` waits for a line in the pipe `go`.
fn with_job(fake: &Messages) -> Runtime {
    let setup = Setup::on(fake).runs().script("job", "echo begun; read line < go; echo done");
    let mut agent = setup.pipe("go").start();
    agent.hello();
    agent
}

fn let_go(agent: &Runtime) {
    fs::write(agent.setup.work().join("go"), "go\n").unwrap();
}

fn steer(agent: &mut Runtime, id: &str, message: &str) {
    agent.send(&json!({"id": id, "kind": "user_message", "message": message, "steer": true}));
}

#[test]
fn a_message_that_steers_is_read_in_the_next_round() {
    let fake = Messages::start([waits(), Turn::text("as you wish"), Turn::text("and on")]);
    let mut agent = with_job(&fake);
    agent.say("1", "do it");
    agent.until("1", "tool_progress");
    steer(&mut agent, "2", "only the first part");
    steer(&mut agent, "3", "and quickly");
    assert_eq!(agent.next_of("2")["data"]["kind"], "queued");
    assert_eq!(agent.next_of("3")["data"]["kind"], "queued");
    let_go(&agent);
    let all = agent.all("1");
    let told: Vec<&Value> = all.iter().filter(|line| line["type"] == "user_message").collect();
    assert_eq!(told.len(), 2, "{all:#?}");
    assert_eq!(told[0]["data"]["message"], "only the first part");
    assert_eq!(words(&all), "as you wish");
    for id in ["2", "3"] {
        assert_eq!(agent.end(id)["data"]["stopReason"], "steered");
    }
    // Nothing of it is left: the runtime is idle, and there is nothing to cancel.
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["state"], "idle", "{status}");
    let cancel = agent.ask(&json!({"id": "c", "kind": "cancel", "target": "2"}));
    assert_eq!(cancel["data"]["kind"], "not_found", "{cancel}");
    let last = fake.last().body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"][0]["type"], "tool_result", "{last}");
    assert_eq!(last["content"][1]["text"], "only the first part", "{last}");
    assert_eq!(last["content"][2]["text"], "and quickly", "{last}");
    // It is part of the conversation, for the model and for a front end that loads it.
    agent.say("4", "go on");
    assert_eq!(words(&agent.all("4")), "and on");
    assert!(fake.last().body["messages"].to_string().contains("only the first part"));
    fake.assert_played();
}

#[test]
fn a_message_that_comes_too_late_to_steer_is_answered_as_any_other() {
    let fake = Messages::start([
        Turn::text("first").pieces(6).stall_after(6),
        Turn::text("second"),
        Turn::text("third"),
    ]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "hello");
    agent.until("1", "token");
    steer(&mut agent, "2", "wait");
    assert_eq!(agent.next_of("2")["data"]["kind"], "queued");
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    assert_eq!(agent.end("1")["data"]["stopReason"], "cancelled");
    assert_eq!(words(&agent.all("2")), "second");
    // Without a turn it is an ordinary message at once.
    steer(&mut agent, "3", "hello");
    assert_eq!(words(&agent.all("3")), "third");
    fake.assert_played();
}

#[test]
fn a_message_that_waits_to_steer_can_be_cancelled_and_a_bad_one_fails_alone() {
    let fake = Messages::start([waits(), Turn::text("done")]);
    let mut agent = with_job(&fake);
    agent.say("1", "do it");
    agent.until("1", "tool_progress");
    steer(&mut agent, "2", "never mind");
    agent.send(&json!({
        "id": "3", "kind": "user_message", "message": "see this", "steer": true,
        "attachments": [{"path": "nowhere.txt", "mime": "text/plain"}],
    }));
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "2"}));
    assert_eq!(agent.end("2")["data"]["stopReason"], "cancelled");
    assert_eq!(agent.end("c")["type"], "done");
    let_go(&agent);
    assert_eq!(words(&agent.all("1")), "done");
    assert_eq!(agent.end("3")["data"]["kind"], "attachment");
    assert_eq!(agent.ask(&json!({"id": "s", "kind": "get_status"}))["data"]["state"], "idle");
    let sent = fake.last().body["messages"].to_string();
    assert!(!sent.contains("never mind") && !sent.contains("see this"), "{sent}");
}

#[test]
fn in_plan_mode_nothing_is_changed_and_the_model_is_told() {
    let fake = Messages::start([
        Turn::tool_use("list_files", json!({"path": "."})),
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"})),
        Turn::text("This is my plan."),
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"})),
        Turn::text("written"),
    ]);
    let mut agent = Setup::on(&fake).writes().start();
    agent.hello();
    let set = agent.ask(&json!({"id": "m", "kind": "set_mode", "mode": "plan"}));
    assert_eq!(set["data"]["mode"], "plan", "{set}");
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["mode"], "plan");
    assert_eq!(status["data"]["conversationId"], set["data"]["conversationId"]);
    agent.say("1", "change a.txt");
    let all = agent.all("1");
    let results: Vec<&Value> = all.iter().filter(|line| line["type"] == "tool_result").collect();
    assert_eq!(results[0]["data"]["isError"], false, "{all:#?}");
    let refused = results[1]["data"]["result"]["error"].as_str().unwrap();
    assert!(refused.contains("plan mode"), "{refused}");
    let system = fake.last().body["system"].to_string();
    assert!(!system.contains("plan mode"), "a mode does not change the cached beginning: {system}");
    let told = |text: &str| fake.last().body["messages"].to_string().matches(text).count();
    assert_eq!(told("You are in plan mode"), 1);
    assert!(!agent.setup.work().join("a.txt").exists());

    // Another runtime finds the conversation in the same mode.
    let conversation = set["data"]["conversationId"].as_str().unwrap();
    let mut agent = agent.kill().start();
    agent.hello();
    let loaded = json!(agent.load(conversation)).to_string();
    assert!(!loaded.contains("You are in plan mode"), "nobody has typed that: {loaded}");
    let load = json!({"id": "e", "kind": "load_conversation", "conversationId": conversation,
        "as": "events"});
    agent.send(&load);
    let events = agent.all("e");
    let said = events.iter().find(|event| event["type"] == "user_message").unwrap();
    assert_eq!(said["data"]["message"], "change a.txt");
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["mode"], "plan");

    agent.ask(&json!({"id": "m2", "kind": "set_mode", "mode": "ask"}));
    agent.say("2", "now do it");
    assert_eq!(words(&agent.all("2")), "written");
    assert_eq!(fake.last().body["system"].to_string(), system);
    let told = |text: &str| fake.last().body["messages"].to_string().matches(text).count();
    assert_eq!((told("You are in plan mode"), told("Plan mode is over")), (1, 1));
    assert!(agent.setup.work().join("a.txt").exists(), "a rule allows it");
    fake.assert_played();
}

#[test]
fn in_auto_mode_nobody_is_asked_and_rules_alone_decide() {
    let fake = Messages::start([
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"})),
        Turn::tool_use("run_shell_command", json!({"command": "true"})),
        Turn::text("so be it"),
    ]);
    let mut agent = Setup::on(&fake).runs().start();
    agent.hello();
    agent.ask(&json!({"id": "m", "kind": "set_mode", "mode": "auto"}));
    agent.say("1", "go");
    let all = agent.all("1");
    assert!(!kinds(&all).contains(&"permission_request"), "{all:#?}");
    let results: Vec<&Value> = all.iter().filter(|line| line["type"] == "tool_result").collect();
    let denied = results[0]["data"]["result"]["error"].as_str().unwrap();
    assert!(denied.contains("no rule allows this"), "{denied}");
    assert_eq!(results[1]["data"]["isError"], false, "a rule allows it");
    assert!(!agent.setup.work().join("a.txt").exists());
    let unknown = agent.ask(&json!({"id": "m2", "kind": "set_mode", "mode": "yolo"}));
    assert!(unknown["error"].as_str().unwrap().contains("ask, plan or auto"), "{unknown}");
}

/// A runtime that has answered three messages in the conversation `c`.
fn three(fake: &Messages) -> Runtime {
    let mut agent = Setup::on(fake).start();
    agent.hello();
    for number in ["one", "two", "three"] {
        agent.say_in("c", number, number);
        agent.end(number);
    }
    agent
}

fn texts(agent: &mut Runtime, conversation: &str) -> String {
    let load = json!({"id": "l", "kind": "load_conversation", "conversationId": conversation});
    let loaded = agent.ask(&load);
    let messages = loaded["data"]["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"][0]["text"].as_str().unwrap().to_owned();
    messages.iter().map(text).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_conversation_is_forked_at_any_message_and_both_go_on() {
    let answers = ["1", "2", "3", "other", "4"].map(Turn::text);
    let fake = Messages::start(answers);
    let mut agent = three(&fake);
    let fork = json!({"id": "f", "kind": "fork_conversation", "conversationId": "c", "length": 2,
        "title": "Another way"});
    let forked = agent.ask(&fork);
    let copy = forked["data"]["conversationId"].as_str().unwrap().to_owned();
    assert_eq!(forked["data"]["length"], 2, "{forked}");
    // The copy is the current conversation.
    agent.say("x", "instead");
    assert_eq!(words(&agent.all("x")), "other");
    assert_eq!(fake.last().body["messages"].as_array().unwrap().len(), 3);
    assert_eq!(texts(&mut agent, &copy), "one 1 instead other");
    assert_eq!(texts(&mut agent, "c"), "one 1 two 2 three 3");
    agent.say_in("c", "y", "four");
    assert_eq!(words(&agent.all("y")), "4");
    let whole = json!({"id": "g", "kind": "fork_conversation", "conversationId": "c"});
    assert_eq!(agent.ask(&whole)["data"]["length"], 8);
    for (length, conversation) in [(1, "c"), (99, "c"), (0, "nowhere")] {
        let bad = json!({"id": "b", "kind": "fork_conversation", "conversationId": conversation,
            "length": length});
        assert_eq!(agent.ask(&bad)["type"], "error", "{bad}");
    }
    let list = agent.ask(&json!({"id": "i", "kind": "list_conversations"}));
    let titles = list["data"]["conversations"].to_string();
    assert!(titles.contains("Another way"), "{titles}");
}

#[test]
fn a_conversation_is_rewound_and_goes_on_from_there() {
    let fake = Messages::start(["1", "2", "3", "again"].map(Turn::text));
    let mut agent = three(&fake);
    let rewind =
        |length: u64| json!({"id": "r", "kind": "rewind", "conversationId": "c", "length": length});
    assert_eq!(agent.ask(&rewind(3))["type"], "error", "it would begin with an answer");
    let rewound = agent.ask(&rewind(2));
    assert_eq!(rewound["data"], json!({"kind": "rewind", "conversationId": "c", "length": 2}));
    agent.say_in("c", "x", "instead");
    assert_eq!(words(&agent.all("x")), "again");
    let sent = fake.last().body["messages"].clone();
    assert_eq!(sent.as_array().unwrap().len(), 3, "{sent}");
    assert_eq!(texts(&mut agent, "c"), "one 1 instead again");
    assert_eq!(agent.ask(&rewind(0))["data"]["length"], 0);
}

#[test]
fn a_turn_tells_its_usage_and_the_input_of_its_tools_while_it_runs() {
    let input = json!({"path": ".", "pattern": "a rather long pattern"});
    let fake = Messages::start([Turn::tool_use("search_files", input.clone()), Turn::text("none")]);
    let mut agent = Setup::on(&fake).env("ANTHROPIC_MODEL", "claude-sonnet-4-5").start();
    agent.hello_with(&["usage", "tool_input"]);
    agent.say("1", "find it");
    let all = agent.all("1");
    let pieces = all.iter().filter(|line| line["type"] == "tool_input");
    let written: String = pieces.clone().filter_map(|line| line["data"]["text"].as_str()).collect();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), input, "{all:#?}");
    let of = |kind: &str| all.iter().position(|line| line["type"] == kind).unwrap();
    assert!(of("tool_input") < of("tool_use"), "{all:#?}");
    let call = &all[of("tool_use")]["data"]["toolId"];
    assert!(pieces.clone().all(|line| line["data"]["toolId"] == *call), "{all:#?}");

    let reports: Vec<&Value> = all.iter().filter(|line| line["type"] == "usage").collect();
    assert!(reports.len() >= 2, "{all:#?}");
    let (last, end) = (&reports.last().unwrap()["data"], &all.last().unwrap()["data"]);
    for field in ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] {
        assert_eq!(last[field], end["usage"][field], "{field}: {last} {end}");
    }
    assert_eq!(last["cost"], end["cost"]);
    assert!(last["contextTokens"].as_u64().unwrap() > 0, "{last}");
    assert!(last["contextWindow"].as_u64().unwrap() > 0, "{last}");
}

#[test]
fn a_front_end_that_has_not_asked_for_them_gets_neither_usage_nor_input() {
    let turn = || Turn::tool_use("list_files", json!({"path": "."}));
    let fake = Messages::start([turn(), Turn::text("a"), turn(), Turn::text("b")]);
    let mut agent = Setup::on(&fake).start();
    agent.say("1", "hello");
    let plain = agent.all("1");
    agent.hello_with(&["notice"]);
    agent.say("2", "hello");
    for line in plain.iter().chain(&agent.all("2")) {
        assert!(line["type"] != "usage" && line["type"] != "tool_input", "{line}");
    }
}
