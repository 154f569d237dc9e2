//! Budgets hold for all processes that share a ledger, at the same time and one after another.

use callgate_testkit::chat::{Chat, ChatReply, Dialect};
use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup};

/// An answer of the fake takes 15 tokens.
fn texts(count: usize) -> Messages {
    Messages::start((0..count).map(|_| Turn::text("yes")))
}

fn limited(fake: &Messages, setting: &str) -> Setup {
    Setup::on(fake).config(&format!("[agent]\n{setting}\n"))
}

fn start(setup: &Setup) -> Runtime {
    let mut agent = setup.start();
    agent.hello();
    agent
}

/// Sends a message and returns its end.
fn end_of(agent: &mut Runtime, conversation: &str) -> Value {
    agent.say_in(conversation, "m", "hello");
    agent.end("m")
}

fn is_over(end: &Value) -> bool {
    assert!(end["type"] == "done" || end["data"]["kind"] == "budget", "{end}");
    end["type"] == "error"
}

/// 60 conversations at once went through a limit of 300 tokens.
#[test]
fn all_who_ask_at_once_stay_within_one_budget() {
    let fake = texts(60);
    let setup = limited(&fake, "day_tokens = 30");
    let mut agents = [start(&setup), start(&setup), start(&setup)];
    for (process, agent) in agents.iter_mut().enumerate() {
        for number in 0..20 {
            agent.say_in(&format!("{process}-{number}"), &number.to_string(), "hello");
        }
    }
    let mut answered = 0;
    for agent in &mut agents {
        let ends = (0..20).map(|number| agent.end(&number.to_string()));
        answered += ends.filter(|end| !is_over(end)).count();
    }
    assert!((1..=2).contains(&answered), "{answered} answers of 15 tokens");
    assert_eq!(fake.requests().len(), answered);
}

#[test]
fn a_day_is_counted_in_the_ledger_wherever_conversations_are_kept() {
    let fake = texts(3);
    let base = limited(&fake, "day_tokens = 40");
    let other = base.home().join("other.db");
    let elsewhere = base.clone().arg("--history").arg(other.to_str().unwrap());
    let nowhere = base.clone().arg("--no-history");
    for is_spent in [false, true] {
        for setup in [&nowhere, &elsewhere, &base] {
            let mut agent = start(setup);
            assert_eq!(is_over(&end_of(&mut agent, "one")), is_spent);
            agent.finish();
        }
    }
    fake.assert_played();
}

#[test]
fn a_conversation_is_counted_in_the_ledger_wherever_it_is_kept() {
    let fake = texts(3);
    let base = limited(&fake, "conversation_tokens = 15");
    let other = base.home().join("other.db");
    let elsewhere = base.clone().arg("--history").arg(other.to_str().unwrap());
    for setup in [&base, &elsewhere] {
        let mut agent = start(setup);
        assert!(!is_over(&end_of(&mut agent, "one")), "each file has a conversation of that name");
        agent.finish();
        assert!(is_over(&end_of(&mut start(setup), "one")));
    }
    let mut agent = start(&base.clone().arg("--no-history"));
    assert!(!is_over(&end_of(&mut agent, "one")));
    assert!(is_over(&end_of(&mut agent, "one")));
    fake.assert_played();
}

/// What a process that was killed had reserved is neither free again nor lost for ever.
#[test]
fn the_answer_of_a_process_that_was_killed_counts_as_spent() {
    let fake = Messages::start([Turn::text("abc").pieces(1).stall_after(5), Turn::text("yes")]);
    let setup = limited(&fake, "day_tokens = 1000");
    let mut killed = start(&setup);
    killed.say_in("one", "1", "hello");
    killed.until("1", "token");
    let mut agent = start(&setup);
    let reserved = end_of(&mut agent, "two");
    assert!(is_over(&reserved) && reserved["data"]["retryable"] == true, "{reserved}");
    let text = reserved["error"].as_str().unwrap();
    assert!(text.contains("`agent.day_tokens` is reserved for answers in progress"));
    killed.kill();
    let spent = end_of(&mut agent, "two");
    assert!(is_over(&spent) && spent["data"]["retryable"] == false, "{spent}");
    assert!(spent["error"].as_str().unwrap().contains("tokens were used"), "{spent}");
    let mut agent = start(&setup.arg("--day-tokens").arg("1000000"));
    assert!(!is_over(&end_of(&mut agent, "two")));
    fake.assert_played();
}

/// Whoever stops an answer has paid for it as well.
#[test]
fn an_answer_that_is_cancelled_is_paid_for() {
    let fake = Messages::start([Turn::text("abc").pieces(1).stall_after(5)]);
    let mut agent = start(&limited(&fake, "conversation_tokens = 10"));
    agent.say_in("one", "1", "hello");
    agent.until("1", "token");
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    let end = agent.end("1");
    assert_eq!(end["data"]["stopReason"], "cancelled", "{end}");
    assert!(end["data"]["usage"]["inputTokens"].as_u64().unwrap() >= 10, "{end}");
    assert!(is_over(&end_of(&mut agent, "one")));
    fake.assert_played();
}

/// The last answer cannot pass the limit by more than its input.
#[test]
fn an_answer_may_be_as_long_as_what_is_left_of_the_budget() {
    let fake = texts(3);
    let base = limited(&fake, "conversation_tokens = 100\nmax_tokens = 90");
    let mut agent = start(&base);
    for _ in 0..3 {
        assert!(!is_over(&end_of(&mut agent, "one")));
    }
    // Each answer of the fake takes 15 tokens.
    let longest: Vec<Value> =
        fake.requests().iter().map(|request| request.body["max_tokens"].clone()).collect();
    assert_eq!(longest, [90, 85, 70]);
    fake.assert_played();
}

/// A model on this machine costs nothing, so a budget in dollars does not stop it.
#[test]
fn what_costs_nothing_needs_no_price() {
    let budget = "[agent]\nday_usd = 0.5\n";
    let mut offline = start(&Setup::new().config(budget));
    let end = end_of(&mut offline, "one");
    assert_eq!((&end["type"], &end["data"]["cost"]), (&json!("done"), &json!(0.0)), "{end}");
    let texts = || [ChatReply::Text("yes".to_owned()), ChatReply::Text("yes".to_owned())];
    let fake = Chat::start(Dialect::ChatCompletions, texts()).local(["m"]);
    let setup = Setup::new().env("OPENAI_BASE_URL", &fake.url());
    let end = end_of(&mut start(&setup.clone().config(budget)), "one");
    assert_eq!((&end["type"], &end["data"]["cost"]), (&json!("done"), &json!(0.0)), "{end}");
    // Unless it has a price: 10 tokens of input and 5 of output.
    let priced = format!("{budget}prices = \"m=20000/60000\"\n");
    let mut agent = start(&setup.config(&priced));
    let end = end_of(&mut agent, "two");
    assert_eq!(end["data"]["cost"], json!(0.5), "{end}");
    assert!(is_over(&end_of(&mut agent, "two")));
}
