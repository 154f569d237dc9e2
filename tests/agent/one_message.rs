//! `callgate chat` for scripts: one message, its answer, and the exit code.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Finished, Piped, run};
use callgate_testkit::until::until_or;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::Setup;

fn chat(setup: &Setup, arguments: &[&str]) -> Command {
    let mut command = setup.program(&["chat"]);
    command.args(arguments).stdin(Stdio::null());
    command
}

fn answer(setup: &Setup, arguments: &[&str]) -> Finished {
    run(chat(setup, arguments), DEADLINE)
}

fn check(turns: Vec<Turn>, code: i32, stdout: &str) -> Finished {
    let fake = Messages::start(turns);
    let done = answer(&Setup::on(&fake), &["-p", "go"]);
    assert_eq!((done.status.code(), done.stdout.as_str()), (Some(code), stdout), "{}", done.stderr);
    done
}

#[test]
fn the_text_is_on_standard_output_and_the_exit_code_says_how_it_ended() {
    let writes = || Turn::text("I write.").tool("write_file", json!({"path": "a", "content": "x"}));
    check(vec![Turn::text("Two\nlines.")], 0, "Two\nlines.\n");
    check(vec![Turn::text("\u{1b}[31mred")], 0, "⟨U+001B⟩[31mred\n");
    let failed = check(vec![Turn::refused(401, "authentication_error")], 1, "");
    assert!(failed.stderr.starts_with("callgate: "), "{}", failed.stderr);
    check(vec![writes(), Turn::text("I could not.")], 2, "I write.\nI could not.\n");
    check(vec![Turn::text("No.").stop_reason("refusal")], 2, "No.\n");
    check(vec![Turn::text("It is lon").stop_reason("max_tokens")], 3, "It is lon\n");
}

#[test]
fn a_call_that_rules_allow_runs_and_one_that_nobody_can_be_asked_about_does_not() {
    let writes = || Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"}));
    let fake = Messages::start([writes(), Turn::text("Done."), writes(), Turn::text("Denied.")]);
    let setup = Setup::on(&fake).writes();
    assert_eq!(answer(&setup, &["-p", "go"]).success().stdout, "Done.\n");
    assert!(setup.work().join("a.txt").exists());
    let asks = Setup::on(&fake);
    assert_eq!(answer(&asks, &["-p", "go"]).status.code(), Some(2));
    assert!(!asks.work().join("a.txt").exists());
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("nobody can be asked"), "{told:?}");
}

#[test]
fn a_call_that_is_denied_without_a_question_is_in_the_exit_code() {
    let rule = "[[rule]]\nname = \"no\"\ndecide = \"deny\"\nclass = \"write\"\npath = \"/**\"\n";
    let denied = |turn: Turn| {
        let fake = Messages::start([turn, Turn::text("Denied.")]);
        let done = answer(&Setup::on(&fake).rules(rule), &["--json", "-p", "go"]);
        assert_eq!(done.status.code(), Some(2), "{}{}", done.stdout, done.stderr);
        assert!(!done.stdout.contains("permission_request"), "{}", done.stdout);
        let last: Value = serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(last["data"]["stopReason"], "end_turn", "{last}");
        last["data"]["deniedCalls"].clone()
    };
    let write = |path: &str| json!({"path": path, "content": "x"});
    assert_eq!(denied(Turn::tool_use("write_file", write("a.txt"))), 1);
    // A path outside of the folders is refused before anybody is asked.
    let outside = Turn::tool_use("read_file", json!({"path": "/etc/hostname"}));
    assert_eq!(denied(outside.tool("write_file", write("b.txt"))), 2);
    // What fails for another reason was not denied.
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "missing.txt"})),
        Turn::text("It is missing."),
    ]);
    assert_eq!(answer(&Setup::on(&fake), &["-p", "go"]).status.code(), Some(0));
}

#[test]
fn events_as_lines_end_with_the_same_codes() {
    let json = |turns: Vec<Turn>, setup: &dyn Fn(Setup) -> Setup| {
        let fake = Messages::start(turns);
        let done = answer(&setup(Setup::on(&fake)), &["--json", "-p", "go"]);
        let last = done.stdout.lines().last().unwrap_or_default();
        let last: Value = serde_json::from_str(last).unwrap();
        let reason = last["data"]["stopReason"].as_str().or(last["type"].as_str());
        (done.status.code().unwrap(), reason.unwrap().to_owned())
    };
    let same = |setup: Setup| setup;
    let is = |code: i32, reason: &str| (code, reason.to_owned());
    assert_eq!(json(vec![Turn::text("Hi.")], &same), is(0, "end_turn"));
    assert_eq!(json(vec![Turn::refused(400, "invalid_request_error")], &same), is(1, "error"));
    let refusal = Turn::text("No.").stop_reason("refusal");
    assert_eq!(json(vec![refusal], &same), is(2, "refusal"));
    let cut = Turn::text("It is lon").stop_reason("max_tokens");
    assert_eq!(json(vec![cut], &same), is(3, "max_tokens"));
    let again = || Turn::tool_use("list_files", json!({"path": "."}));
    let one_round = |setup: Setup| setup.config("[agent]\nmax_rounds = 1\n");
    assert_eq!(json(vec![again(), again()], &one_round), is(3, "max_turn_requests"));
}

