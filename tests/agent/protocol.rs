//! The lines of the protocol: which are accepted, which are refused, and what is answered.

use std::process::Stdio;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::picture::{SMALL_PNG, SMALL_PNG_BASE64};
use callgate_testkit::process::{DEADLINE, Piped, run};
use serde_json::json;

use crate::fixture::{Setup, is_end, kinds, words};

#[test]
fn a_fresh_machine_answers_at_once() {
    let setup = Setup::new().file("notes.txt", "hello").file("src/main.rs", "fn main() {}");
    let mut command = setup.command();
    command.stdin(Stdio::piped());
    let mut agent = Piped::spawn(command);
    // As `echo '…' | callgate agent` sends it.
    agent.send(r#"{"id":"1","kind":"user_message","message":"list files"}"#);
    agent.close_stdin();
    let mut said = Vec::new();
    while let Some(line) = agent.recv_line_or_end() {
        said.push(serde_json::from_str::<serde_json::Value>(&line).unwrap());
    }
    assert!(agent.wait_exit(DEADLINE).success());
    assert_eq!(agent.stderr(), "");
    assert_eq!(
        kinds(&said),
        ["ready", "token", "tool_use", "tool_result", "token", "done"],
        "{said:#?}"
    );
    let call = said.iter().find(|line| line["type"] == "tool_use").unwrap();
    assert_eq!(call["data"]["toolName"], "list_files");
    let result = said.iter().find(|line| line["type"] == "tool_result").unwrap();
    assert_eq!(result["data"]["toolId"], call["data"]["toolId"]);
    assert_eq!(result["data"]["result"]["files"], json!(["notes.txt", "src/"]));
    assert!(words(&said).contains("notes.txt"), "{}", words(&said));
}

#[test]
fn ready_is_first_and_as_the_contract_has_it() {
    let setup = Setup::new();
    let mut agent = Piped::spawn(setup.command());
    let ready = agent.recv();
    assert_eq!(ready["type"], "ready");
    assert_eq!(ready["version"], "1.0.0");
    let capabilities = ready["capabilities"].as_array().unwrap();
    for name in ["streaming", "tools", "attachments"] {
        assert!(capabilities.contains(&json!(name)), "{ready}");
    }
    let millis = ready["timestamp"].as_u64().unwrap();
    assert!((1_700_000_000_000..10_000_000_000_000).contains(&millis), "{ready}");
    assert!(ready.get("id").is_none() && ready.get("seq").is_none(), "{ready}");
}

#[test]
fn before_hello_nothing_is_sent_that_the_contract_does_not_have() {
    let setup = Setup::new().file("a.txt", "x");
    let mut agent = setup.start();
    agent.say("1", "read a.txt");
    agent.send(&json!({"id": "2", "kind": "clear_history"}));
    let all: Vec<_> = agent.all("1").into_iter().chain(agent.all("2")).collect();
    for line in &all {
        let allowed: &[&str] = match line["type"].as_str().unwrap() {
            "token" => &["type", "id", "token", "timestamp"],
            "tool_use" | "tool_result" => &["type", "id", "data", "timestamp"],
            "done" => &["type", "id", "timestamp"],
            other => panic!("{other} in {line}"),
        };
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, allowed, "{line}");
    }
    let result = all.iter().find(|line| line["type"] == "tool_result").unwrap();
    let keys: Vec<&String> = result["data"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["toolId", "toolName", "result"]);
}

