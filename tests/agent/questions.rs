//! Questions of the model and of tool servers: with typed fields, and as text for a plain front
//! end.

use std::process::Stdio;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::tools;
use serde_json::{Value, json};

use crate::chat::chat_screen::Chat;
use crate::engines::claude_code::Stage;
use crate::fixture::{Runtime, Setup};
use crate::mcp::mcp_peers::HttpServer;

fn colours() -> Value {
    let options = json!([{"label": "Red", "description": "warm"}, {"label": "Blue"}]);
    json!({"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]})
}

fn asks() -> [Turn; 2] {
    [Turn::tool_use("ask_user", colours()), Turn::text("Thank you.")]
}

fn hello(agent: &mut Runtime, capabilities: &Value) {
    let hello = json!({"id": "h", "kind": "hello", "capabilities": capabilities});
    assert_eq!(agent.ask(&hello)["type"], "done");
}

fn answer(agent: &mut Runtime, question: &Value, outcome: &str, values: Option<Value>) -> Value {
    let mut answer =
        json!({"id": "a", "kind": "question_answer", "question": question, "outcome": outcome});
    if let Some(values) = values {
        answer["values"] = values;
    }
    agent.ask(&answer)
}

#[test]
fn a_question_has_typed_fields_and_an_answer_that_does_not_fit_leaves_it_open() {
    let fake = Messages::start(asks());
    let rules = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\ntool = \"*\"\n";
    // Even a rule that allows everything cannot answer for a person.
    let mut agent = Setup::on(&fake).rules(rules).start();
    hello(&mut agent, &json!(["permission", "question"]));
    agent.say("1", "paint it");
    let asked = agent.until("1", "question");
    let data = &asked["data"];
    assert_eq!(data["text"], "Which colour?");
    assert!(data["server"].is_null() && data["deadline"].is_u64());
    let field = &data["fields"][0];
    assert_eq!((&field["type"], &field["freeText"]), (&json!("one_of"), &json!(true)));
    assert_eq!(field["options"][1], json!({"value": "Blue", "title": "Blue"}));
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["agentQuestions"][0]["data"], *data);
    assert_eq!(status["data"]["questions"], json!([]));
    // It is no permission, and permissions are not given by it.
    let allow = json!({"id": "p", "kind": "permission_answer", "question": data["question"], "decision": "allow"});
    assert_eq!(agent.ask(&allow)["data"]["kind"], "protocol");
    let wrong = answer(&mut agent, &data["question"], "answered", Some(json!({"1": 7})));
    assert_eq!(wrong["data"]["kind"], "answer");
    assert_eq!(wrong["error"], "the answer does not fit: Which colour?: this is not a text");
    let wrong = answer(&mut agent, &data["question"], "answered", None);
    assert_eq!(wrong["error"], "the answer does not fit: Which colour?: an answer is required");
    let right = answer(&mut agent, &data["question"], "answered", Some(json!({"1": "Blue"})));
    assert_eq!(right["type"], "done", "{right}");
    let resolved = agent.until("1", "question_resolved");
    assert_eq!(resolved["data"]["outcome"], "answered");
    let result = agent.until("1", "tool_result");
    assert_eq!(result["data"]["result"], json!({"answers": {"Which colour?": "Blue"}}));
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].text.contains("Which colour?\n  Blue"));
    let late = answer(&mut agent, &data["question"], "declined", None);
    assert_eq!(late["data"]["kind"], "too_late");
}

#[test]
fn a_declined_question_is_not_a_denied_call() {
    let fake = Messages::start(asks());
    let mut agent = Setup::on(&fake).start();
    hello(&mut agent, &json!(["question"]));
    agent.say("1", "paint it");
    let question = agent.until("1", "question")["data"]["question"].clone();
    assert_eq!(answer(&mut agent, &question, "declined", None)["type"], "done");
    assert_eq!(agent.until("1", "question_resolved")["data"]["outcome"], "declined");
    let result = agent.until("1", "tool_result");
    assert!(result["data"]["result"]["denied"].is_null(), "{result}");
    let end = agent.end("1");
    assert!(end["data"]["deniedCalls"].is_null(), "{end}");
    assert!(fake.last().tool_results()[0].is_error);
}

