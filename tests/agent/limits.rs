//! The limits of a conversation: what the model can read, and what may be spent.

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::until::until;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, notices, words};

/// Some words of what the model is asked for a summary.
const SUMMARY: &str = "Write a summary that takes its place";
const SMALL: &str = "[agent]\ncontext_tokens = 2000\nmax_tokens = 1500\nthinking_tokens = 1024\n";

/// A message of about 400 tokens.
fn long(number: usize) -> String {
    format!("message {number}. {}", "words and words. ".repeat(80))
}

/// A service that answers messages and summaries; the second message takes a tool.
fn service(summaries: impl IntoIterator<Item = Turn>) -> Messages {
    let tool = Turn::new().thinking("hm").tool("read_file", json!({"path": "a.txt"}));
    let texts =
        (2..20).map(|number| Turn::new().thinking("so").and_text(format!("it is {number}")));
    let turns = [Turn::text("it is 1"), tool].into_iter().chain(texts);
    let fake = Messages::start(turns);
    fake.conversation(SUMMARY, summaries);
    fake
}

fn small(fake: &Messages) -> Setup {
    Setup::on(fake).config(SMALL).file("a.txt", "hay")
}

fn talk(agent: &mut Runtime, numbers: std::ops::RangeInclusive<usize>) -> Vec<Value> {
    let mut all = Vec::new();
    for number in numbers {
        agent.say_in("it", &number.to_string(), &long(number));
        all.extend(agent.all(&number.to_string()));
        assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    }
    all
}

fn refusals(fake: &Messages) -> Vec<String> {
    fake.requests().into_iter().filter_map(|r| r.refusal).map(|r| r.message).collect()
}

#[test]
fn a_long_conversation_is_summed_up_with_a_note() {
    let fake =
        service((1..9).map(|number| Turn::text(format!("This was said before ({number})."))));
    let setup = small(&fake);
    let mut agent = setup.start();
    agent.hello();
    let all = talk(&mut agent, 1..=9);
    let compacted = notices(&all).iter().filter(|kind| **kind == "compacted").count();
    assert!((1..8).contains(&compacted), "{compacted}");
    let sent = fake.last().user_text();
    assert!(sent.contains("This was said before"), "{sent}");
    assert!(sent.contains("message 9.") && sent.contains("message 8."), "recent turns are gone");
    assert!(!sent.contains("message 1."), "{sent}");
    // A person still sees all of it.
    let shown = agent.load("it");
    assert_eq!(shown.len(), 9 * 2 + 2);
    assert!(shown[0]["content"][0]["text"].as_str().unwrap().starts_with("message 1."));
    // It stays so in another process.
    agent.kill();
    let mut agent = setup.start();
    talk(&mut agent, 10..=10);
    assert!(fake.last().user_text().contains("This was said before"));
    assert_eq!(refusals(&fake), [""; 0]);
}

#[test]
fn a_turn_of_many_large_rounds_goes_on_past_the_limit_of_the_model() {
    const ROUNDS: usize = 60;
    let reads = (0..ROUNDS).map(|number| {
        Turn::new().tool_with_id(format!("t{number}"), "read_file", json!({"path": "large.txt"}))
    });
    let fake = Messages::start(reads.chain([Turn::text("all read")]));
    let summaries = (1..=ROUNDS).map(|number| Turn::text(format!("Read so far: {number}.")));
    fake.conversation(SUMMARY, summaries);
    let config = "[agent]\ncontext_tokens = 8000\nmax_tokens = 1000\nmax_rounds = 100\n";
    let setup = Setup::on(&fake).config(config).file("large.txt", "words and words. ".repeat(220));
    let mut agent = setup.start();
    agent.hello();
    agent.say_in("it", "1", "read it sixty times");
    let all = agent.all("1");
    assert_eq!(all.last().unwrap()["data"]["stopReason"], "end_turn", "{:#?}", all.last());
    assert_eq!(words(&all), "all read");
    let results = all.iter().filter(|line| line["type"] == "tool_result");
    assert_eq!(results.filter(|result| result["data"]["isError"] == false).count(), ROUNDS);
    let cuts: Vec<&Value> = all.iter().filter(|line| line["type"] == "notice").collect();
    assert!(
        cuts.len() > 3 && cuts.iter().all(|cut| cut["data"]["kind"] == "compacted"),
        "{cuts:?}"
    );
    let longest = fake.requests().iter().map(|request| request.body.to_string().len()).max();
    assert!(longest < Some(60_000), "{longest:?}");
    assert_eq!(refusals(&fake), [""; 0]);
    // A person still sees all of it, and so does another process.
    agent.kill();
    let mut agent = setup.start();
    agent.hello();
    assert_eq!(agent.load("it").len(), 100, "the last page of {}", 2 + 2 * ROUNDS);
}

