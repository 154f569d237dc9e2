//! Whether tools may run, and what the ledger records about it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Piped, run};
use rustix::process::Signal;
use serde_json::json;

use crate::fixture::{Runtime, Setup, kinds};

fn writes(name: &str) -> Turn {
    Turn::tool_use("write_file", json!({"path": name, "content": "hello"}))
}

fn log(setup: &Setup) -> String {
    run(setup.program(&["log", "--json"]), DEADLINE).success().stdout
}

#[test]
fn with_nobody_to_ask_it_is_denied_and_model_and_user_are_told() {
    let fake = Messages::start([writes("a.txt"), Turn::text("I could not.")]);
    let mut agent = Setup::on(&fake).start();
    agent.say("1", "write it");
    let result = agent.until("1", "tool_result");
    let why = result["data"]["result"]["error"].as_str().unwrap();
    assert!(why.contains("callgate up"), "{why}");
    assert_eq!(agent.end("1")["type"], "done");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("callgate up"), "{told:?}");
    assert!(!agent.setup.work().join("a.txt").exists());
    assert!(log(&agent.setup).contains("\"refused\""));
}

fn asked(answer: &str) -> (Runtime, Messages, String) {
    let fake = Messages::start([writes("a.txt"), Turn::text("so be it")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "write it");
    let request = agent.until("1", "permission_request");
    let data = &request["data"];
    assert_eq!(data["toolName"], "write_file");
    assert_eq!(data["input"]["path"], "a.txt");
    let question = data["question"].as_str().unwrap().to_owned();
    assert!(!agent.setup.work().join("a.txt").exists(), "it ran before it was allowed");
    let mut reply = json!({"id": "p", "kind": "permission_answer", "question": question});
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    reply.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
    agent.send(&reply);
    assert_eq!(agent.end("p")["type"], "done");
    (agent, fake, question)
}

#[test]
fn the_front_end_allows() {
    let (mut agent, _fake, question) = asked(r#"{"decision":"allow"}"#);
    let resolved = agent.until("1", "permission_resolved");
    assert_eq!(resolved["data"]["question"], question);
    assert_eq!(resolved["data"]["decision"], "allow");
    assert_eq!(agent.end("1")["type"], "done");
    assert_eq!(fs::read_to_string(agent.setup.work().join("a.txt")).unwrap(), "hello");
    let log = log(&agent.setup);
    for kind in ["\"asked\"", "\"decided\"", "\"running\"", "\"ran\""] {
        assert!(log.contains(kind), "{kind} is not in {log}");
    }
    // An answer to a question that is over does not count.
    let late =
        json!({"id": "q", "kind": "permission_answer", "question": question, "decision": "deny"});
    assert_eq!(agent.ask(&late)["type"], "error");
}

#[test]
fn the_front_end_denies_in_its_own_words() {
    let (mut agent, fake, _) = asked(r#"{"decision":"deny","message":"not in this folder"}"#);
    let resolved = agent.until("1", "permission_resolved");
    assert_eq!(resolved["data"]["decision"], "deny");
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].text.contains("not in this folder"));
    assert!(!agent.setup.work().join("a.txt").exists());
}

#[test]
fn the_front_end_changes_what_is_done() {
    let (mut agent, _fake, _) =
        asked(r#"{"decision":"allow","input":{"path":"b.txt","content":"other"}}"#);
    assert_eq!(agent.end("1")["type"], "done");
    assert!(!agent.setup.work().join("a.txt").exists());
    assert_eq!(fs::read_to_string(agent.setup.work().join("b.txt")).unwrap(), "other");
    let log = log(&agent.setup);
    let ran = log.lines().find(|line| line.contains("\"running\"")).unwrap();
    assert!(ran.contains("b.txt") && !ran.contains("a.txt"), "{ran}");
}

#[test]
fn a_cancelled_request_withdraws_its_question() {
    let fake = Messages::start([writes("a.txt"), Turn::text("so be it")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "write it");
    let request = agent.until("1", "permission_request");
    let question = &request["data"]["question"];
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    let rest = agent.all("1");
    assert_eq!(kinds(&rest), ["permission_resolved", "tool_result", "done"], "{rest:#?}");
    assert_eq!(rest[0]["data"]["question"], *question);
    assert_eq!(rest[0]["data"]["text"], "It was withdrawn");
    assert_eq!(rest[2]["data"]["stopReason"], "cancelled");
    let late =
        json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "allow"});
    assert_eq!(agent.ask(&late)["type"], "error");
    assert!(!agent.setup.work().join("a.txt").exists());
}

#[test]
fn a_runtime_that_is_told_to_end_withdraws_its_question() {
    let fake = Messages::start([writes("a.txt"), Turn::text("so be it")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "write it");
    agent.until("1", "permission_request");
    agent.piped.signal(Signal::TERM);
    let rest = agent.all("1");
    assert_eq!(kinds(&rest), ["permission_resolved", "tool_result", "error"], "{rest:#?}");
    assert_eq!(rest[0]["data"]["text"], "It was withdrawn");
}

#[test]
fn a_front_end_that_has_closed_its_side_cannot_be_asked() {
    let fake = Messages::start([writes("a.txt"), Turn::text("so be it")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "write it");
    agent.until("1", "permission_request");
    let (said, status) = agent.finish();
    assert!(status.success());
    assert_eq!(said.last().unwrap()["type"], "done", "{said:#?}");
    assert!(fake.last().tool_results()[0].is_error);
}

#[test]
fn rules_decide_before_anybody_is_asked() {
    let fake = Messages::start([writes("a.txt"), Turn::text("done")]);
    let mut agent = Setup::on(&fake).writes().start();
    agent.answer("1", "write it");
    assert!(agent.setup.work().join("a.txt").exists());

    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "secret.txt"})),
        Turn::text("done"),
    ]);
    let rule = "[[rule]]\nname = \"no\"\ndecide = \"deny\"\npath = \"/**/secret.txt\"\n";
    let mut agent = Setup::on(&fake).file("secret.txt", "the content").rules(rule).start();
    agent.answer("1", "read it");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && !told.text.contains("the content"), "{told:?}");
}

