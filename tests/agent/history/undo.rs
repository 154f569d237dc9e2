//! What a turn changed, shown as a diff and put back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, run};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup};

/// Lets commands and writes run unasked.
const ALL: &str = "[[rule]]\nname = \"run\"\ndecide = \"allow\"\ncommand = \"*\"\n\
    [[rule]]\nname = \"write\"\ndecide = \"allow\"\nclass = \"write\"\npath = \"/**\"\n";

fn shell(script: &str) -> Turn {
    Turn::tool_use("run_shell_command", json!({"command": "sh", "args": ["-c", script]}))
}

fn start(setup: &Setup) -> Runtime {
    let mut agent = setup.start();
    agent.hello_with(&["permission", "notice", "turn_diff"]);
    agent
}

/// Says something, and returns what the front end is told of the changes.
fn changes(agent: &mut Runtime, id: &str) -> Value {
    agent.say(id, "go");
    let all = agent.all(id);
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    let told = all.iter().filter(|event| event["type"] == "turn_changes");
    let mut told: Vec<Value> = told.map(|event| event["data"].clone()).collect();
    assert!(told.len() < 2, "{told:?}");
    assert!(told.is_empty() || all[all.len() - 2]["type"] == "turn_changes", "{all:#?}");
    told.pop().unwrap_or_default()
}

fn diff(agent: &mut Runtime) -> Value {
    let diff = agent.ask(&json!({"id": "diff", "kind": "turn_diff"}));
    assert_eq!(diff["type"], "done", "{diff}");
    diff["data"].clone()
}

/// The files of a diff, each on a line with what happens to it, and their changed lines.
fn drawn(files: &Value) -> String {
    let mut out = String::new();
    for file in files.as_array().unwrap() {
        let word = |name: &str| file[name].as_str().map(|word| format!(" {word}"));
        let words = ["operation", "path", "moved_to", "note"].map(word);
        out.push_str(words.into_iter().flatten().collect::<String>().trim());
        out.push('\n');
        for line in
            file["changes"].as_array().unwrap().iter().flat_map(|c| c["lines"].as_array().unwrap())
        {
            if line["op"] != " " {
                let parts = ["  ", line["op"].as_str().unwrap(), line["text"].as_str().unwrap()];
                out.extend(parts);
                out.push('\n');
            }
        }
    }
    out
}

fn undo(agent: &mut Runtime, more: &Value) -> Value {
    let mut request = json!({"id": "undo", "kind": "undo_turn"});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    agent.send(&request);
    agent.end("undo")
}

fn undone(agent: &mut Runtime) -> usize {
    let end = undo(agent, &json!({}));
    assert_eq!(end["type"], "done", "{end}");
    end["data"]["restored"].as_array().unwrap().len()
}