#[test]
fn a_front_end_that_takes_no_notices_reads_the_note_in_the_answer() {
    let fake = service((1..9).map(|_| Turn::text("This was said before.")));
    let mut agent = small(&fake).start();
    let mut answers = Vec::new();
    for number in 1..=5 {
        answers.push(words(&talk(&mut agent, number..=number)));
    }
    let noted: Vec<&String> =
        answers.iter().filter(|words| words.starts_with("[the first")).collect();
    assert!(!noted.is_empty(), "{answers:#?}");
    assert!(noted.iter().all(|words| words.contains("summary") && words.contains("]\n\nit is ")));
    // The note is none of the model's words.
    assert!(!fake.last().body["messages"].to_string().contains("[the first"));
    assert_eq!(refusals(&fake), [""; 0]);
}

#[test]
fn where_no_summary_comes_the_users_words_stand_for_it() {
    let broken = [Turn::text("This was").cut_after(5), Turn::refused(400, "invalid_request_error")];
    let fake = service(broken);
    let mut agent = small(&fake).start();
    agent.hello();
    let all = talk(&mut agent, 1..=5);
    assert!(notices(&all).contains(&"compacted"), "{all:#?}");
    let sent = fake.last().user_text();
    assert!(sent.contains("there is no summary") && sent.contains("- message 1."), "{sent}");
    assert!(!sent.contains("This was"), "half a summary");
}

#[test]
fn a_summary_can_be_cancelled_and_counts_for_the_budget() {
    let stalls = Turn::text("This was said before.").stall_after(4);
    let fake = service([stalls, Turn::text("This was said before.")]);
    let mut agent = small(&fake).start();
    agent.hello();
    let mut number = 0;
    let summing = loop {
        number += 1;
        agent.say_in("it", &number.to_string(), &long(number));
        if !ends_unsummed(&mut agent, &fake, &number.to_string()) {
            break number.to_string();
        }
    };
    agent.send(&json!({"id": "c", "kind": "cancel", "target": summing}));
    assert_eq!(agent.end(&summing)["data"]["stopReason"], "cancelled");
    fake.wait_for_hangups(1);
    let all = talk(&mut agent, 8..=8);
    assert_eq!(notices(&all), ["compacted"]);
    // The summary and the answer, ten tokens each.
    assert_eq!(all.last().unwrap()["data"]["usage"]["inputTokens"], 20);
}

/// The service says that it was sent too much.
fn too_long() -> Turn {
    let words = "prompt is too long: 210000 tokens > 200000 maximum";
    Turn::refused(400, "invalid_request_error").saying(words)
}

/// A service with this script, which also writes a summary.
fn strained(turns: impl IntoIterator<Item = Turn>) -> Messages {
    let fake = Messages::start(turns);
    fake.conversation(SUMMARY, [Turn::text("This was said before.")]);
    fake
}

#[test]
fn what_the_model_finds_too_long_is_summed_up_and_asked_again() {
    let fake = strained([
        Turn::text("it is 1"),
        Turn::text("it is 2"),
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        too_long(),
        Turn::text("it is hay"),
    ]);
    let mut agent = Setup::on(&fake).file("a.txt", "hay").start();
    agent.hello();
    talk(&mut agent, 1..=2);
    let all = talk(&mut agent, 3..=3);
    assert_eq!((words(&all).as_str(), notices(&all)), ("it is hay", vec!["compacted"]));
    // Two answers and the summary, ten tokens each.
    assert_eq!(all.last().unwrap()["data"]["usage"]["inputTokens"], 30);
    let (sent, results) = (fake.last().user_text(), fake.last().tool_results());
    assert!(sent.contains("This was said before") && sent.contains("message 3."), "{sent}");
    assert!(!sent.contains("message 1."), "{sent}");
    assert_eq!(results[0].text.trim(), "hay", "what the turn has done stays");
    assert_eq!(agent.load("it").len(), 8);
    fake.assert_played();
}

