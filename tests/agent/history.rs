//! What is kept of conversations: across restarts, beside other processes, and if the file is
//! damaged.

mod killed;
mod storage;
mod undo;

use std::fs;
use std::path::Path;
use std::time::Instant;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::picture::{SMALL_PNG, png_of};
use callgate_testkit::process::{DEADLINE, run};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::fixture::{Setup, kinds, notices, words};

fn texts(count: usize) -> Vec<Turn> {
    (1..=count).map(|number| Turn::text(format!("answer {number}"))).collect()
}

fn history_at(file: &Path) -> String {
    format!("[agent]\nhistory = \"{}\"\n", file.display())
}

/// One message in a process of its own; gives what the model was sent.
fn said(setup: &Setup, fake: &Messages, message: &str) -> String {
    let mut agent = setup.start();
    agent.answer("1", message);
    assert!(agent.finish().1.success());
    fake.last().user_text()
}

#[test]
fn the_last_conversation_goes_on_where_that_is_set() {
    let fake = Messages::start(texts(5));
    let setup = Setup::on(&fake);
    assert_eq!(said(&setup, &fake, "one"), "one");
    assert_eq!(said(&setup, &fake, "two"), "two", "without the setting a new one begins");
    assert_eq!(said(&setup.clone().arg("--resume"), &fake, "three"), "two\nthree");
    let set = setup.clone().env("CALLGATE_AGENT_RESUME", "true");
    assert_eq!(said(&set, &fake, "four"), "two\nthree\nfour");
    let set = setup.config("[agent]\nresume = true\n");
    let mut agent = set.start();
    // Where the file is slow the first ones may come without the conversation.
    let end = Instant::now() + DEADLINE;
    loop {
        let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
        assert_ne!(status["data"]["conversationId"], "");
        if status["data"]["conversationLength"] == 6 {
            break;
        }
        assert!(Instant::now() < end, "the length is not told: {status}");
    }
    agent.answer("1", "five");
    assert_eq!(fake.last().user_text(), "two\nthree\nfour\nfive");
    fake.assert_played();
}

#[test]
fn pictures_are_still_pictures_after_a_restart() {
    let fake = Messages::start(texts(2));
    let setup = Setup::on(&fake).file("dot.png", SMALL_PNG);
    let mut agent = setup.start();
    let attachments = json!([{"path": "dot.png", "mime": "image/png"}]);
    agent.send(&json!({
        "id": "1", "kind": "user_message", "message": "what is it?", "attachments": attachments,
    }));
    assert_eq!(agent.end("1")["type"], "done");
    let sent = fake.last().body["messages"][0]["content"][0].clone();
    assert_eq!(sent["type"], "image");
    agent.kill();
    let mut agent = setup.arg("--resume").start();
    agent.hello();
    agent.answer("2", "and now?");
    let again = fake.last().body["messages"][0]["content"][0].clone();
    assert_eq!(again["source"], sent["source"]);
    let listed = agent.ask(&json!({"id": "c", "kind": "list_conversations"}));
    let messages = agent.load(listed["data"]["current"].as_str().unwrap());
    assert_eq!(messages[0]["content"][0]["source"], sent["source"]);
    fake.assert_played();
}

#[test]
fn a_message_that_fits_into_no_line_does_not_end_the_paging() {
    let fake = Messages::start(texts(1));
    let (small, large) = (png_of(3_600_000), png_of(3_700_000));
    let setup = Setup::on(&fake).file("a.png", &small).file("b.png", large).file("c.png", small);
    let mut agent = setup.start();
    agent.hello();
    let attachments =
        ["a.png", "b.png", "c.png"].map(|path| json!({"path": path, "mime": "image/png"}));
    agent.send(&json!({
        "id": "1", "kind": "user_message", "message": "what is it?", "attachments": attachments,
        "metadata": {"conversationId": "it"},
    }));
    let end = agent.end("1");
    assert_eq!(end["type"], "done", "{end}");
    let load = json!({"id": "l", "kind": "load_conversation", "conversationId": "it"});
    let last = agent.ask(&load);
    assert_eq!((&last["data"]["first"], &last["data"]["length"]), (&json!(1), &json!(2)));
    let mut load = load;
    load["before"] = json!(1);
    let first = agent.ask(&load);
    assert_eq!(first["data"]["first"], 0, "{first}");
    let content = &first["data"]["messages"][0]["content"];
    assert_eq!((&content[0]["type"], &content[2]["type"]), (&json!("image"), &json!("image")));
    assert_eq!(content[1]["text"], "[a picture of 3700000 bytes is not shown here]");
    assert_eq!(content[3]["text"], "what is it?");
}