/// All files below a folder with their contents, modes and targets.
fn picture(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode();
            let content = if metadata.is_dir() {
                left.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            all.push(format!(
                "{} {mode:o} {:?}",
                path.display(),
                String::from_utf8_lossy(&content)
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn what_file_tools_changed_is_shown_and_put_back() {
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        Turn::tool_use("edit_file", json!({"path": "a.txt", "oldText": "two", "newText": "2"})),
        Turn::tool_use("edit_file", json!({"path": "a.txt", "oldText": "one", "newText": "1"})),
        Turn::tool_use("write_file", json!({"path": "new/b.txt", "content": "fresh\n"})),
        Turn::text("done"),
        Turn::text("I see."),
    ]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", "one\ntwo\nthree\n");
    let before = picture(&setup.work());
    let mut agent = start(&setup);
    let told = changes(&mut agent, "1");
    assert_eq!((&told["files"], &told["unknown"]), (&json!(2), &Value::Null), "{told}");
    let shown = diff(&mut agent);
    let expected = "update a.txt\n  -one\n  -two\n  +1\n  +2\nadd new/b.txt\n  +fresh\n";
    assert_eq!(drawn(&shown["files"]), expected);
    assert_eq!((&shown["turn"], &shown["message"]), (&told["turn"], &json!(0)));
    assert_eq!(undone(&mut agent), 2);
    assert_eq!(picture(&setup.work()), before);
    // It is in the ledger, as every other write, and the model learns of it.
    let log = run(setup.program(&["log", "--json"]), DEADLINE).success().stdout;
    let entries: Vec<&str> = log.lines().filter(|line| line.contains("undo_turn")).collect();
    assert!(entries.iter().any(|entry| entry.contains("\"running\"")), "{log}");
    assert!(entries.iter().any(|entry| entry.contains("\"ran\"")), "{log}");
    assert_eq!(undo(&mut agent, &json!({}))["data"]["kind"], "not_found");
    assert_eq!(undo(&mut agent, &json!({"turn": told["turn"]}))["data"]["kind"], "not_found");
    agent.answer("2", "What now?");
    let last = fake.last().body.to_string();
    assert!(last.contains("The user has undone") && last.contains("new/b.txt"), "{last}");
}

#[test]
fn what_commands_changed_is_found_by_a_snapshot() {
    let script = "echo more >> edit.txt; echo new > made.txt; rm gone.txt; chmod +x tool.sh; \
        mv old.txt renamed.txt; mkdir -p x/y; echo deep > x/y/z; ln -sf edit.txt link; \
        rm -r folder; printf '\\0\\1' > raw.bin; mv dir moved; echo built > target/out";
    let fake = Messages::start([shell(script), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("edit.txt", "some\n").file("gone.txt", "bye\n");
    let setup = setup.file("tool.sh", "echo\n").file("old.txt", "same\n").file("folder/in", "in\n");
    let setup = setup.file("dir/in.txt", "inner\n").file(".gitignore", "target\n");
    let setup = setup.file("target/out", "ignored");
    symlink("gone.txt", setup.work().join("link")).unwrap();
    let before = picture(&setup.work());
    let mut agent = start(&setup);
    let told = changes(&mut agent, "1");
    assert_eq!((&told["files"], &told["unknown"]), (&json!(12), &Value::Null), "{told}");
    let expected = "update dir/in.txt moved/in.txt\nupdate edit.txt\n  +more\n\
        delete folder/in\n  -in\ndelete gone.txt\n  -bye\nupdate link a link to gone.txt → a link \
        to edit.txt\nadd made.txt\n  +new\nupdate old.txt renamed.txt\nadd raw.bin binary, 2 bytes\n\
        update tool.sh becomes executable\nadd x/y/z\n  +deep\n";
    assert_eq!(drawn(&diff(&mut agent)["files"]), expected);
    assert_eq!(undone(&mut agent), 12);
    fs::write(setup.work().join("target/out"), "ignored").unwrap();
    assert_eq!(picture(&setup.work()), before);
}

#[test]
fn an_undo_is_asked_with_the_diff_that_it_applies() {
    let rules = "[[rule]]\nname = \"run\"\ndecide = \"allow\"\ncommand = \"*\"\n";
    let fake = Messages::start([shell("echo new > a.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(rules).file("a.txt", "old\n");
    let mut agent = start(&setup);
    changes(&mut agent, "1");
    let ask = |agent: &mut Runtime, decision: &str| {
        agent.send(&json!({"id": "undo", "kind": "undo_turn"}));
        let asked = agent.until("undo", "permission_request")["data"].clone();
        let reply = json!({"id": "p", "kind": "permission_answer", "question": asked["question"],
                           "decision": decision});
        assert_eq!(agent.ask(&reply)["type"], "done");
        (asked, agent.end("undo"))
    };
    let (asked, end) = ask(&mut agent, "deny");
    assert_eq!(
        (&asked["toolName"], &asked["title"]),
        (&json!("undo_turn"), &json!("put back a.txt"))
    );
    assert_eq!(asked["card"]["body"]["type"], "patch", "{asked}");
    assert_eq!(drawn(&asked["card"]["body"]["files"]), "update a.txt\n  -new\n  +old\n");
    assert_eq!((&end["type"], &end["data"]["kind"]), (&json!("error"), &json!("denied")), "{end}");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "new\n");
    let (_, end) = ask(&mut agent, "allow");
    assert_eq!(end["type"], "done", "{end}");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "old\n");
}

#[test]
fn a_rule_denies_an_undo_by_any_of_its_paths() {
    let deny = format!(
        "{ALL}[[rule]]\nname = \"no\"\ndecide = \"deny\"\nclass = \"write\"\npath = \"**/b.txt\"\n"
    );
    let fake = Messages::start([shell("echo x > a.txt; cp a.txt b.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL);
    let mut agent = start(&setup);
    changes(&mut agent, "1");
    let setup = setup.rules(&deny);
    let end = undo(&mut agent, &json!({}));
    assert_eq!(end["data"]["kind"], "denied", "{end}");
    assert!(setup.work().join("a.txt").exists() && setup.work().join("b.txt").exists());
}

#[test]
fn nothing_is_put_back_if_a_file_has_changed_since_unless_the_rest_is_wanted() {
    let fake = Messages::start([shell("echo 1 > a.txt; echo 1 > b.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", "0\n").file("b.txt", "0\n");
    let mut agent = start(&setup);
    changes(&mut agent, "1");
    let read = |name: &str| fs::read_to_string(setup.work().join(name)).unwrap();
    fs::write(setup.work().join("b.txt"), "mine\n").unwrap();
    let end = undo(&mut agent, &json!({}));
    assert_eq!(end["data"]["kind"], "changed", "{end}");
    assert!(end["error"].as_str().unwrap().contains("b.txt (it has changed since"), "{end}");
    assert_eq!((read("a.txt"), read("b.txt")), ("1\n".into(), "mine\n".into()));
    let end = undo(&mut agent, &json!({"partial": true}));
    assert_eq!(end["data"]["restored"].as_array().unwrap().len(), 1, "{end}");
    assert!(end["data"]["left"][0]["path"].as_str().unwrap().ends_with("b.txt"), "{end}");
    assert_eq!((read("a.txt"), read("b.txt")), ("0\n".into(), "mine\n".into()));
}

#[test]
fn two_turns_are_undone_one_after_the_other() {
    let fake = Messages::start([
        shell("echo 1 > a.txt"),
        Turn::text("one"),
        Turn::text("nothing"),
        Turn::tool_use("edit_file", json!({"path": "a.txt", "oldText": "1", "newText": "2"})),
        shell("echo 3 >> a.txt"),
        Turn::text("two"),
    ]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", "0\n");
    let mut agent = start(&setup);
    let first = changes(&mut agent, "1");
    assert_eq!(changes(&mut agent, "2"), Value::Null);
    changes(&mut agent, "3");
    assert_eq!(drawn(&diff(&mut agent)["files"]), "update a.txt\n  -1\n  +2\n  +3\n");
    // The earlier turn has to wait for the later one.
    assert_eq!(undo(&mut agent, &json!({"turn": first["turn"]}))["data"]["kind"], "changed");
    assert_eq!(undone(&mut agent), 1);
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "1\n");
    assert_eq!(undone(&mut agent), 1);
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "0\n");
}

#[test]
fn after_a_kill_the_turn_can_still_be_undone() {
    let fake = Messages::start([
        Turn::tool_use("write_file", json!({"path": "b.txt", "content": "tool\n"})),
        shell("echo 1 > a.txt; echo started; sleep 60"),
    ]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", "0\n");
    let before = picture(&setup.work());
    let mut agent = setup.start();
    agent.hello_with(&["permission", "tool_progress", "turn_diff"]);
    agent.say_in("kept", "1", "go");
    while !agent.until("1", "tool_progress")["data"]["text"].as_str().unwrap().contains("started") {
    }
    let setup = agent.kill();
    assert_ne!(picture(&setup.work()), before);
    let mut agent = start(&setup);
    let load =
        json!({"id": "l", "kind": "load_conversation", "conversationId": "kept", "as": "events"});
    agent.send(&load);
    let loaded = agent.all("l");
    let told = loaded.iter().find(|event| event["type"] == "turn_changes");
    assert_eq!(told.map(|told| &told["data"]["files"]), Some(&json!(2)), "{loaded:#?}");
    let expected = "update a.txt\n  -0\n  +1\nadd b.txt\n  +tool\n";
    assert_eq!(drawn(&diff(&mut agent)["files"]), expected);
    assert_eq!(undone(&mut agent), 2);
    assert_eq!(picture(&setup.work()), before);
    let left = setup.home().join(".local/share/callgate/callgate.db-snapshots");
    assert_eq!(fs::read_dir(left).unwrap().count(), 0);
}

#[test]
fn a_whole_turn_can_be_undone_by_another_process() {
    let fake = Messages::start([shell("echo 1 > a.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", "0\n");
    let mut agent = start(&setup);
    changes(&mut agent, "1");
    agent.finish();
    let mut agent = start(&setup.clone().arg("--resume"));
    assert_eq!(undone(&mut agent), 1);
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "0\n");
}

#[test]
fn too_many_files_are_told_and_file_tools_are_still_known() {
    let fake = Messages::start([
        shell("echo 1 > many/1"),
        Turn::tool_use("write_file", json!({"path": "b.txt", "content": "tool\n"})),
        Turn::text("done"),
    ]);
    let setup = Setup::on(&fake).rules(ALL).file("many/0", "");
    for number in 0..20_000 {
        fs::write(setup.work().join(format!("many/{number}")), "").unwrap();
    }
    let mut agent = start(&setup);
    let told = changes(&mut agent, "1");
    let unknown = told["unknown"].as_str().unwrap();
    assert_eq!(unknown, "what commands have changed is not known: there are more than 20000 files");
    assert_eq!(told["files"], 1);
    assert_eq!(undone(&mut agent), 1);
    assert!(!setup.work().join("b.txt").exists());
}

#[test]
fn snapshots_can_be_turned_off() {
    let fake = Messages::start([shell("echo 1 > a.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).arg("--no-snapshots");
    let told = changes(&mut start(&setup), "1");
    assert_eq!((&told["files"], &told["turn"]), (&json!(0), &Value::Null), "{told}");
    assert!(told["unknown"].as_str().unwrap().contains("snapshots are off"), "{told}");
}

#[test]
fn a_link_out_of_the_folder_is_put_back_and_never_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("theirs"), "untouched").unwrap();
    let there = outside.path().display();
    let script = format!(
        "rm -r in; ln -s {there} in; ln -s {there}/theirs out; ln -sf {there}/theirs a.txt"
    );
    let run = Turn::tool_use("run_shell_command", json!({"command": "sh", "args": ["go.sh"]}));
    let fake = Messages::start([run, Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("in/theirs", "mine\n").file("a.txt", "a\n");
    let setup = setup.script("go.sh", &script);
    let before = picture(&setup.work());
    let mut agent = start(&setup);
    assert_eq!(changes(&mut agent, "1")["files"], 4);
    let shown = diff(&mut agent).to_string();
    assert!(shown.contains("a link to") && !shown.contains("untouched"), "{shown}");
    agent.send(&json!({"id": "undo", "kind": "undo_turn"}));
    let mut next = agent.next_of("undo");
    // By a link a path may lead anywhere, so somebody may be asked, whatever is allowed.
    while next["type"] != "done" {
        assert!(next["type"].as_str().unwrap().starts_with("permission_"), "{next}");
        if next["type"] == "permission_request" {
            let question = &next["data"]["question"];
            let reply = json!({"id": "p", "kind": "permission_answer", "question": question,
                               "decision": "allow"});
            assert_eq!(agent.ask(&reply)["type"], "done");
        }
        next = agent.next_of("undo");
    }
    assert_eq!(picture(&setup.work()), before);
    assert_eq!(fs::read_to_string(outside.path().join("theirs")).unwrap(), "untouched");
}

#[test]
fn secrets_are_masked_in_the_diff_and_put_back_as_they_were() {
    let secret = "ghp_Zk8qN2vLx7RtYw4BcDf6GhJm9PsQeUaVoXi3";
    let fake = Messages::start([shell("echo none > env.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("env.txt", format!("TOKEN={secret}\n"));
    let mut agent = start(&setup);
    changes(&mut agent, "1");
    let shown = diff(&mut agent);
    assert!(!shown.to_string().contains(secret), "{shown}");
    assert!(drawn(&shown["files"]).contains("-TOKEN="), "{shown}");
    assert_eq!(undone(&mut agent), 1);
    let restored = fs::read_to_string(setup.work().join("env.txt")).unwrap();
    assert!(restored.contains(secret));
}

#[test]
fn without_a_history_changes_are_known_as_long_as_the_runtime_runs() {
    let fake = Messages::start([shell("echo 1 > a.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", "0\n").arg("--no-history");
    let mut agent = start(&setup);
    assert_eq!(changes(&mut agent, "1")["files"], 1);
    assert_eq!(undone(&mut agent), 1);
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "0\n");
    assert!(!setup.home().join(".local/share/callgate/callgate.db-snapshots").exists());
}

#[test]
fn a_deleted_conversation_takes_its_contents_along() {
    let canary = "canary-of-a-file-that-was-changed";
    let fake = Messages::start([shell("echo 1 > a.txt"), Turn::text("done")]);
    let setup = Setup::on(&fake).rules(ALL).file("a.txt", canary);
    let mut agent = start(&setup);
    agent.say_in("kept", "1", "go");
    agent.end("1");
    let request = json!({"id": "d", "kind": "turn_diff", "conversationId": "kept"});
    assert_eq!(agent.ask(&request)["type"], "done");
    agent.ask(&json!({"id": "x", "kind": "delete_conversation", "conversationId": "kept"}));
    assert_eq!(agent.ask(&request)["data"]["kind"], "not_found");
    agent.finish();
}