#[test]
fn answering_a_question_lets_no_other_call_run() {
    let run = Turn::tool_use("run_shell_command", json!({"command": "true"}));
    let fake = Messages::start([run, Turn::text("ok")]);
    let mut agent = Setup::on(&fake).start();
    hello(&mut agent, &json!(["permission", "question"]));
    agent.say("1", "go");
    let question = agent.until("1", "permission_request")["data"]["question"].clone();
    let refused = answer(&mut agent, &question, "answered", None);
    assert_eq!(refused["data"]["kind"], "too_late");
    let deny =
        json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "deny"});
    assert_eq!(agent.ask(&deny)["type"], "done");
    assert_eq!(agent.until("1", "tool_result")["data"]["result"]["denied"], true);
    agent.end("1");
}

#[test]
fn a_plain_front_end_reads_the_question_and_the_next_message_is_the_answer() {
    let fake = Messages::start(asks());
    let mut agent = Setup::on(&fake).start();
    agent.say("1", "paint it");
    let mut text = String::new();
    while !text.contains("Your next message is the answer") {
        text += agent.until("1", "token")["token"].as_str().unwrap();
    }
    assert!(text.contains("[Question] Which colour?\n  1. Red: warm\n  2. Blue\n"), "{text}");
    agent.say("2", "2");
    assert_eq!(agent.end("2")["type"], "done");
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].text.contains("Which colour?\n  Blue"));
    // Then messages are messages again.
    fake.extend([Turn::text("Hello")]);
    agent.say("3", "hi");
    assert_eq!(agent.end("3")["type"], "done");
}

#[test]
fn nobody_is_asked_who_takes_no_questions() {
    let fake = Messages::start(asks());
    let mut agent = Setup::on(&fake).start();
    hello(&mut agent, &json!(["notice"]));
    agent.say("1", "paint it");
    let result = agent.until("1", "tool_result");
    let why = result["data"]["result"]["error"].as_str().unwrap();
    assert!(why.contains("nobody can be asked"), "{why}");
    agent.end("1");
    // A front end that has gone answers nothing.
    fake.extend(asks());
    hello(&mut agent, &json!(["question"]));
    agent.say("2", "paint it");
    agent.until("2", "question");
    let (rest, status) = agent.finish();
    assert!(status.success());
    let resolved = rest.iter().find(|event| event["type"] == "question_resolved").unwrap();
    assert_eq!(resolved["data"]["outcome"], "unanswered");
    assert_eq!(rest.last().unwrap()["type"], "done");
}

#[test]
fn a_question_ends_with_its_cancelled_request() {
    let fake = Messages::start(asks());
    let mut agent = Setup::on(&fake).start();
    hello(&mut agent, &json!(["question"]));
    agent.say("1", "paint it");
    let question = agent.until("1", "question")["data"]["question"].clone();
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "1"}));
    let rest = agent.all("1");
    let resolved = rest.iter().find(|event| event["type"] == "question_resolved").unwrap();
    assert_eq!(resolved["data"]["outcome"], "unanswered");
    let late = answer(&mut agent, &question, "answered", Some(json!({"1": "Red"})));
    assert_eq!(late["data"]["kind"], "too_late");
}

#[test]
fn a_question_does_not_survive_a_kill_and_its_call_is_interrupted() {
    let fake = Messages::start(asks());
    let mut agent = Setup::on(&fake).start();
    hello(&mut agent, &json!(["question"]));
    agent.say_in("c", "1", "paint it");
    let question = agent.until("1", "question")["data"]["question"].clone();
    let mut agent = agent.kill().start();
    hello(&mut agent, &json!(["question"]));
    let load =
        json!({"id": "l", "kind": "load_conversation", "conversationId": "c", "as": "events"});
    agent.send(&load);
    let loaded = agent.all("l");
    let result = loaded.iter().find(|event| event["type"] == "tool_result").unwrap();
    assert_eq!(result["data"]["result"]["interrupted"], true, "{result}");
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["agentQuestions"], json!([]));
    let late = answer(&mut agent, &question, "answered", Some(json!({"1": "Red"})));
    assert_eq!(late["data"]["kind"], "too_late");
}