#[test]
fn another_message_in_place_of_the_last_may_be_too_long_too() {
    let fake =
        strained([Turn::text("it is 1"), Turn::text("it is 2"), too_long(), Turn::text("again")]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    talk(&mut agent, 1..=2);
    let metadata = json!({"conversationId": "it"});
    agent.send(&json!({"id": "e", "kind": "edit_last", "message": "other", "metadata": metadata}));
    let all = agent.all("e");
    assert_eq!((words(&all).as_str(), notices(&all)), ("again", vec!["compacted"]));
    let sent = fake.last().user_text();
    assert!(sent.contains("This was said before") && sent.ends_with("other"), "{sent}");
    assert!(!sent.contains("message 1.") && !sent.contains("message 2."), "{sent}");
    assert_eq!(agent.load("it").len(), 4);
    fake.assert_played();
}

#[test]
fn what_cannot_be_shortened_fails_with_what_helps() {
    let alone = (vec![too_long(), Turn::text("short enough")], 0, 1);
    let again =
        (vec![Turn::text("it is 1"), too_long(), too_long(), Turn::text("short enough")], 1, 4);
    for (turns, before, asked) in [alone, again] {
        let fake = strained(turns);
        let mut agent = Setup::on(&fake).start();
        agent.hello();
        talk(&mut agent, 1..=before);
        agent.say_in("it", "over", &long(9));
        let end = agent.end("over");
        let data = json!({"kind": "too_long", "status": 400, "retryable": false});
        assert_eq!((&end["type"], &end["data"]), (&json!("error"), &data), "{end}");
        for word in ["prompt is too long", "`edit_last`", "`clear_history`", "a new conversation"] {
            assert!(end["error"].as_str().unwrap().contains(word), "{end}");
        }
        assert_eq!(fake.requests().len(), asked, "with the summary, if there was one");
        agent.say_in("it", "less", "less");
        assert_eq!(words(&agent.all("less")), "short enough");
        assert!(!fake.last().user_text().contains("message 9."), "it was left out");
        let kept = agent.load("it");
        let left_out = kept.iter().find(|message| message["content"][1]["type"] == "left_out");
        assert!(left_out.is_some_and(|message| message.to_string().contains("message 9.")));
    }
}

#[test]
fn what_the_service_will_not_take_any_more_is_told_and_edit_last_helps() {
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        Turn::refused(400, "invalid_request_error"),
        Turn::text("fine"),
    ]);
    let mut agent = Setup::on(&fake).file("a.txt", "hay").start();
    agent.hello();
    agent.say_in("it", "1", "read it");
    let end = agent.end("1");
    assert_eq!(end["data"]["kind"], "refused", "{end}");
    for word in ["may refuse this conversation", "`edit_last`", "`regenerate`"] {
        assert!(end["error"].as_str().unwrap().contains(word), "{end}");
    }
    let metadata = json!({"conversationId": "it"});
    agent.send(&json!({"id": "2", "kind": "edit_last", "message": "no", "metadata": metadata}));
    assert_eq!(words(&agent.all("2")), "fine");
    assert_eq!(fake.last().user_text(), "no");
}

/// Waits until the request has ended or a summary is asked for.
fn ends_unsummed(agent: &mut Runtime, fake: &Messages, id: &str) -> bool {
    let is_unsummed = until("an end or a summary", || {
        if fake.requests().iter().any(|request| request.user_text().contains(SUMMARY)) {
            return Some(false);
        }
        let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
        (status["data"]["state"] == "idle").then_some(true)
    });
    if is_unsummed {
        assert_eq!(agent.end(id)["type"], "done");
    }
    is_unsummed
}

fn texts(count: usize) -> Messages {
    Messages::start((0..count).map(|_| Turn::text("yes")))
}

/// The message is refused for this reason, and the model is not asked.
fn refused(agent: &mut Runtime, fake: &Messages, conversation: &str, kind: &str, key: &str) {
    let before = fake.requests().len();
    agent.say_in(conversation, "over", "one more");
    let end = agent.end("over");
    assert_eq!(end["type"], "error", "{end}");
    assert_eq!(end["data"]["kind"], kind, "{end}");
    assert_eq!(end["data"]["retryable"], kind == "rate", "{end}");
    assert!(end["error"].as_str().unwrap().contains(&format!("`agent.{key}`")), "{end}");
    assert_eq!(fake.requests().len(), before, "the model was asked");
}

fn allowed(agent: &mut Runtime, conversation: &str) -> Value {
    agent.say_in(conversation, "within", "hello");
    let end = agent.end("within");
    assert_eq!(end["type"], "done", "{end}");
    end
}

/// An answer of the fake takes 15 tokens, which cost 0.000105 dollars with this model.
fn limited(fake: &Messages, setting: &str) -> Setup {
    Setup::on(fake)
        .env("ANTHROPIC_MODEL", "claude-sonnet-4-5")
        .config(&format!("[agent]\n{setting}\n"))
}

