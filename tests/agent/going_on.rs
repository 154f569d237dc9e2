//! Conversations that go on: summarised on request, and without what the provider refuses.

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, words};

fn notices(all: &[Value]) -> Vec<&str> {
    let notices = all.iter().filter(|event| event["type"] == "notice");
    notices.filter_map(|event| event["data"]["kind"].as_str()).collect()
}

fn request(agent: &mut Runtime, kind: &str) -> Vec<Value> {
    agent.send(&json!({"id": kind, "kind": kind, "conversationId": "it"}));
    agent.all(kind)
}

fn said(agent: &mut Runtime, id: &str, text: &str) -> String {
    agent.say_in("it", id, text);
    words(&agent.all(id))
}

#[test]
fn a_conversation_is_summarised_on_request_and_goes_on() {
    let fake = Messages::start([
        Turn::text("1"),
        Turn::refused(400, "invalid_request_error"),
        Turn::text("2"),
        Turn::text("the story so far"),
        Turn::text("3"),
    ]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    let nothing = request(&mut agent, "compact");
    assert_eq!(nothing[0]["data"]["kind"], "not_found", "{nothing:#?}");
    said(&mut agent, "a", "one");
    let failed = request(&mut agent, "compact");
    assert_eq!(failed.last().unwrap()["data"]["kind"], "no_summary", "{failed:#?}");
    said(&mut agent, "b", "two");
    assert_eq!(fake.last().user_text(), "one\ntwo", "nothing has changed");
    let all = request(&mut agent, "compact");
    assert_eq!(notices(&all), ["compacted"], "{all:#?}");
    let end = json!({"kind": "compact", "conversationId": "it", "replaced": 4});
    assert_eq!(all.last().unwrap()["data"], end, "{all:#?}");
    assert_eq!(said(&mut agent, "c", "three"), "3");
    let sent = fake.last().user_text();
    assert!(sent.contains("the story so far") && sent.contains("three"), "{sent}");
    assert!(!sent.contains("one") && !sent.contains("two"), "{sent}");
    assert_eq!(agent.load("it").len(), 6, "people see all of it");
    fake.assert_played();
}

#[test]
fn a_conversation_goes_on_without_results_that_the_provider_refuses() {
    let bad = "messages.2.content.0.tool_result.content.0: Could not process image";
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        Turn::refused(400, "invalid_request_error").saying(bad),
        Turn::text("fine"),
    ]);
    let setup = Setup::on(&fake).file("a.txt", "hay");
    let mut agent = setup.start();
    agent.hello();
    agent.say_in("it", "a", "read it");
    let all = agent.all("a");
    assert_eq!(notices(&all), ["can_leave_out"], "{all:#?}");
    assert!(all.last().unwrap()["error"].as_str().unwrap().contains("`leave_out`"), "{all:#?}");
    let all = request(&mut agent, "leave_out");
    assert_eq!(notices(&all), ["left_out"], "{all:#?}");
    let end = json!({"kind": "leave_out", "conversationId": "it", "message": 2});
    assert_eq!(all.last().unwrap()["data"], end);
    // Another process knows it too.
    agent.kill();
    let mut agent = setup.start();
    agent.hello();
    assert_eq!(said(&mut agent, "b", "go on"), "fine");
    let told = &fake.last().tool_results()[0];
    assert!(!told.is_error && told.text.contains("The tool has run"), "{told:?}");
    assert!(!fake.last().body.to_string().contains("hay"));
    assert!(json!(agent.load("it")).to_string().contains("hay"), "people still see it");
    fake.assert_played();
}

#[test]
fn an_earlier_message_that_is_refused_is_left_out_and_not_the_last() {
    let bad = "messages.0.content.0.text: refused by another model";
    let fake = Messages::start([
        Turn::text("1"),
        Turn::refused(400, "invalid_request_error").saying(bad),
        Turn::text("2"),
        Turn::text("3"),
    ]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    said(&mut agent, "a", "one");
    agent.say_in("it", "b", "two");
    assert_eq!(notices(&agent.all("b")), ["can_leave_out"]);
    let all = request(&mut agent, "leave_out");
    assert_eq!(all.last().unwrap()["data"]["message"], 0, "{all:#?}");
    let again = json!({"id": "r", "kind": "regenerate", "metadata": {"conversationId": "it"}});
    agent.send(&again);
    assert_eq!(words(&agent.all("r")), "2");
    assert_eq!(fake.last().user_text(), "two");
    // Unless the provider names one, it is the last.
    let all = request(&mut agent, "leave_out");
    assert_eq!(all.last().unwrap()["data"]["message"], 2, "{all:#?}");
    assert_eq!(said(&mut agent, "c", "three"), "3");
    assert_eq!(fake.last().user_text(), "three");
    let none = request(&mut agent, "leave_out");
    assert_eq!(none.last().unwrap()["data"]["message"], 4, "{none:#?}");
    let none = request(&mut agent, "leave_out");
    assert_eq!(none.last().unwrap()["data"]["kind"], "not_found", "{none:#?}");
}
