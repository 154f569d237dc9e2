//! What a front end receives after it has sent `hello`.

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Setup, words};

#[test]
fn every_response_after_hello_has_the_next_number() {
    let mut agent = Setup::new().file("a.txt", "x").start();
    agent.answer("0", "hello");
    agent.hello();
    agent.say("1", "read a.txt");
    let all = agent.all("1");
    let numbers: Vec<u64> = all.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    let first = numbers[0];
    assert!(numbers.iter().copied().eq(first..first + numbers.len() as u64), "{numbers:?}");
}

#[test]
fn replay_sends_again_what_was_sent_also_from_before_hello() {
    let mut agent = Setup::new().file("a.txt", "x").start();
    agent.hello();
    agent.say("1", "read a.txt");
    let all = agent.all("1");
    let from = all[0]["seq"].as_u64().unwrap();
    agent.send(&json!({"id": "r", "kind": "replay", "fromSeq": from}));
    for line in &all {
        assert_eq!(&agent.next(), line);
    }
    let done = agent.next();
    assert_eq!((&done["id"], &done["type"]), (&json!("r"), &json!("done")));
    let last = all.last().unwrap()["seq"].as_u64().unwrap();
    assert_eq!(done["data"], json!({"kind": "replay", "fromSeq": from, "toSeq": last}));

    agent.send(&json!({"id": "r1", "kind": "replay", "fromSeq": 1}));
    let ready = agent.next();
    assert_eq!((&ready["type"], &ready["seq"]), (&json!("ready"), &json!(1)), "{ready}");
    assert_eq!(agent.next()["seq"], 2);
}

#[test]
fn replay_of_what_is_not_kept_any_more_says_so() {
    let fake = Messages::start([Turn::text("x".repeat(3_000_000)).pieces(1000)]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "talk");
    agent.end("1");
    let refused = agent.ask(&json!({"id": "r", "kind": "replay", "fromSeq": 1}));
    assert_eq!(refused["type"], "error");
    assert_eq!(refused["data"]["kind"], "not_found");
}

#[test]
fn the_end_says_why_and_what_it_took() {
    let fake = Messages::start([
        Turn::text("Hi"),
        Turn::text("cut short").stop_reason("max_tokens"),
        Turn::text("I will not").stop_reason("refusal"),
    ]);
    let mut agent = Setup::on(&fake).env("ANTHROPIC_MODEL", "claude-sonnet-4-5").start();
    agent.hello();
    for (id, reason) in [("1", "end_turn"), ("2", "max_tokens"), ("3", "refusal")] {
        agent.say(id, "hello");
        let data = &agent.end(id)["data"];
        assert_eq!(data["stopReason"], reason);
        assert!(data["usage"]["inputTokens"].as_u64().unwrap() > 0, "{data}");
        assert!(data["usage"]["outputTokens"].as_u64().unwrap() > 0, "{data}");
        assert!(data["cost"].as_f64().unwrap() > 0.0, "{data}");
    }
}

/// Without extensions the end of a request says nothing but that it is the end.
#[test]
fn a_plain_front_end_reads_that_an_answer_is_not_whole() {
    let wants = || Turn::tool_use("list_files", json!({"path": "."}));
    let fake = Messages::start([
        Turn::text("whole"),
        Turn::text("cut short").stop_reason("max_tokens"),
        Turn::text("I will not").stop_reason("refusal"),
        wants(),
        wants(),
        Turn::text("thanks"),
    ]);
    let mut agent = Setup::on(&fake).config("[agent]\nmax_rounds = 2\n").start();
    assert_eq!(agent.answer("1", "hello"), "whole");
    for (id, said, why) in [
        ("2", "cut short", "raise `agent.max_tokens`.]"),
        ("3", "I will not", "declined to say more.]"),
        (
            "4",
            "",
            "the limit of rounds for one message: ask to go on, or raise `agent.max_rounds`.]",
        ),
    ] {
        agent.say(id, "hello");
        let all = agent.all(id);
        let (note, end) = (&all[all.len() - 2]["token"], &all[all.len() - 1]);
        let note = note.as_str().unwrap();
        assert!(note.starts_with("\n\n[This answer is not whole: ") && note.ends_with(why));
        assert_eq!(words(&all), format!("{said}{note}"));
        assert_eq!((&end["type"], &end["data"]), (&json!("done"), &Value::Null));
    }
    // The notes are none of the model's words.
    assert_eq!(agent.answer("5", "enough"), "thanks");
    assert!(!fake.last().body["messages"].to_string().contains("is not whole"));
    fake.assert_played();
}