#[test]
fn status_says_how_it_is_and_which_engine_answers_and_why() {
    let mut agent = Setup::new().start();
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["type"], "status");
    let data = &status["data"];
    assert_eq!(data["state"], "idle");
    assert_eq!(data["conversationLength"], 0);
    assert!(data["uptime"].as_u64().unwrap() < 60_000, "{data}");
    assert_eq!(data["engine"], "offline");
    assert!(data["engineReason"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{data}");

    let fake = Messages::start([Turn::text("Hi")]);
    let mut agent = Setup::on(&fake).env("ANTHROPIC_MODEL", "claude-test").start();
    agent.answer("1", "hello");
    let data = &agent.ask(&json!({"id": "s", "kind": "get_status"}))["data"];
    assert_eq!(data["engine"], "anthropic");
    assert_eq!(data["model"], "claude-test");
    assert_eq!(data["conversationLength"], 2);
    assert!(data["engineReason"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{data}");
}

#[test]
fn status_is_answered_while_a_message_is_being_worked_on() {
    let fake = Messages::start([Turn::text("Hello").stall_after(6)]);
    let mut agent = Setup::on(&fake).start();
    agent.say("1", "hello");
    agent.until("1", "token");
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["state"], "busy");
}

#[test]
fn what_cannot_be_understood_is_an_error_to_its_id() {
    let mut agent = Setup::new().start();
    for (line, fault) in [
        (r#"{"id":"1","kind":"fly"}"#, "\"fly\""),
        (r#"{"id":"1"}"#, "kind"),
        (r#"{"id":"1","kind":"user_message"}"#, "`message`"),
        (r#"{"id":"1","kind":"user_message","message":7}"#, "`message`"),
        (r#"{"id":"1","kind":"user_message","message":"\ud800"}"#, "`message`"),
        (r#"{"id":"1","kind":"user_message","message":"x","attachments":3}"#, "`attachments`"),
        (r#"{"id":"1","kind":"user_message","message":""}"#, "empty"),
        (r#"{"id":"1","kind":"user_message","message":" \n\t "}"#, "empty"),
        (r#"{"id":"1","kind":"cancel","target":"x"}"#, "hello"),
    ] {
        agent.piped.send(line);
        let error = agent.next();
        assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!("1")), "{line}");
        assert!(error["error"].as_str().unwrap().contains(fault), "{line}: {error}");
    }
}

#[test]
fn what_has_no_id_is_logged_and_after_hello_answered() {
    let bad = ["no JSON", r#"{"kind":"get_status"}"#, r#"{"id":7,"kind":"get_status"}"#, "[1]"];
    let mut agent = Setup::new().start();
    for line in bad {
        agent.piped.send(line);
    }
    // Nothing but the answer to this comes.
    agent.send(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(agent.next()["id"], "s");
    agent.hello();
    for line in bad {
        agent.piped.send(line);
        let error = agent.next();
        assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!(null)), "{error}");
    }
    agent.piped.send_bytes(b"{\"id\":\"1\",\"kind\":\"\xff\"}\n".to_vec());
    assert_eq!(agent.next()["id"], json!(null));
    let (_, status) = {
        let mut agent = agent;
        agent.piped.close_stdin();
        (agent.rest(), agent.piped.wait_exit(DEADLINE))
    };
    assert!(status.success());
}

#[test]
fn an_id_that_is_open_is_refused_and_the_open_request_goes_on() {
    let fake =
        Messages::start([Turn::text("one two three").pieces(4).stall_after(4), Turn::text("x")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "first");
    agent.until("1", "token");
    agent.say("1", "second");
    let refused = agent.until("1", "error");
    assert!(refused["error"].as_str().unwrap().contains("still open"), "{refused}");
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    assert_eq!(agent.end("1")["data"]["stopReason"], "cancelled");
    assert_eq!(fake.requests().len(), 1, "the second message went nowhere");
    // Once it has ended the id may be used again.
    assert_eq!(agent.answer("1", "third"), "x");
}

#[test]
fn blank_lines_carriage_returns_and_a_missing_last_newline_do_no_harm() {
    let mut agent = Setup::new().start();
    agent.piped.send_bytes(
        b"\n\r\n{\"id\":\"1\",\"kind\":\"get_status\"}\r\n  \n{\"id\":\"2\",\"kind\":\"get_status\"}".to_vec(),
    );
    let (said, status) = agent.finish();
    let mut ids: Vec<_> = said.iter().map(|line| line["id"].as_str().unwrap()).collect();
    // Neither waits for the other.
    ids.sort_unstable();
    assert_eq!(ids, ["1", "2"]);
    assert!(status.success());
}

#[test]
fn a_line_of_five_megabytes_is_fine_and_one_over_the_limit_is_refused() {
    let fake = Messages::start([Turn::text("long")]);
    let mut agent = Setup::on(&fake).start();
    let text = "€".repeat(5_000_000 / 3);
    assert_eq!(agent.answer("1", &text), "long");
    assert!(fake.last().user_text().contains(&text));
    agent.send(&json!({"id": "2", "kind": "user_message", "message": "x".repeat(10_500_000)}));
    let error = agent.next();
    assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!("2")));
    assert!(error["error"].as_str().unwrap().contains("10485760"), "{error}");
    // What follows is read as ever.
    assert_eq!(agent.ask(&json!({"id": "s", "kind": "get_status"}))["type"], "status");
}

#[test]
fn the_log_has_the_type_and_the_id_of_each_message_and_nothing_more() {
    let setup = Setup::new().file("secret.txt", "the content").env("LOG_LEVEL", "debug");
    let mut agent = setup.start();
    agent.answer("req-1", "read secret.txt");
    agent.piped.close_stdin();
    agent.piped.wait_exit(DEADLINE);
    let log = agent.piped.stderr();
    assert!(log.contains("received user_message \"req-1\""), "{log}");
    for kind in
        ["sent ready", "sent token \"req-1\"", "sent tool_use \"req-1\"", "sent done \"req-1\""]
    {
        assert!(log.contains(kind), "{kind} is not in {log}");
    }
    assert!(!log.contains("secret") && !log.contains("content"), "{log}");
}

#[test]
fn attached_files_reach_the_model_and_stay_in_the_history() {
    let fake = Messages::start([Turn::text("seen"), Turn::text("still there")]);
    let setup = Setup::on(&fake);
    let picture = setup.home().join("outside.png");
    std::fs::write(&picture, SMALL_PNG).unwrap();
    let setup = setup.file("notes.txt", "these are notes");
    let mut agent = setup.start();
    agent.send(&json!({
        "id": "1", "kind": "user_message", "message": "look",
        "attachments": [
            {"path": picture, "mime": "image/png"},
            {"path": "notes.txt", "mime": "text/plain"},
        ],
    }));
    let all = agent.all("1");
    assert_eq!(words(&all), "seen", "{all:#?}");
    agent.answer("2", "and now?");
    for request in fake.requests() {
        let blocks = request.body["messages"][0]["content"].as_array().unwrap().clone();
        assert_eq!(blocks[0]["type"], "image");
        assert_eq!(blocks[0]["source"]["media_type"], "image/png");
        assert_eq!(blocks[0]["source"]["data"], SMALL_PNG_BASE64);
        assert!(blocks[1]["text"].as_str().unwrap().contains("these are notes"));
        assert_eq!(blocks[2]["text"], "look");
    }
    fake.assert_played();
    agent.send(&json!({
        "id": "3", "kind": "user_message", "message": "look",
        "attachments": [{"path": "missing.txt", "mime": "text/plain"}],
    }));
    let error = agent.next_of("3");
    assert!(is_end(&error) && error["error"].as_str().unwrap().contains("missing.txt"), "{error}");
}

#[test]
fn files_that_cannot_be_meant_are_refused() {
    let fake = Messages::start([Turn::text("empty, I see")]);
    let mut agent = Setup::on(&fake).file("empty", "").start();
    for (path, mime, why) in [
        ("empty", "image/png", "it is empty"),
        ("empty", "application/pdf", "it is empty"),
        ("/proc/self/environ", "text/plain", "not a file of yours"),
        ("/proc/self/status", "text/plain", "not a file of yours"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "text/plain", "not a file of yours"),
    ] {
        if !std::path::Path::new(path).exists() && path.starts_with("/sys") {
            continue;
        }
        agent.send(&json!({
            "id": "1", "kind": "user_message", "message": "look",
            "attachments": [{"path": path, "mime": mime}],
        }));
        let error = agent.next_of("1");
        assert_eq!(error["type"], "error", "{path}: {error}");
        let text = error["error"].as_str().unwrap();
        assert!(text.contains(path) && text.contains(why), "{text}");
    }
    assert_eq!(fake.requests().len(), 0);
    // A text may be empty.
    agent.send(&json!({
        "id": "2", "kind": "user_message", "message": "look",
        "attachments": [{"path": "empty", "mime": "text/plain"}],
    }));
    assert_eq!(words(&agent.all("2")), "empty, I see");
}

#[test]
fn the_help_says_how_to_try_it() {
    let setup = Setup::new();
    let mut command = setup.command();
    command.arg("--help");
    let help = run(command, DEADLINE).success().stdout;
    for word in ["user_message", "ANTHROPIC_API_KEY", "--engine", "--root", "--resume"] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
}

/// Whoever sends an id that is too long is told so, and not left waiting.
#[test]
fn a_request_whose_id_is_too_long_gets_an_error_of_that_id() {
    let mut agent = Setup::new().start();
    for length in [257, 4096] {
        let id = "é".repeat(length / 2) + &"x".repeat(length % 2);
        let answer = agent.ask(&json!({"id": id, "kind": "get_status"}));
        assert_eq!(answer["type"], "error", "{answer}");
        assert_eq!(answer["error"], "`id` must be a string of at most 256 bytes");
    }
    // A longer one is repeated in no answer.
    agent.send(&json!({"id": "x".repeat(4097), "kind": "get_status"}));
    agent.send(&json!({"id": "x".repeat(256), "kind": "get_status"}));
    let status = agent.next();
    assert_eq!((&status["type"], &status["id"]), (&json!("status"), &json!("x".repeat(256))));
}