#[test]
fn two_processes_take_turns_on_a_conversation_and_others_go_on() {
    for is_killed in [false, true] {
        let fake = Messages::start([Turn::text("slow").stall_after(6), Turn::text("second")]);
        fake.conversation("elsewhere", texts(1));
        let setup = Setup::on(&fake);
        let (mut one, mut two) = (setup.start(), setup.start());
        one.hello();
        two.hello();
        one.say_in("shared", "1", "first words");
        one.until("1", "token");
        two.say_in("shared", "2", "other words");
        assert_eq!(two.until("2", "notice")["data"]["kind"], "queued");
        two.say_in("other", "3", "elsewhere");
        assert_eq!(words(&two.all("3")), "answer 1");
        assert_eq!(fake.main_requests().len(), 1, "the second did not wait");
        if is_killed {
            one.kill();
        } else {
            one.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
            assert_eq!(one.end("1")["data"]["stopReason"], "cancelled");
        }
        assert_eq!(words(&two.all("2")), "second");
        let seen = fake.last().user_text();
        assert!(seen.contains("first words"), "{seen}");
        fake.assert_played();
    }
}

#[test]
fn one_that_waits_for_another_process_can_be_cancelled() {
    let fake = Messages::start([Turn::text("slow").stall_after(6)]);
    let setup = Setup::on(&fake);
    let (mut one, mut two) = (setup.start(), setup.start());
    one.say_in("shared", "1", "first words");
    one.until("1", "token");
    two.hello();
    two.say_in("shared", "2", "other words");
    two.until("2", "notice");
    two.send(&json!({"id": "c", "kind": "cancel", "target": "2"}));
    assert_eq!(two.end("2")["data"]["stopReason"], "cancelled");
    two.say_in("shared", "3", "and more");
    two.until("3", "notice");
    let delete = json!({"id": "d", "kind": "delete_conversation", "conversationId": "shared"});
    two.send(&delete);
    two.send(&json!({"id": "e", "kind": "cancel", "target": "3"}));
    assert_eq!(two.end("3")["data"]["stopReason"], "cancelled");
    assert_eq!(two.end("d")["data"]["kind"], "in_use");
}

#[test]
fn turns_of_two_processes_are_never_mixed() {
    let turn =
        [Turn::tool_use("read_file", json!({"path": "a.txt"})), Turn::text("I have read it.")];
    let fake = Messages::start(turn.iter().cycle().take(12).cloned());
    let setup = Setup::on(&fake).file("a.txt", "hay");
    let mut both = [setup.start(), setup.start()];
    for (number, agent) in both.iter_mut().enumerate() {
        agent.hello();
        for message in 0..3 {
            let id = format!("{number}-{message}");
            agent.say_in("shared", &id, &format!("words of {id}"));
        }
    }
    for (number, agent) in both.iter_mut().enumerate() {
        for message in 0..3 {
            assert_eq!(words(&agent.all(&format!("{number}-{message}"))), "I have read it.");
        }
    }
    let messages = both[0].load("shared");
    let kind = |message: &Value| {
        let role = message["role"].as_str().unwrap();
        format!("{role} {}", message["content"][0]["type"].as_str().unwrap())
    };
    let kinds: Vec<String> = messages.iter().map(kind).collect();
    let turn = ["user text", "assistant tool_use", "user tool_result", "assistant text"];
    assert_eq!(kinds, turn.repeat(6));
    fake.assert_played();
}