/// A server that asks.
const SERVER: &str = r#"
import asyncio, sys
from dataclasses import dataclass
from enum import Enum
from fastmcp import FastMCP, Context

server = FastMCP("clinic")

class Size(Enum):
    S = "small"
    L = "large"

@dataclass
class Order:
    name: str
    count: int
    size: Size
    gift: bool = False

@server.tool
async def order(context: Context) -> str:
    answer = await context.elicit("What do you\u202e want?", response_type=Order)
    if answer.action != "accept":
        return answer.action
    return f"{answer.data.name} {answer.data.count} {answer.data.size} {answer.data.gift}"

@server.tool
async def pay(context: Context) -> str:
    answer = await context.session.elicit_url("Please pay.", "https://shop.example/pay/17", "e1")
    return answer.action

if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
"#;

const ALLOWED: &str = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";

fn orders(agent: &mut Runtime, fake: &Messages, id: &str) -> Value {
    fake.extend([Turn::tool_use("mcp__clinic__order", json!({})), Turn::text("done")]);
    agent.say(id, "order");
    agent.until(id, "question")
}

/// Lets the server ask for an order, and answers each way.
fn answers_orders(config: &str) {
    let fake = Messages::start([]);
    let mut agent = Setup::on(&fake).rules(ALLOWED).config(config).start();
    hello(&mut agent, &json!(["permission", "question"]));
    let data = orders(&mut agent, &fake, "1")["data"].clone();
    assert_eq!(data["server"], "clinic");
    assert!(!data["text"].as_str().unwrap().contains('\u{202e}'), "{data}");
    let types: Vec<&str> = data["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["text", "integer", "one_of", "boolean"], "{data}");
    let values =
        |count: Value| Some(json!({"name": "Ada", "count": count, "size": "large", "gift": true}));
    let wrong = answer(&mut agent, &data["question"], "answered", values(json!(1.5)));
    assert!(wrong["error"].as_str().unwrap().contains("not a whole number"), "{wrong}");
    let right = answer(&mut agent, &data["question"], "answered", values(json!(2)));
    assert_eq!(right["type"], "done", "{right}");
    assert_eq!(agent.until("1", "question_resolved")["data"]["outcome"], "answered");
    agent.end("1");
    let told = fake.last().tool_results().remove(0);
    assert!(told.text.starts_with("Ada 2 ") && told.text.ends_with(" True"), "{}", told.text);
    for (id, outcome, action) in [("2", "declined", "decline"), ("3", "cancelled", "cancel")] {
        let question = orders(&mut agent, &fake, id)["data"]["question"].clone();
        assert_eq!(answer(&mut agent, &question, outcome, None)["type"], "done");
        assert_eq!(agent.until(id, "question_resolved")["data"]["outcome"], outcome);
        agent.end(id);
        assert_eq!(fake.last().tool_results()[0].text, action);
    }
}

#[test]
fn a_real_server_on_stdio_asks_the_person() {
    let Some(python) = tools::fastmcp() else { return };
    let config = format!(
        "[agent.mcp_servers.clinic]\ncommand = {python:?}\nargs = [\"-c\", '''{SERVER}''', \"stdio\"]\n"
    );
    answers_orders(&config);
}

#[test]
fn an_address_is_shown_and_agreed_to_and_nothing_more() {
    let Some(python) = tools::fastmcp() else { return };
    let config = format!(
        "[agent.mcp_servers.clinic]\ncommand = {python:?}\nargs = [\"-c\", '''{SERVER}''', \"stdio\"]\n"
    );
    let pay = Turn::tool_use("mcp__clinic__pay", json!({}));
    let fake = Messages::start([pay.clone(), Turn::text("paid"), pay, Turn::text("done")]);
    // A plain front end is asked in words.
    let mut agent = Setup::on(&fake).rules(ALLOWED).config(&config).start();
    agent.say("1", "pay");
    let mut text = String::new();
    while !text.contains("Your next message is the answer") {
        text += agent.until("1", "token")["token"].as_str().unwrap();
    }
    assert!(text.contains("[The MCP server `clinic` asks] Please pay."), "{text}");
    assert!(text.contains("visit https://shop.example/pay/17"), "{text}");
    agent.say("2", "why?");
    assert!(agent.end("2")["error"].as_str().unwrap().contains("answer `yes`"));
    agent.say("3", "yes");
    assert_eq!(agent.end("3")["type"], "done");
    agent.end("1");
    assert_eq!(fake.last().tool_results()[0].text, "accept");
    hello(&mut agent, &json!(["question"]));
    agent.say("4", "pay");
    let data = agent.until("4", "question")["data"].clone();
    assert_eq!(
        (&data["url"], &data["fields"]),
        (&json!("https://shop.example/pay/17"), &json!([]))
    );
    // The question is over with its request, and the server is told.
    agent.send(&json!({"id": "c", "kind": "cancel", "target": "4"}));
    let rest = agent.all("4");
    assert!(rest.iter().any(|event| event["type"] == "question_resolved"), "{rest:#?}");
}

#[test]
fn the_cli_s_own_question_is_the_same_event() {
    let turns = [Turn::tool_use("AskUserQuestion", colours_of_cli()), Turn::text("Thank you.")];
    let Some(stage) = Stage::new(turns) else { return };
    let mut agent = stage.setup.start();
    hello(&mut agent, &json!(["permission", "question"]));
    agent.say("1", "paint it");
    let data = agent.until("1", "question")["data"].clone();
    assert_eq!(data["text"], "Which colour?");
    let blue = Some(json!({"1": "Blue"}));
    assert_eq!(answer(&mut agent, &data["question"], "answered", blue)["type"], "done");
    agent.end("1");
    let told = stage.told();
    assert!(told[0].contains(r#""Which colour?"="Blue""#), "{told:?}");
}

/// The CLI wants more than our own tool.
fn colours_of_cli() -> Value {
    let mut input = colours();
    input["questions"][0]["multiSelect"] = json!(false);
    input["questions"][0]["options"][1]["description"] = json!("cold");
    input
}

#[test]
fn the_chat_takes_numbers_and_words() {
    let fake = Messages::start([
        Turn::tool_use("ask_user", colours()),
        Turn::tool_use("ask_user", colours()),
        Turn::text("Thank you."),
    ]);
    let mut chat = Chat::start(&Setup::on(&fake), 80);
    chat.say("paint it");
    chat.see("1 Red: warm");
    chat.see("a number, or your own words, or decline");
    chat.press_until("2\r", "✓");
    chat.press_until("green\r", "Thank you.");
    let told = |at: usize| fake.requests()[at].tool_results()[0].text.clone();
    assert!(told(1).contains("Blue") && told(2).contains("green"), "{} {}", told(1), told(2));
    assert!(chat.quit().success());
}

#[test]
fn a_script_declines_at_once() {
    let fake = Messages::start(asks());
    let setup = Setup::on(&fake);
    let mut command = setup.program(&["chat", "-p", "paint it"]);
    command.stdin(Stdio::null());
    let done = run(command, DEADLINE);
    assert_eq!(done.success().stdout, "Thank you.\n");
    let told = &fake.last().tool_results()[0];
    assert!(told.is_error && told.text.contains("Denied by"), "{told:?}");
}

#[test]
fn a_real_server_over_http_asks_the_person() {
    let Some(python) = tools::fastmcp() else { return };
    let server = HttpServer::run(&python, SERVER);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    answers_orders(&format!("[agent.mcp_servers.clinic]\nurl = {url:?}\n"));
}