#[test]
fn a_conversation_takes_no_more_than_it_may() {
    for (setting, key) in [
        ("conversation_tokens = 16", "conversation_tokens"),
        ("conversation_usd = 0.00011", "conversation_usd"),
    ] {
        let fake = texts(4);
        let setup = limited(&fake, setting);
        let mut agent = setup.start();
        agent.hello();
        let first = allowed(&mut agent, "one");
        assert_eq!(first["data"]["cost"], 0.000_105);
        allowed(&mut agent, "one");
        refused(&mut agent, &fake, "one", "budget", key);
        assert_eq!(agent.load("one").len(), 5, "what was not answered is kept");
        allowed(&mut agent, "another");
        // Neither a restart nor forgetting helps.
        agent.send(
            &json!({"id": "c", "kind": "clear_history", "metadata": {"conversationId": "one"}}),
        );
        assert_eq!(agent.end("c")["type"], "done");
        agent.kill();
        let mut agent = setup.start();
        agent.hello();
        refused(&mut agent, &fake, "one", "budget", key);
    }
}

#[test]
fn a_day_takes_no_more_than_it_may() {
    for (setting, key) in [("day_tokens = 16", "day_tokens"), ("day_usd = 0.00011", "day_usd")] {
        let fake = texts(2);
        let setup = limited(&fake, setting);
        let mut agent = setup.start();
        agent.hello();
        allowed(&mut agent, "one");
        allowed(&mut agent, "two");
        refused(&mut agent, &fake, "three", "budget", key);
        let delete = json!({"id": "d", "kind": "delete_conversation", "conversationId": "one"});
        assert_eq!(agent.ask(&delete)["type"], "done");
        agent.kill();
        let mut agent = setup.start();
        agent.hello();
        refused(&mut agent, &fake, "four", "budget", key);
    }
}

#[test]
fn dollars_need_a_price() {
    let fake = texts(3);
    let setup = limited(&fake, "conversation_usd = 1.0").env("ANTHROPIC_MODEL", "my-own-model");
    let mut agent = setup.start();
    agent.hello();
    refused(&mut agent, &fake, "one", "budget", "prices");
    let priced = "conversation_usd = 1.0\nprice_input = 10000.0\nprice_output = 200000.0";
    let setup = limited(&fake, priced).env("ANTHROPIC_MODEL", "my-own-model");
    let mut agent = setup.start();
    agent.hello();
    let first = allowed(&mut agent, "one");
    assert!((first["data"]["cost"].as_f64().unwrap() - 1.1).abs() < 1e-9, "{first}");
    refused(&mut agent, &fake, "one", "budget", "conversation_usd");
    // Without a budget nobody needs to know.
    let mut agent = Setup::on(&fake).env("ANTHROPIC_MODEL", "my-own-model").start();
    agent.hello();
    assert_eq!(allowed(&mut agent, "one")["data"]["cost"], Value::Null);
}

#[test]
fn a_minute_has_no_more_requests_than_it_may() {
    let fake = Messages::start([
        Turn::tool_use("list_files", json!({"path": "."})),
        Turn::text("nothing there"),
        Turn::text("yes"),
    ]);
    let mut agent = limited(&fake, "requests_per_minute = 3").start();
    agent.hello();
    allowed(&mut agent, "one");
    allowed(&mut agent, "two");
    let asked = fake.requests().len();
    for conversation in ["three", "one"] {
        agent.say_in(conversation, conversation, "hello");
        let told = agent.until(conversation, "notice");
        assert_eq!(told["data"]["kind"], "rate", "{told}");
        assert!(told["data"]["text"].as_str().unwrap().contains("requests_per_minute"), "{told}");
        agent.send(&json!({"id": "c", "kind": "cancel", "target": conversation}));
        assert_eq!(agent.end(conversation)["data"]["stopReason"], "cancelled");
    }
    assert_eq!(fake.requests().len(), asked, "it waits");
}

#[test]
fn a_budget_that_ends_between_two_rounds_leaves_a_conversation_that_goes_on() {
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "a.txt"})),
        Turn::text("It is hay."),
    ]);
    let setup = limited(&fake, "conversation_tokens = 15").file("a.txt", "hay");
    let mut agent = setup.start();
    agent.hello();
    agent.say_in("one", "1", "read it");
    let all = agent.all("1");
    assert!(all.iter().any(|line| line["type"] == "tool_result"), "{all:#?}");
    assert_eq!(all.last().unwrap()["data"]["kind"], "budget", "{all:#?}");
    agent.kill();
    let mut agent = setup.arg("--conversation-tokens").arg("1000").start();
    agent.say_in("one", "2", "go on");
    assert_eq!(words(&agent.all("2")), "It is hay.");
    assert_eq!(fake.last().tool_results()[0].text.trim(), "hay");
    fake.assert_played();
}
