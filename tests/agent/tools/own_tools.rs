//! Tools beside those for files and commands: plans, pictures, and the user's own programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::picture::SMALL_PNG;
use serde_json::json;

use crate::fixture::Setup;

const ALLOWED: &str =
    "[[rule]]\nname = \"own\"\ndecide = \"allow\"\ntool = [\"custom__*\", \"analyze_image\"]\n";

/// Puts a file into callgate's folder for tools.
fn own(setup: &Setup, name: &str, content: &str, mode: u32) {
    let folder = setup.home().join(".config/callgate/tools");
    fs::create_dir_all(&folder).unwrap();
    for folder in [&folder, folder.parent().unwrap()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(folder.join(name), content).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
}

fn greeter(setup: &Setup) {
    own(
        setup,
        "greet",
        "#!/bin/sh\nread line\necho \"got $line in $(basename \"$PWD\")\"\n",
        0o755,
    );
    own(setup, "greet.json", r#"{"description": "Greets."}"#, 0o644);
}

#[test]
fn a_program_of_the_users_is_a_tool_that_asks() {
    let calls = || Turn::tool_use("custom__greet", json!({"name": "Ada"}));
    let fake = Messages::start([calls(), Turn::text("no"), calls(), Turn::text("yes")]);
    let setup = Setup::on(&fake);
    greeter(&setup);
    let mut agent = setup.start();
    agent.say("1", "greet");
    assert_eq!(agent.end("1")["type"], "done");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("callgate up"), "{told:?}");
    fs::write(setup.home().join(".config/callgate/rules.toml"), ALLOWED).unwrap();
    agent.say("2", "greet");
    assert_eq!(agent.end("2")["type"], "done");
    let told = &fake.last().tool_results()[0];
    assert!(!told.is_error, "{told:?}");
    assert!(told.text.contains(r#"got {"name":"Ada"} in work"#), "{}", told.text);
    assert_eq!(fake.last().tool("custom__greet").unwrap()["description"], "Greets.");
}

#[test]
fn an_agent_cannot_make_itself_a_tool() {
    let path = "../.config/callgate/tools/evil.json";
    let input = json!({"path": path, "content": r#"{"description": "Evil."}"#});
    let fake = Messages::start([Turn::tool_use("write_file", input), Turn::text("no")]);
    let setup = Setup::on(&fake).writes();
    greeter(&setup);
    let home = setup.home().to_str().unwrap().to_owned();
    let mut agent = setup.arg("--root").arg(&home).start();
    agent.say("1", "write it");
    assert_eq!(agent.end("1")["type"], "done");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("nobody can be asked"), "{told:?}");
    assert!(!agent.setup.home().join(".config/callgate/tools/evil.json").exists());
}

#[test]
fn a_tool_of_a_project_is_none() {
    let fake = Messages::start([Turn::text("hello")]);
    let setup = Setup::on(&fake)
        .script(".config/callgate/tools/greet", "echo hello")
        .script("tools/greet", "echo hello")
        .file(".config/callgate/tools/greet.json", r#"{"description": "Greets."}"#)
        .file("tools/greet.json", r#"{"description": "Greets."}"#);
    assert!(!setup.start().answer("1", "go").is_empty());
    assert!(fake.last().tool("custom__greet").is_none());
}

#[test]
fn a_plan_needs_no_permission_and_reaches_the_front_end() {
    let items = json!([{"text": "look", "status": "done"}, {"text": "act", "status": "active"}]);
    let plan = Turn::tool_use("todo_write", json!({ "items": items }));
    let fake = Messages::start([plan, Turn::text("done")]);
    let mut agent = Setup::on(&fake).start();
    agent.say("1", "plan it");
    assert_eq!(agent.until("1", "tool_use")["data"]["input"]["items"], items);
    assert_eq!(agent.until("1", "tool_result")["data"]["result"]["items"], items);
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].text.contains("1 done, 1 active, 0 pending"));
}

#[test]
fn the_model_sees_a_picture_once_that_is_allowed() {
    let calls = |path: &str| Turn::tool_use("analyze_image", json!({ "path": path }));
    let fake = Messages::start([
        calls("a.png"),
        Turn::text("no"),
        calls("a.png"),
        calls("b.txt"),
        Turn::text("yes"),
    ]);
    let setup = Setup::on(&fake).file("a.png", SMALL_PNG).file("b.txt", "no picture").rules("");
    let mut agent = setup.start();
    agent.say("1", "look");
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].is_error);
    fs::write(setup.home().join(".config/callgate/rules.toml"), ALLOWED).unwrap();
    agent.say("2", "look");
    let end = agent.end("2");
    assert_eq!(end["type"], "done", "{end}");
    let body = fake.last().body.to_string();
    assert!(body.contains(r#""media_type":"image/png""#), "{body}");
    assert!(fake.last().tool_results()[0].text.contains("not a PNG"));
}

#[test]
fn the_desktop_is_offered_only_where_there_is_one() {
    for (display, is_there) in [("", false), (":99", true)] {
        let fake = Messages::start([Turn::text("hello")]);
        Setup::on(&fake).env("DISPLAY", display).start().answer("1", "go");
        assert_eq!(fake.last().tool("read_clipboard").is_some(), is_there, "{display:?}");
    }
}
