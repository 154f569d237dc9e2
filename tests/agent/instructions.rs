//! The project's own instructions: what the model reads of them, and what front ends receive.

use std::fs;

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup};

fn listed(agent: &mut Runtime) -> Value {
    agent.ask(&json!({"id": "s", "kind": "get_status"}))["data"]["instructions"].clone()
}

#[test]
fn the_model_reads_them_as_the_projects_text_and_they_stay_the_same_in_a_conversation() {
    let fake = Messages::start([Turn::text("one"), Turn::text("two"), Turn::text("three")]);
    let setup = Setup::on(&fake).file("AGENTS.md", "Use tabs.\n");
    let mut agent = setup.start();
    let before = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(before["data"].get("instructions"), None, "an extension was sent before hello");
    agent.hello();
    agent.answer("1", "hello");
    let path = setup.work().join("AGENTS.md");
    let listed_file = json!({"path": path.to_str().unwrap(), "bytes": 10, "cut": false});
    assert_eq!(listed(&mut agent), json!([listed_file]));
    fs::write(&path, "Use spaces.\n").unwrap();
    agent.answer("2", "again");
    agent.say_in("another", "3", "and here?");
    assert_eq!(agent.end("3")["type"], "done");
    let systems: Vec<String> =
        fake.requests().iter().map(|request| request.body["system"].to_string()).collect();
    assert!(systems[0].contains("not the user's words") && systems[0].contains("Use tabs."));
    assert_eq!(systems[0], systems[1], "a prompt that changes cannot be cached");
    assert!(systems[2].contains("Use spaces."), "{}", systems[2]);
    // The person's words are their own.
    for request in fake.requests() {
        assert!(!request.body["messages"].to_string().contains("Use tabs."));
    }
}

#[test]
fn they_can_be_turned_off_and_rules_keep_them_from_the_model() {
    let hide = "[[rule]]\nname = \"hide\"\ndecide = \"deny\"\npath = \"**/AGENTS.md\"\n";
    let off = |fake: &Messages| Setup::on(fake).arg("--no-project-instructions");
    let hidden = |fake: &Messages| Setup::on(fake).rules(hide);
    let setups: [&dyn Fn(&Messages) -> Setup; 2] = [&off, &hidden];
    for setup in setups {
        let fake = Messages::start([Turn::text("one")]);
        let mut agent = setup(&fake).file("AGENTS.md", "Use tabs.\n").start();
        agent.hello();
        agent.answer("1", "hello");
        assert_eq!(listed(&mut agent), json!([]));
        assert!(!fake.last().body["system"].to_string().contains("Use tabs."));
    }
}