#[test]
fn without_a_history_nothing_is_kept_but_what_tools_did() {
    let fake = Messages::start([
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "hello"})),
        Turn::text("the answer of all answers"),
        Turn::text("I do"),
        Turn::text("no"),
    ]);
    let setup = Setup::on(&fake).writes();
    let mut agent = setup.clone().arg("--no-history").start();
    agent.answer("1", "the question of all questions");
    agent.answer("2", "do you remember?");
    assert!(fake.last().user_text().contains("the question"), "one process remembers");
    assert!(agent.finish().1.success());
    for file in fs::read_dir(setup.database().parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("of all"), "{} has what was said", path.display());
    }
    let log = run(setup.program(&["log", "--json"]), DEADLINE).success().stdout;
    assert!(log.contains("\"ran\""), "{log}");
    let mut agent = setup.arg("--resume").start();
    agent.hello();
    let listed = agent.ask(&json!({"id": "l", "kind": "list_conversations"}));
    assert_eq!(listed["data"]["conversations"], json!([]));
    agent.answer("3", "do you remember?");
    assert!(!fake.last().user_text().contains("the question"));
}

#[test]
fn every_run_of_a_tool_is_in_the_ledger() {
    let fake = Messages::start([
        Turn::new()
            .tool_with_id("read-1", "read_file", json!({"path": "a.txt"}))
            .tool_with_id("read-2", "read_file", json!({"path": "a.txt"}))
            .tool_with_id("missing", "read_file", json!({"path": "b.txt"}))
            .tool_with_id("write", "write_file", json!({"path": "c.txt", "content": "x"}))
            .tool_with_id("refused", "run_shell_command", json!({"command": "true"})),
        Turn::text("done"),
    ]);
    let setup = Setup::on(&fake).writes().file("a.txt", "hay");
    setup.start().answer("1", "use them all");
    let log = run(setup.program(&["log", "--json"]), DEADLINE).success().stdout;
    let of = |call: &str| -> Vec<(String, Value)> {
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let about = entries.filter(|entry| entry["body"]["call"] == call);
        about.map(|e| (e["kind"].as_str().unwrap().to_owned(), e["body"]["ok"].clone())).collect()
    };
    let ran = |ok: bool| ("ran".to_owned(), json!(ok));
    assert_eq!(of("read-1"), [ran(true)], "{log}");
    assert_eq!(of("read-2"), [ran(true)]);
    assert_eq!(of("missing"), [ran(false)]);
    // What changes something is there before it runs.
    assert_eq!(of("write"), [("running".to_owned(), Value::Null), ran(true)]);
    assert_eq!(of("refused"), [("refused".to_owned(), Value::Null)]);
    assert!(run(setup.program(&["log", "--verify"]), DEADLINE).status.success());
}

#[test]
fn a_turn_that_was_broken_off_is_told_of_once() {
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        Turn::text("It says").stall_after(6),
        Turn::text("one"),
        Turn::text("two"),
        Turn::text("three"),
    ]);
    let setup = Setup::on(&fake).file("a.txt", "hay").arg("--resume");
    let mut agent = setup.start();
    agent.say("1", "read it");
    agent.until("1", "token");
    agent.kill();
    let mut agent = setup.start();
    agent.hello();
    agent.say("2", "what was it?");
    let all = agent.all("2");
    assert_eq!(kinds(&all), ["notice", "token", "done"], "{all:#?}");
    assert_eq!(notices(&all), ["interrupted"]);
    let text = fake.last().body["messages"].to_string();
    assert!(text.contains("hay") && text.contains("what was it?"), "{text}");
    agent.say("3", "and?");
    assert!(notices(&agent.all("3")).is_empty());
    agent.kill();
    let mut agent = setup.start();
    agent.hello();
    agent.say("4", "and?");
    assert!(notices(&agent.all("4")).is_empty());
    fake.assert_played();
}