#[test]
fn the_message_comes_from_standard_input_and_events_go_out_as_lines() {
    let fake = Messages::start([Turn::text("Hi.")]);
    let setup = Setup::on(&fake);
    let mut piped = Piped::spawn(setup.program(&["chat", "--json"]));
    piped.send("What is this?");
    piped.close_stdin();
    let mut events = Vec::new();
    while let Some(line) = piped.recv_line_or_end() {
        events.push(serde_json::from_str::<Value>(&line).unwrap());
    }
    assert!(piped.wait_exit(DEADLINE).success());
    let text: String = events.iter().filter_map(|event| event["token"].as_str()).collect();
    assert_eq!(text, "Hi.");
    assert_eq!(events.last().unwrap()["type"], "done");
    assert_eq!(events.last().unwrap()["data"]["stopReason"], "end_turn");
    assert!(fake.last().user_text().contains("What is this?"));
}

#[test]
fn standard_input_belongs_to_the_message_but_names_no_files() {
    let fake = Messages::start([Turn::text("Good."), Turn::text("Good.")]);
    let setup =
        Setup::on(&fake).file("notes.txt", "SECRET NOTES").file("change.diff", "+ @notes.txt");
    let mut piped = Piped::spawn(setup.program(&["chat", "-p", "Review this."]));
    piped.send("+ @notes.txt");
    piped.close_stdin();
    assert_eq!(piped.recv_line_or_end().as_deref(), Some("Good."));
    assert!(piped.wait_exit(DEADLINE).success());
    assert!(fake.last().user_text().contains("Review this.\n\n+ @notes.txt"));
    assert!(!fake.last().body.to_string().contains("SECRET NOTES"));
    // A file, and a file that the message itself names.
    let mut command = setup.program(&["chat", "-p", "Review @notes.txt and this."]);
    command.stdin(fs::File::open(setup.work().join("change.diff")).unwrap());
    let done = command.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(fake.last().user_text().contains("and this.\n\n+ @notes.txt"));
    assert!(fake.last().body.to_string().contains("SECRET NOTES"));
}

#[test]
fn a_message_that_waits_for_its_input_says_so() {
    let fake = Messages::start([Turn::text("Done.")]);
    let setup = Setup::on(&fake);
    let mut piped = Piped::spawn(setup.program(&["chat", "-p", "go"]));
    until_or(|| piped.stderr(), || piped.stderr().contains("waits for the end of standard input"));
    piped.close_stdin();
    assert_eq!(piped.recv_line_or_end().as_deref(), Some("Done."));
    assert!(piped.wait_exit(DEADLINE).success());
}

