//! Concurrent requests: which wait, which do not, and how they are stopped.

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Setup, words};

#[test]
fn messages_of_one_conversation_are_answered_in_their_order() {
    let turns = (0..5).map(|number| Turn::text(format!("answer {number}")));
    let fake = Messages::start(turns);
    let mut agent = Setup::on(&fake).start();
    for number in 0..5 {
        agent.say(&number.to_string(), &format!("message {number}"));
    }
    let mut all = Vec::new();
    while all.iter().filter(|line: &&Value| line["type"] == "done").count() < 5 {
        all.push(agent.next());
    }
    let ids: Vec<&str> = all.iter().map(|line| line["id"].as_str().unwrap()).collect();
    let mut in_order = ids.clone();
    in_order.sort_unstable();
    assert_eq!(ids, in_order, "one is answered to its end before the next begins");
    for number in 0..5 {
        let id = number.to_string();
        let of: Vec<Value> = all.iter().filter(|line| line["id"] == id).cloned().collect();
        assert_eq!(words(&of), format!("answer {number}"));
    }
    fake.assert_played();
}

#[test]
fn conversations_run_side_by_side_and_do_not_mix() {
    let fake = Messages::start([]);
    fake.conversation("first here", [Turn::text("slow").stall_after(6)]);
    fake.conversation("second here", [Turn::text("quick"), Turn::text("again")]);
    let mut agent = Setup::on(&fake).start();
    agent.say_in("one", "1", "first here");
    agent.until("1", "token");
    agent.say_in("two", "2", "second here");
    let all = agent.all("2");
    assert_eq!(words(&all), "quick");
    agent.say_in("two", "3", "go on");
    assert_eq!(words(&agent.all("3")), "again");
    let last = fake.requests().pop().unwrap();
    assert!(!last.body.to_string().contains("first here"), "conversations were mixed");
}

#[test]
fn clear_history_waits_its_turn_and_what_follows_finds_nothing() {
    let fake = Messages::start([Turn::text("one"), Turn::text("two")]);
    let mut agent = Setup::on(&fake).start();
    agent.say("1", "remember me");
    agent.send(&json!({"id": "c", "kind": "clear_history"}));
    agent.say("2", "who am I?");
    assert_eq!(words(&agent.all("1")), "one");
    assert_eq!(agent.end("c")["type"], "done");
    assert_eq!(words(&agent.all("2")), "two");
    let messages = fake.last().body["messages"].to_string();
    assert!(!messages.contains("remember me"), "{messages}");
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["conversationLength"], 2);
}

#[test]
fn cancel_ends_a_request_with_done_and_the_conversation_goes_on() {
    let fake =
        Messages::start([Turn::text("Hello there").pieces(6).stall_after(6), Turn::text("yes")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "hello");
    agent.say("2", "waits");
    agent.until("1", "token");
    agent.send(&json!({"id": "c2", "kind": "cancel", "target": "2"}));
    assert_eq!(agent.end("2")["data"]["stopReason"], "cancelled");
    assert_eq!(agent.end("c2")["type"], "done");
    agent.send(&json!({"id": "c1", "kind": "cancel", "target": "1"}));
    assert_eq!(agent.end("1")["data"]["stopReason"], "cancelled");
    assert_eq!(agent.end("c1")["type"], "done");
    let unknown = agent.ask(&json!({"id": "c3", "kind": "cancel", "target": "1"}));
    assert_eq!(unknown["type"], "error");
    // What was said before the cancel is known to the model, and accepted by it.
    assert_eq!(agent.answer("3", "are you there?"), "yes");
    let messages = fake.last().body["messages"].to_string();
    assert!(messages.contains("Hello") && messages.contains("are you there?"), "{messages}");
}

#[test]
fn a_cancelled_tool_is_stopped_with_its_processes() {
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "./job"})),
        Turn::text("stopped it"),
    ]);
    let mut agent = Setup::on(&fake).runs().script("job", "echo started; exec sleep 300").start();
    agent.hello();
    agent.say("1", "run it");
    agent.until("1", "tool_progress");
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    let all = agent.all("1");
    let kinds: Vec<_> = all.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result", "done"], "{all:#?}");
    assert_eq!(all[0]["data"]["isError"], true);
    // The strict service takes the history with the tool that was stopped.
    assert_eq!(agent.answer("2", "what happened?"), "stopped it");
    assert!(fake.last().tool_results().is_empty() || fake.last().tool_results()[0].is_error);
}

#[test]
fn too_many_open_requests_are_refused() {
    let fake = Messages::start([Turn::text("Hello").stall_after(6)]);
    let mut agent = Setup::on(&fake).start();
    for number in 0..64 {
        agent.say(&number.to_string(), "hello");
    }
    agent.say("one more", "hello");
    let refused = agent.next_of("one more");
    assert_eq!(refused["type"], "error");
    assert!(refused["error"].as_str().unwrap().contains("64"), "{refused}");
}
