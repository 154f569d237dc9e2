//! Every request ends exactly once, whatever ends the runtime, the front end, the model or the
//! tools.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use callgate_testkit::leaks::{peak_kib, resident_kib};
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::proc::is_running;
use callgate_testkit::process::{DEADLINE, Group};
use callgate_testkit::until::until;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{Setup, is_end, kinds, notices, words};

/// Settings with which nothing is tried again.
const IMPATIENT: &str = "[agent]\nretry_seconds = 0\n";

#[test]
fn the_end_of_the_input_lets_what_is_open_finish() {
    let fake = Messages::start([Turn::text("one"), Turn::text("two"), Turn::text("three")]);
    let mut agent = Setup::on(&fake).start();
    for id in ["1", "2", "3"] {
        agent.say(id, "hello");
    }
    let (said, status) = agent.finish();
    let ends: Vec<&Value> = said.iter().filter(|line| is_end(line)).collect();
    assert_eq!(ends.len(), 3, "{said:#?}");
    assert!(ends.iter().all(|end| end["type"] == "done"), "{said:#?}");
    assert_eq!(words(&said), "onetwothree");
    assert!(status.success());
}

#[test]
fn a_signal_ends_open_turns_and_all_is_said() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let fake = Messages::start([Turn::text("Hello").stall_after(6)]);
        let mut agent = Setup::on(&fake).start();
        agent.say("1", "hello");
        agent.say("2", "waits for the first");
        agent.until("1", "token");
        let told = Instant::now();
        agent.piped.signal(signal);
        let said = agent.rest();
        assert!(agent.piped.wait_exit(DEADLINE).success());
        // Two seconds are the promise; a machine under load is given more.
        assert!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
        for id in ["1", "2"] {
            let ends = said.iter().filter(|line| line["id"] == id && is_end(line)).count();
            assert_eq!(ends, 1, "{id}: {said:#?}");
        }
    }
}

#[test]
fn a_file_that_may_not_grow_does_not_end_it() {
    let mut agent = Setup::new().start();
    // What the kernel sends when a write would make a file too large.
    agent.piped.signal(Signal::XFSZ);
    assert_eq!(agent.ask(&json!({"id": "s", "kind": "get_status"}))["type"], "status");
    assert!(agent.finish().1.success());
}

#[test]
fn a_signal_ends_the_tools_and_their_processes() {
    let fake = Messages::start([Turn::tool_use("run_shell_command", json!({"command": "./job"}))]);
    let setup = Setup::on(&fake).runs().script("job", "echo $$; sleep 300 & wait");
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "run it");
    let progress = agent.until("1", "tool_progress");
    let pid: u32 = progress["data"]["text"].as_str().unwrap().trim().parse().unwrap();
    agent.piped.signal(Signal::TERM);
    let said = agent.rest();
    assert!(agent.piped.wait_exit(DEADLINE).success());
    assert_eq!(said.iter().filter(|line| is_end(line)).count(), 1, "{said:#?}");
    until("the end of the command", || !is_running(pid));
}

#[test]
fn a_history_that_another_program_holds_does_not_hold_up_the_end() {
    let fake = Messages::start([Turn::text("Hello")]);
    let setup = Setup::on(&fake);
    let mut agent = setup.start();
    agent.answer("1", "hello");
    assert!(agent.finish().1.success());
    let database = setup.home().join(".local/share/callgate/callgate.db");
    let other = rusqlite::Connection::open(database).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for args in [&["--resume"][..], &[]] {
        let mut setup = setup.clone();
        for arg in args {
            setup = setup.arg(arg);
        }
        let mut agent = setup.start();
        agent.say("2", "go on");
        // It does not wait for the history.
        assert_eq!(agent.ask(&json!({"id": "s", "kind": "get_status"}))["type"], "status");
        agent.piped.signal(Signal::TERM);
        let said = agent.rest();
        assert!(agent.piped.wait_exit(DEADLINE).success());
        let ends: Vec<_> = said.iter().filter(|line| is_end(line)).collect();
        assert_eq!(ends.len(), 1, "{said:#?}");
        assert_eq!(ends[0]["id"], "2");
    }
}

#[test]
fn it_ends_when_nobody_reads_its_output() {
    let fake = Messages::start([Turn::text("Hello").stall_after(6)]);
    let setup = Setup::on(&fake);
    let mut command = setup.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = Group::spawn(command);
    let mut stdin = agent.take_stdin();
    let stdout = agent.take_stdout();
    writeln!(stdin, "{}", json!({"id": "1", "kind": "user_message", "message": "hello"})).unwrap();
    fake.wait_for_main(1);
    drop(stdout);
    assert!(agent.wait(DEADLINE).is_some(), "it is still there");
}