#[test]
fn of_an_end_that_it_was_told_the_front_end_hears_nothing_more() {
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "./job"})),
        Turn::text("one"),
    ]);
    let setup = Setup::on(&fake).runs().script("job", "echo started; exec sleep 300");
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "run it");
    agent.until("1", "tool_progress");
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    assert_eq!(agent.end("1")["data"]["stopReason"], "cancelled");
    agent.say("2", "go on");
    assert!(notices(&agent.all("2")).is_empty());
}

const USER: &str = r#"{"role":"user","content":[{"type":"text","text":"hello"}]}"#;
const ANSWER: &str = r#"{"role":"assistant","content":[{"type":"text","text":"well"}]}"#;
const USE: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"read_file","input":{"path":"a"}}]}"#;
const RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"hay"}]}"#;

/// What can be wrong in the file, and whether it looks like a turn that was broken off.
const POISON: [(&str, bool, &[&str]); 22] = [
    ("a use at the end", true, &[USER, USE]),
    ("a use in the middle", false, &[USER, USE, USER, ANSWER]),
    ("a result at the end", true, &[USER, USE, RESULT]),
    ("a result without a use", false, &[USER, ANSWER, RESULT]),
    ("a result first", false, &[RESULT, ANSWER]),
    ("two results", true, &[USER, USE, RESULT, RESULT]),
    ("an id twice", true, &[USER, USE, RESULT, USE, RESULT]),
    ("an answer first", false, &[ANSWER, USER, ANSWER]),
    ("a use first", false, &[USE, RESULT, USER, ANSWER]),
    ("answers alone", false, &[ANSWER, ANSWER]),
    ("questions alone", true, &[USER, USER]),
    ("no JSON", false, &[USER, "{{{", ANSWER, "", "null", "[]"]),
    ("nothing but nonsense", false, &["\u{0}", "nonsense"]),
    ("an empty text", false, &[r#"{"role":"user","content":[{"type":"text","text":""}]}"#, ANSWER]),
    (
        "white space",
        true,
        &[USER, r#"{"role":"assistant","content":[{"type":"text","text":" \n"}]}"#],
    ),
    ("no content", false, &[r#"{"role":"user","content":[]}"#, ANSWER]),
    ("a text as content", false, &[r#"{"role":"user","content":"hello"}"#, ANSWER]),
    ("a role nobody knows", false, &[r#"{"role":"system","content":[]}"#, USER, ANSWER]),
    ("a part nobody knows", false, &[r#"{"role":"user","content":[{"type":"smell"}]}"#, ANSWER]),
    (
        "a picture that is none",
        false,
        &[
            r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}"#,
            ANSWER,
        ],
    ),
    (
        "a thought without a signature",
        true,
        &[
            USER,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""}]}"#,
        ],
    ),
    (
        "a use without arguments",
        true,
        &[
            USER,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a b","name":"","input":7}]}"#,
        ],
    ),
];

fn poison(connection: &Connection, name: &str, rows: &[&str]) {
    let make = "INSERT INTO conversations (id, made_ms, used_ms) VALUES (?, 1, 1)";
    connection.execute(make, [name]).unwrap();
    let key = connection.last_insert_rowid();
    for (number, body) in rows.iter().enumerate() {
        // Some numbers are missing.
        let number = i64::try_from(number * 2).unwrap();
        connection
            .execute(
                "INSERT INTO messages (conversation, number, begins, at_ms, body)
                 VALUES (?, ?, 1, 1, ?)",
                params![key, number, body],
            )
            .unwrap();
    }
}

#[test]
fn whatever_is_in_the_file_the_strict_service_takes_it() {
    let fake = Messages::start(texts(1 + 2 * POISON.len()));
    let setup = Setup::on(&fake);
    let mut agent = setup.start();
    agent.answer("make the file", "hello");
    let connection = Connection::open(setup.database()).unwrap();
    connection.busy_timeout(DEADLINE).unwrap();
    for (name, _, rows) in POISON {
        poison(&connection, name, rows);
    }
    agent.hello();
    for (name, is_broken_off, rows) in POISON {
        let shown = agent.load(name);
        assert_eq!(shown.len(), rows.len(), "{name}: {shown:#?}");
        for id in ["1", "2"] {
            agent.say_in(name, id, &format!("still there, {id}?"));
            let all = agent.all(id);
            assert_eq!(all.last().unwrap()["type"], "done", "{name}: {all:#?}");
            let expected = if is_broken_off && id == "1" { &["interrupted"][..] } else { &[] };
            assert_eq!(notices(&all), expected, "{name}");
        }
        assert!(fake.last().user_text().contains("still there, 1?"), "{name}");
        assert_eq!(agent.load(name).len(), rows.len() + 4, "{name}");
    }
    fake.assert_played();
}

#[test]
fn a_summary_that_cannot_be_read_is_passed_over() {
    let fake = Messages::start(texts(2));
    let setup = Setup::on(&fake);
    let mut agent = setup.start();
    agent.answer("make the file", "hello");
    let connection = Connection::open(setup.database()).unwrap();
    poison(&connection, "it", &[USER, ANSWER, USER, USE]);
    let change = "UPDATE conversations SET summary = '{', summarized = 5 WHERE id = 'it'";
    connection.execute(change, []).unwrap();
    agent.say_in("it", "1", "still there?");
    assert_eq!(agent.end("1")["type"], "done");
    fake.assert_played();
}

/// Puts something at this place that is no history.
fn spoil(file: &Path) {
    match file.file_name().unwrap().to_str().unwrap() {
        "folder.db" => fs::create_dir(file).unwrap(),
        "recipes.db" => {
            let connection = Connection::open(file).unwrap();
            connection.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
        }
        "text.db" => fs::write(file, "no database, and long enough. ".repeat(200)).unwrap(),
        _ => fs::write(file.parent().unwrap(), "a file where a folder should be").unwrap(),
    }
}

#[test]
fn a_history_that_cannot_be_opened_is_told_and_the_runtime_goes_on() {
    let fake = Messages::start(texts(4));
    for name in ["folder.db", "recipes.db", "text.db", "file/history.db"] {
        let setup = Setup::on(&fake);
        let file = setup.home().join(name);
        spoil(&file);
        let setup = setup.config(&history_at(&file)).arg("--resume");
        let mut agent = setup.start();
        agent.hello();
        agent.say("1", "hello");
        let error = agent.end("1");
        assert_eq!(error["type"], "error", "{name}: {error}");
        assert_eq!(error["data"]["kind"], "history", "{name}");
        let named = name.split('/').next().unwrap();
        assert!(error["error"].as_str().unwrap().contains(named), "{error}");
        let listed = agent.ask(&json!({"id": "l", "kind": "list_conversations"}));
        assert_eq!(listed["data"]["kind"], "history", "{name}");
        let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
        assert_eq!(status["data"]["state"], "idle", "{name}");
        // Once it is put right, it works.
        let bad = if name.contains('/') { file.parent().unwrap() } else { &file };
        fs::rename(bad, setup.home().join("away")).unwrap();
        for more in ["recipes.db-wal", "recipes.db-shm"] {
            fs::remove_file(setup.home().join(more)).ok();
        }
        agent.answer("2", "hello");
        assert!(agent.finish().1.success());
    }
    fake.assert_played();
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let fake = Messages::start([]);
    let setup = Setup::on(&fake).config(&history_at(Path::new("/proc/callgate/history.db")));
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "hello");
    let error = agent.end("1");
    assert_eq!(error["data"]["kind"], "history", "{error}");
    assert!(error["error"].as_str().unwrap().contains("/proc/callgate"), "{error}");
    assert!(fake.requests().is_empty(), "the model was asked");
}

#[test]
fn what_cannot_be_recorded_is_not_run() {
    let fake = Messages::start([
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "hello"})),
        Turn::text("a pity"),
    ]);
    let setup = Setup::on(&fake).writes();
    let ledger = "database = \"/proc/callgate/ledger.db\"\n";
    let setup = setup.config(&format!("{ledger}{}", history_at(Path::new("~/history.db"))));
    let mut agent = setup.start();
    agent.answer("1", "write it");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("ledger"), "{told:?}");
    assert!(!setup.work().join("a.txt").exists());
}