#[test]
fn a_search_leaves_out_what_rules_deny() {
    let uses = Turn::new()
        .tool("search_text", json!({"pattern": "TOPKEY"}))
        .tool("search_text", json!({"pattern": "TOPKEY", "path": ".env"}))
        .tool("search_text", json!({"pattern": "TOPKEY", "file_path": "src"}));
    let fake = Messages::start([uses, Turn::text("done")]);
    let rule = "[[rule]]\nname = \"no\"\ndecide = \"deny\"\npath = \"/**/.env\"\n";
    let setup = Setup::on(&fake).file(".env", "TOPKEY=env").file("src/a", "TOPKEY in a");
    let mut agent = setup.rules(rule).start();
    agent.answer("1", "search it");
    let told = fake.last().tool_results();
    let found = "src/a:1:TOPKEY in a\n[files and folders excluded by rules: 1]";
    assert_eq!((told.len(), told[0].text.as_str()), (3, found));
    for told in &told[1..] {
        assert!(told.is_error && !told.text.contains("TOPKEY"), "{told:?}");
    }
}

#[test]
fn a_command_line_is_no_program_that_a_rule_allows() {
    let line = "git status x/evil";
    let uses = Turn::new()
        .tool("run_shell_command", json!({"command": line}))
        .tool("run_shell_command", json!({"command": line, "args": null}));
    let fake = Messages::start([uses, Turn::text("done")]);
    let rule = "[[rule]]\nname = \"git\"\ndecide = \"allow\"\ncommand = \"git status *\"\n";
    let setup = Setup::on(&fake).script(line, "echo it ran > ran");
    let mut agent = setup.rules(rule).start();
    agent.answer("1", "run it");
    let told = fake.last().tool_results();
    assert!(told.len() == 2 && told.iter().all(|told| told.is_error), "{told:?}");
    assert!(!agent.setup.work().join("ran").exists());
}

#[test]
fn paths_outside_need_a_person_whatever_the_rules_allow() {
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "cat", "args": ["/etc/hostname"]})),
        Turn::text("done"),
    ]);
    let mut agent = Setup::on(&fake).runs().start();
    agent.hello();
    agent.say("1", "run it");
    let request = agent.until("1", "permission_request");
    assert!(request["data"]["reason"].as_str().unwrap().contains("/etc/hostname"), "{request}");
}