#[test]
fn it_ends_with_the_process_that_started_it_also_when_its_input_stays_open() {
    let setup = Setup::new();
    let agent = setup.command();
    let pipes = ["in", "out"].map(|name| setup.home().join(name));
    for pipe in &pipes {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    // We hold both ends of both, as another child of a front end that has died may.
    let held = pipes.clone().map(|pipe| File::options().read(true).write(true).open(pipe).unwrap());
    // The shell stands for the front end.
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\" agent <\"$1\" >\"$2\" & echo $!; wait"]);
    command.arg(agent.get_program()).args(&pipes).current_dir(setup.work()).stdout(Stdio::piped());
    command.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut shell = Group::spawn(command);
    let mut pid = String::new();
    let mut stdout = BufReader::new(shell.take_stdout());
    #[allow(clippy::disallowed_methods, reason = "a line of our own")]
    stdout.read_line(&mut pid).unwrap();
    let mut ready = [0_u8; 16];
    (&held[1]).read_exact(&mut ready).unwrap();
    shell.signal(Signal::KILL);
    let pid = pid.trim().parse().unwrap();
    until("the end of what it started", || !is_running(pid));
}

#[test]
fn a_model_that_dies_stalls_refuses_or_is_cut_off_ends_the_request_with_an_error() {
    for (turn, kind) in [
        (Turn::text("Hello").cut_after(6), "cut"),
        (Turn::text("Hello").error_after(6, "overloaded_error"), "overloaded"),
        (Turn::refused(401, "authentication_error"), "auth"),
        (Turn::refused(400, "invalid_request_error"), "refused"),
    ] {
        let fake = Messages::start([turn, Turn::text("still alive")]);
        let mut agent = Setup::on(&fake).config(IMPATIENT).start();
        agent.hello();
        agent.say("1", "hello");
        let end = agent.end("1");
        assert_eq!((&end["type"], &end["data"]["kind"]), (&json!("error"), &json!(kind)), "{end}");
        assert_eq!(agent.answer("2", "and now?"), "still alive");
    }
}

#[test]
fn a_service_that_is_not_there_is_an_error_that_says_so() {
    let mut agent = Setup::new()
        .env("ANTHROPIC_API_KEY", "sk-test-secret")
        .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
        .config(IMPATIENT)
        .start();
    agent.say("1", "hello");
    let end = agent.end("1");
    assert_eq!(end["type"], "error");
    assert!(!end.to_string().contains("sk-test"), "{end}");
}