#[test]
fn thoughts_are_sent_only_to_those_who_take_them_and_go_back_to_the_model() {
    let turns = || {
        [
            Turn::new().thinking("let me see").tool("list_files", json!({"path": "."})),
            Turn::text("done"),
        ]
    };
    let fake = Messages::start(turns());
    let config = "[agent]\nthinking_tokens = 2048\n";
    let mut agent = Setup::on(&fake).config(config).start();
    agent.hello();
    agent.say("1", "hello");
    let all = agent.all("1");
    let thoughts: String = all.iter().filter_map(|line| line["thinking"].as_str()).collect();
    assert_eq!(thoughts, "let me see");
    assert_eq!(fake.last().body["messages"][1]["content"][0]["type"], "thinking");
    fake.assert_played();

    let fake = Messages::start(turns());
    let mut agent = Setup::on(&fake).config(config).start();
    agent.say("1", "hello");
    assert!(agent.all("1").iter().all(|line| line["type"] != "thinking"));
}

#[test]
fn a_running_command_is_heard_while_it_runs() {
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "./job"})),
        Turn::text("done"),
    ]);
    let script = "echo first; echo wrong >&2; read line < go; echo second";
    let setup = Setup::on(&fake).runs().script("job", script).pipe("go");
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "run it");
    let mut heard = [String::new(), String::new()];
    while !heard[0].contains("first") || !heard[1].contains("wrong") {
        let progress = agent.until("1", "tool_progress");
        let at = usize::from(progress["data"]["stream"] == "stderr");
        heard[at].push_str(progress["data"]["text"].as_str().unwrap());
    }
    // It goes on only now: what was heard was heard while it ran.
    std::fs::write(setup.work().join("go"), "\n").unwrap();
    let result = agent.until("1", "tool_result");
    assert_eq!(result["data"]["result"]["stdout"], "first\nsecond\n");
    assert_eq!(agent.end("1")["type"], "done");
}

#[test]
fn conversations_are_made_listed_loaded_renamed_and_deleted() {
    let fake = Messages::start((0..4).map(|number| Turn::text(format!("answer {number}"))));
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    let made = agent.ask(&json!({"id": "n", "kind": "new_conversation", "title": "Plans"}));
    let first = made["data"]["conversationId"].as_str().unwrap().to_owned();
    agent.answer("1", "what about monday?");
    agent.say_in("other", "2", "something else");
    agent.end("2");
    let listed = agent.ask(&json!({"id": "l", "kind": "list_conversations"}));
    let conversations = listed["data"]["conversations"].as_array().unwrap();
    let names: Vec<(&str, &str)> = conversations
        .iter()
        .map(|one| (one["conversationId"].as_str().unwrap(), one["title"].as_str().unwrap()))
        .collect();
    assert_eq!(names, [("other", "something else"), (&first, "Plans")]);
    assert_eq!(listed["data"]["current"], first);

    let load = |id: &str| json!({"id": "load", "kind": "load_conversation", "conversationId": id});
    let loaded = agent.ask(&load("other"));
    assert_eq!(loaded["data"]["length"], 2);
    assert_eq!(loaded["data"]["messages"][1]["content"][0]["text"], "answer 1");
    // It is the current one now.
    agent.answer("3", "go on");
    assert!(fake.last().user_text().contains("something else"));

    let rename = json!({"id": "r", "kind": "rename_conversation", "conversationId": "other", "title": "Else"});
    assert_eq!(agent.ask(&rename)["type"], "done");
    assert_eq!(agent.ask(&load("other"))["data"]["title"], "Else");
    let delete = json!({"id": "d", "kind": "delete_conversation", "conversationId": "other"});
    assert_eq!(agent.ask(&delete)["type"], "done");
    let gone = agent.ask(&load("other"));
    assert_eq!((&gone["type"], &gone["data"]["kind"]), (&json!("error"), &json!("not_found")));
}

#[test]
fn an_answer_can_be_made_again_and_a_message_edited() {
    let fake = Messages::start([
        Turn::text("one"),
        Turn::text("two"),
        Turn::text("three"),
        Turn::text("four").cut_after(2),
        Turn::text("five"),
    ]);
    let mut agent = Setup::on(&fake).config("[agent]\nretry_seconds = 0\n").start();
    agent.hello();
    agent.answer("1", "first");
    let done = |all: &[Value]| assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    agent.send(&json!({"id": "2", "kind": "regenerate"}));
    let all = agent.all("2");
    done(&all);
    assert_eq!(words(&all), "two");
    let messages = fake.last().body["messages"].as_array().unwrap().len();
    assert_eq!(messages, 1, "the first answer was taken back");
    agent.send(&json!({"id": "3", "kind": "edit_last", "message": "better"}));
    assert_eq!(words(&agent.all("3")), "three");
    let asked = fake.last().user_text();
    assert!(asked.contains("better") && !asked.contains("first"), "{asked}");
    // One that fails takes nothing away.
    agent.send(&json!({"id": "4", "kind": "regenerate"}));
    assert_eq!(agent.end("4")["type"], "error");
    agent.answer("5", "and?");
    let messages = fake.last().body["messages"].to_string();
    assert!(messages.contains("three"), "{messages}");

    let mut agent = Setup::new().start();
    agent.hello();
    let nothing = agent.ask(&json!({"id": "1", "kind": "regenerate"}));
    assert_eq!(nothing["data"]["kind"], "not_found");
}