#[test]
fn nobody_is_asked_about_a_call_that_cannot_succeed() {
    let uses = Turn::new()
        .tool("edit_file", json!({"path": "missing.txt", "oldText": "a", "newText": "b"}))
        .tool("edit_file", json!({"path": "notes.txt", "oldText": "Milk", "newText": "b"}))
        .tool("write_file", json!({"path": "notes.txt", "content": "all new"}))
        .tool("write_file", json!({"path": "new.txt"}))
        .tool("run_shell_command", json!({"command": "no-such-program"}));
    let fake = Messages::start([uses, Turn::text("done")]);
    let mut agent = Setup::on(&fake).file("notes.txt", "Ledger\n").start();
    agent.hello();
    agent.say("1", "do it");
    let all = agent.all("1");
    assert!(all.iter().all(|event| event["type"] != "permission_request"), "{all:#?}");
    assert_eq!(all.last().unwrap()["data"].get("deniedCalls"), None, "{all:#?}");
    let results = all.iter().filter(|event| event["type"] == "tool_result");
    for (result, part) in results.zip([
        "missing.txt: it does not exist",
        "`oldText` does not occur",
        "you have not read it in this conversation",
        "\"content\" is a required property",
        "there is no program",
    ]) {
        let why = result["data"]["result"]["error"].as_str().unwrap();
        assert!(why.contains(part), "{why}");
        assert_eq!(result["data"]["result"].get("denied"), None, "{result}");
    }
    assert_eq!(fake.last().tool_results().len(), 5);
    assert_eq!(fs::read_to_string(agent.setup.work().join("notes.txt")).unwrap(), "Ledger\n");
}

/// Somebody else changes the file while the question waits: the answer counts for what was shown.
#[test]
fn a_file_that_changes_while_the_question_waits_is_not_overwritten() {
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "notes.txt"})),
        Turn::tool_use("write_file", json!({"path": "notes.txt", "content": "mine"})),
        Turn::text("so be it"),
    ]);
    let mut agent = Setup::on(&fake).file("notes.txt", "Ledger\n").start();
    agent.hello();
    agent.say("1", "write it");
    let request = agent.until("1", "permission_request");
    let file = agent.setup.work().join("notes.txt");
    fs::write(&file, "Theirs\n").unwrap();
    let question = &request["data"]["question"];
    let allow =
        json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "allow"});
    assert_eq!(agent.ask(&allow)["type"], "done");
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].text.contains("it has changed since you read it"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "Theirs\n");
}

#[test]
fn nobody_is_asked_about_paths_that_no_tool_can_use() {
    let uses = Turn::new()
        .tool("write_file", json!({"path": "../outside.txt", "content": "x"}))
        .tool("write_file", json!({"path": "/etc/outside.txt", "content": "x"}))
        .tool("read_file", json!({"path": "/etc/hostname"}))
        .tool("run_shell_command", json!({"command": "touch", "args": ["a"], "cwd": "/etc"}));
    let fake = Messages::start([uses, Turn::text("done")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "write it");
    let all = agent.all("1");
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    assert!(all.iter().all(|event| event["type"] != "permission_request"), "{all:#?}");
    let told = fake.last().tool_results();
    assert_eq!(told.len(), 4);
    for told in told {
        assert!(told.is_error && told.text.contains("it is outside"), "{told:?}");
    }
    assert_eq!(log(&agent.setup).matches(r#""kind":"refused""#).count(), 4);
}

#[test]
fn what_touches_callgate_itself_is_asked_whatever_the_rules_allow() {
    let fake = Messages::start([
        Turn::tool_use("write_file", json!({"path": ".callgate/rules.toml", "content": ""})),
        Turn::text("done"),
    ]);
    let mut agent = Setup::on(&fake).writes().start();
    agent.hello();
    agent.say("1", "open the gate");
    agent.until("1", "permission_request");
}

/// The kernel gives the files in `/proc` of a process that may not be looked into to root.
#[test]
fn commands_cannot_look_into_the_runtimes_environment() {
    let setup =
        Setup::new().env("ANTHROPIC_API_KEY", "sk-test").env("CALLGATE_AGENT_ENGINE", "offline");
    let mut agent = Piped::spawn(setup.command_without_root());
    assert_eq!(agent.recv()["type"], "ready");
    let environment = format!("/proc/{}/environ", agent.pid());
    assert_eq!(fs::metadata(environment).unwrap().uid(), 0);
}