#[test]
fn trouble_before_the_first_token_is_tried_again() {
    let fake = Messages::start([Turn::rate_limited(0), Turn::overloaded(), Turn::text("at last")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "hello");
    let all = agent.all("1");
    assert_eq!(words(&all), "at last");
    let notices: Vec<_> = all.iter().filter(|line| line["type"] == "notice").collect();
    assert_eq!(notices.len(), 2, "{all:#?}");
    assert_eq!(notices[0]["data"]["kind"], "retry");
}

#[test]
fn a_first_message_that_fails_is_kept_and_listed_and_can_be_tried_again() {
    for (turn, kind) in [
        (Turn::refused(401, "authentication_error"), "auth"),
        (Turn::rate_limited(600), "rate_limit"),
        (Turn::broken(), "server"),
    ] {
        let fake = Messages::start([turn, Turn::text("at last")]);
        let setup = Setup::on(&fake).config(IMPATIENT).arg("--resume");
        let mut agent = setup.start();
        agent.hello();
        agent.say("1", "hello");
        assert_eq!(agent.end("1")["data"]["kind"], kind);
        agent.kill();
        let mut agent = setup.start();
        agent.hello();
        let listed = agent.ask(&json!({"id": "l", "kind": "list_conversations"}));
        let [conversation] = &listed["data"]["conversations"].as_array().unwrap()[..] else {
            panic!("{listed}")
        };
        assert_eq!((&conversation["title"], &conversation["length"]), (&json!("hello"), &json!(1)));
        let load = json!({"id": "e", "kind": "load_conversation", "as": "events",
            "conversationId": conversation["conversationId"]});
        agent.send(&load);
        let all = agent.all("e");
        assert_eq!(kinds(&all), ["user_message", "done"]);
        assert_eq!(all[1]["data"]["isUnfinished"], true, "{all:#?}");
        agent.send(&json!({"id": "2", "kind": "regenerate"}));
        assert_eq!(words(&agent.all("2")), "at last");
        agent.send(&load);
        let all = agent.all("e");
        assert_eq!(kinds(&all), ["user_message", "token", "done"]);
        assert!(all[2]["data"]["isUnfinished"].is_null(), "{all:#?}");
    }
}

#[test]
fn an_answer_that_is_cut_off_goes_on_and_nothing_of_it_is_shown_twice() {
    for half in [
        Turn::text("Half an").pieces(4).cut_after(5),
        Turn::text("Half an").pieces(4).error_after(5, "overloaded_error"),
        Turn::new().thinking("Half of it?").and_text("Half an").pieces(4).cut_after(5),
    ] {
        let fake = Messages::start([half, Turn::text(" answer")]);
        let mut agent = Setup::on(&fake).start();
        agent.hello();
        agent.say_in("it", "1", "hello");
        let all = agent.all("1");
        let shown = words(&all);
        let begun = shown.strip_suffix(" answer").unwrap_or_else(|| panic!("{all:#?}"));
        assert!("Half an".starts_with(begun), "{all:#?}");
        assert_eq!(notices(&all), ["retry"]);
        let sent = fake.last().body["messages"].to_string();
        assert!(sent.contains("Your answer was cut off here"), "{sent}");
        agent.send(&json!({"id": "e", "kind": "load_conversation", "as": "events",
            "conversationId": "it"}));
        assert_eq!(words(&agent.all("e")), shown);
    }
}

/// A real minute, in long runs only.
#[test]
fn an_outage_of_a_minute_costs_a_minute() {
    if std::env::var_os("CALLGATE_FULL").is_none() {
        return;
    }
    let trouble = [Turn::hang_up(), Turn::overloaded(), Turn::broken()];
    let outage = trouble.iter().cycle().take(7).cloned();
    let fake = Messages::start(outage.chain([Turn::text("at last")]));
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    let began = Instant::now();
    agent.say("1", "hello");
    let all = agent.all("1");
    assert_eq!(words(&all), "at last");
    assert_eq!(notices(&all).iter().filter(|kind| **kind == "retry").count(), 7);
    assert!((60..100).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[test]
fn a_model_that_wants_tools_for_ever_is_stopped_and_that_is_said() {
    let wants = || Turn::tool_use("list_files", json!({"path": "."}));
    let fake = Messages::start([wants(), wants(), wants(), Turn::text("thanks")]);
    let mut agent = Setup::on(&fake).config("[agent]\nmax_rounds = 3\n").start();
    agent.hello();
    agent.say("1", "go on for ever");
    assert_eq!(agent.end("1")["data"]["stopReason"], "max_turn_requests");
    // The history is one that the model accepts.
    assert_eq!(agent.answer("2", "enough"), "thanks");
    fake.assert_played();
}

#[test]
fn a_reader_that_is_slow_loses_nothing_and_costs_no_memory() {
    const TOKENS: usize = 60_000;
    let text = "0123456789abcdef".repeat(TOKENS);
    let fake = Messages::start([Turn::text("warm"), Turn::text(text.clone()).pieces(16)]);
    let setup = Setup::on(&fake);
    let mut command = setup.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = Group::spawn(command);
    let mut stdin = agent.take_stdin();
    let mut stdout = BufReader::with_capacity(64, agent.take_stdout());
    let mut answer = |id: &str, pause: Duration| {
        let request = json!({"id": id, "kind": "user_message", "message": "talk"});
        writeln!(stdin, "{request}").unwrap();
        let (mut said, mut lines) = (String::new(), 0);
        loop {
            let mut line = String::new();
            #[allow(clippy::disallowed_methods, reason = "lines of our own")]
            stdout.read_line(&mut line).unwrap();
            let line: Value = serde_json::from_str(&line).unwrap();
            said.push_str(line["token"].as_str().unwrap_or_default());
            lines += 1;
            // Now and then nothing is read until all that can be buffered is.
            if lines % 15_000 == 0 {
                std::thread::sleep(pause);
            }
            if is_end(&line) {
                assert_eq!(line["type"], "done");
                return said;
            }
        }
    };
    assert_eq!(answer("1", Duration::ZERO), "warm");
    let before = resident_kib(agent.pid());
    let said = answer("2", Duration::from_millis(200));
    assert!(said == text, "{} of {} bytes came", said.len(), text.len());
    // Six megabytes passed through; the answer itself, which is kept, has one.
    let grown = peak_kib(agent.pid()).saturating_sub(before);
    assert!(grown < 12 * 1024, "it grew by {grown} KiB");
}