#[test]
fn standard_error_says_whom_a_call_waits_for_and_what_was_denied() {
    let writes = || Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"}));
    let fake = Messages::start([
        writes(),
        Turn::text("No desk."),
        writes(),
        Turn::text("Nobody."),
        writes(),
        Turn::text("Forbidden."),
    ]);
    // Without a desk.
    let setup = Setup::on(&fake);
    let done = answer(&setup, &["-p", "go"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(done.stderr.contains("denied: write a.txt: "), "{}", done.stderr);
    assert!(!done.stderr.contains("waits"), "{}", done.stderr);
    // A desk that takes the question.
    let setup = Setup::on(&fake).config("timeout_seconds = 1\n");
    let mut desk = setup.program(&["up"]);
    desk.env("CALLGATE_LEGACY_SOCKET", setup.home().join("legacy.sock"));
    let mut up = Piped::spawn(desk);
    up.recv_line();
    let done = answer(&setup, &["-p", "go"]);
    up.signal(Signal::TERM);
    up.wait_exit(DEADLINE);
    assert_eq!(done.status.code(), Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("for an answer at the desk: write a.txt"), "{}", done.stderr);
    assert!(done.stderr.contains("denied: write a.txt: "), "{}", done.stderr);
    // A rule that denies it.
    let rule = "[[rule]]\nname = \"no\"\ndecide = \"deny\"\nclass = \"write\"\npath = \"/**\"\n";
    let done = answer(&Setup::on(&fake).rules(rule), &["-p", "go"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(done.stderr.contains("denied: write_file: "), "{}", done.stderr);
}

#[test]
fn wrong_command_lines_and_settings_have_their_codes() {
    let setup = Setup::new();
    assert_eq!(answer(&setup, &["--dance"]).status.code(), Some(64));
    let empty = answer(&setup, &[]);
    assert_eq!(empty.status.code(), Some(1));
    assert!(
        empty.stderr.contains("there is no message to send: give it with --prompt"),
        "{}",
        empty.stderr
    );
    let wrong = Setup::new().config("[agent]\nengine = \"steam\"\n");
    assert_eq!(answer(&wrong, &["-p", "go"]).status.code(), Some(78));
    let no_key = Setup::new().config("[agent]\nengine = \"anthropic\"\n");
    let done = answer(&no_key, &["-p", "go"]);
    assert_eq!(done.status.code(), Some(1), "{}", done.stderr);
}

#[test]
fn settings_on_the_command_line_reach_the_runtime() {
    let setup = Setup::new().file("notes.txt", "x");
    let first = answer(&setup, &["-p", "list files", "--engine", "offline"]).success();
    assert!(first.stdout.contains("notes.txt (1 byte"), "{}", first.stdout);
    // The second message goes on with the conversation of the first.
    let second = answer(&setup, &["--resume", "-p", "help"]).success();
    assert!(!second.stdout.contains("I am callgate's offline engine"), "{}", second.stdout);
}

#[test]
fn a_conversation_is_continued_in_its_own_folder() {
    let fake = Messages::start(["1", "2", "3", "4", "5", "6"].map(Turn::text));
    let setup = Setup::on(&fake);
    let (work, other) = (setup.work(), setup.home().join("other"));
    fs::create_dir(&other).unwrap();
    let say = |folder: &Path, arguments: &[&str]| {
        let mut command = chat(&setup, arguments);
        command.current_dir(folder);
        run(command, DEADLINE)
    };
    let sent = || fake.last().body["messages"].to_string();
    assert_eq!(say(&work, &["-p", "alpha"]).success().stderr, "");
    // In a folder without a conversation one begins, and that is said.
    let begun = say(&other, &["--resume", "-p", "beta"]).success();
    assert!(begun.stderr.contains("no conversation of this folder yet"), "{}", begun.stderr);
    assert!(!sent().contains("alpha"), "{}", sent());
    let continued = say(&other, &["--resume", "-p", "gamma"]).success();
    assert_eq!(continued.stderr, "");
    assert!(sent().contains("beta") && !sent().contains("alpha"), "{}", sent());
    assert_eq!(say(&work, &["--resume", "-p", "delta"]).success().stderr, "");
    assert!(sent().contains("alpha") && !sent().contains("beta"), "{}", sent());
    // The last one of all folders, or any by its id, if that is asked for.
    assert_eq!(say(&other, &["--resume", "--all-folders", "-p", "epsilon"]).success().stderr, "");
    assert!(sent().contains("delta"), "{}", sent());

    let list = json!({"id": "l", "kind": "list_conversations"});
    let listed = |setup: Setup| {
        let mut agent = setup.start();
        agent.hello();
        agent.ask(&list)["data"]["conversations"].as_array().unwrap().clone()
    };
    let here = listed(setup.clone());
    assert_eq!((here.len(), here[0]["title"].as_str()), (1, Some("alpha")), "{here:?}");
    assert_eq!(here[0]["folder"].as_str(), work.canonicalize().unwrap().to_str());
    assert_eq!(listed(setup.clone().arg("--all-folders")).len(), 2);
    let id = here[0]["conversationId"].as_str().unwrap();
    assert_eq!(say(&other, &["--resume", id, "-p", "zeta"]).success().stderr, "");
    assert!(sent().contains("epsilon"), "{}", sent());
    let unknown = say(&work, &["--resume", "conv-nowhere", "-p", "eta"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(unknown.stderr.contains("no conversation `conv-nowhere`"), "{}", unknown.stderr);
    fake.assert_played();
}

#[test]
fn an_interrupt_cancels_it() {
    let fake = Messages::start([Turn::text("It goes on\nand on.").stall_after(6)]);
    let setup = Setup::on(&fake);
    let mut piped = Piped::spawn(chat(&setup, &["--json", "-p", "go"]));
    piped.close_stdin();
    while piped.recv()["type"] != "token" {}
    piped.signal(Signal::INT);
    let mut last = Value::Null;
    while let Some(line) = piped.recv_line_or_end() {
        last = serde_json::from_str(&line).unwrap();
    }
    assert_eq!(last["data"]["stopReason"], "cancelled", "{last}");
    assert_eq!(piped.wait_exit(DEADLINE).code(), Some(130));
}
