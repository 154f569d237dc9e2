//! Bad input from a box changes nothing and is told.

use callgate_testkit::process::{DEADLINE, Piped};
use callgate_wire::desk::RemoteState;
use serde_json::json;

use super::fixture::House;

/// A box that says this, and then waits.
fn house_with_box(lines: &[String]) -> House {
    let house = House::over_pipe();
    let said: Vec<String> = lines.iter().map(|line| format!("printf '%s\\n' '{line}'")).collect();
    house.write_ssh(&format!("{}\nexec cat >/dev/null", said.join("\n")));
    house.up();
    house
}

fn hello(protocol: u64) -> String {
    json!({ "kind": "hello", "protocol": protocol, "version": "9", "host": "b", "user": "bo",
        "home": "/home/bo" })
    .to_string()
}

#[test]
fn forged_entries_answers_and_kinds_are_refused() {
    let forged = json!({ "kind": "entry", "entry": { "seq": 1, "at_ms": 1, "kind": "started",
        "question": null, "hash": "0".repeat(64), "body": {} } });
    let told = json!({ "kind": "told", "question": "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
        "done": true, "text": "" });
    let allowed = json!({ "kind": "question", "ruling": "allow", "seconds": 1, "request": {} });
    let house = house_with_box(&[
        hello(1),
        json!({ "kind": "launch" }).to_string(),
        told.to_string(),
        allowed.to_string(),
        "not JSON".to_owned(),
        forged.to_string(),
    ]);
    let view = house.wait_for_state(RemoteState::Failed);
    assert_eq!(
        view.text.as_deref(),
        Some("entry 1 of its ledger does not follow the one before"),
        "{view:?}"
    );
    let log = house.laptop.text("up.log");
    for expected in ["unknown kind of message", "`ruling` must be", "not one JSON object"] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
    assert!(house.copied_entries().is_empty());
    assert!(house.laptop_entries().iter().all(|entry| entry.question.is_none()));
}

#[test]
fn another_version_is_refused_with_what_to_do() {
    let house = house_with_box(&[hello(7)]);
    let view = house.wait_for_state(RemoteState::Failed);
    let text = view.text.unwrap();
    assert!(text.contains("version 7 of the relay protocol"), "{text}");
    assert!(text.contains("run `callgate remote add` again"), "{text}");
}

#[test]
fn a_line_without_end_takes_no_memory_and_the_desk_goes_on() {
    let house = House::over_pipe();
    house.write_ssh(&format!(
        "printf '%s\\n' '{}'\nhead -c 40000000 /dev/zero | tr '\\0' 'x'\necho\nexec cat >/dev/null",
        hello(1)
    ));
    house.up();
    house.until("it is told", || house.laptop.text("up.log").contains("is too long"));
    let mut ada = house.person("Ada");
    let hook = House::start_hook(house.on_laptop(&["hook"]), "make", house.laptop.folder());
    let row = ada.question(&house, "make");
    assert_eq!(row.machine, None);
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

#[test]
fn the_relay_refuses_what_it_does_not_understand() {
    let house = House::over_pipe();
    let mut relay = Piped::spawn(house.on_box(&["relay"]));
    assert_eq!(relay.recv()["kind"], "hello");
    relay.send(r#"{"kind":"answer","question":"x"}"#);
    assert_eq!(relay.recv()["kind"], "error");
    relay.send(r#"{"kind":"hello","protocol":2,"version":"9","name":"laptop"}"#);
    let error = relay.recv();
    assert!(error["text"].as_str().unwrap().contains("install the same callgate on both"));
    assert!(!relay.wait_exit(DEADLINE).success());
}
