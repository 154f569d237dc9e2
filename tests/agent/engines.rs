//! Which engine answers in which conversation.

pub(crate) mod claude_code;
mod claude_control;
mod claude_failures;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;

use callgate_testkit::chat::{Chat, ChatReply, Dialect};
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::Piped;
use callgate_testkit::tools;
use callgate_testkit::until::until;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, words};

/// Has an engine answer in a conversation from now on.
fn set_engine(agent: &mut Runtime, conversation: &str, engine: &str, model: Option<&str>) -> Value {
    let mut request = json!({"id": "e", "kind": "set_engine", "engine": engine});
    request["conversationId"] = json!(conversation);
    if let Some(model) = model {
        request["model"] = json!(model);
    }
    agent.send(&request);
    agent.end("e")
}

#[test]
fn each_conversation_has_its_own_engine_and_model_also_after_a_restart() {
    let fake = Messages::start([Turn::text("First."), Turn::text("Second."), Turn::text("Third.")]);
    let setup = Setup::on(&fake).env("ANTHROPIC_MODEL", "claude-sonnet-4-5");
    let mut agent = setup.start();
    agent.hello();
    let set = set_engine(&mut agent, "a", "anthropic", Some("claude-opus-4-8"));
    let expected = json!({"kind": "set_engine", "conversationId": "a", "engine": "anthropic",
        "model": "claude-opus-4-8"});
    assert_eq!(set["data"], expected, "{set}");
    let set = set_engine(&mut agent, "b", "offline", None);
    assert_eq!(set["data"]["model"], "offline", "{set}");
    for (conversation, id) in [("a", "1"), ("b", "2"), ("c", "3")] {
        agent.say_in(conversation, id, "hello");
        assert_eq!(agent.end(id)["type"], "done");
    }
    agent.finish();
    let mut agent = setup.start();
    agent.hello();
    for (conversation, id) in [("a", "1"), ("b", "2")] {
        agent.say_in(conversation, id, "again");
        assert_eq!(agent.end(id)["type"], "done");
    }
    let models: Vec<_> = fake.requests().iter().map(|one| one.body["model"].clone()).collect();
    assert_eq!(models, ["claude-opus-4-8", "claude-sonnet-4-5", "claude-opus-4-8"]);
}

#[test]
fn an_answer_is_finished_by_the_engine_that_began_it() {
    let fake = Messages::start([
        Turn::tool_use("list_files", json!({"path": "."})),
        Turn::text("Nothing there."),
    ]);
    let mut agent = Setup::on(&fake).start();
    agent.hello();
    agent.say("1", "look");
    agent.send(&json!({"id": "e", "kind": "set_engine", "engine": "offline"}));
    agent.say("2", "system info");
    assert_eq!(agent.end("1")["type"], "done");
    assert_eq!(agent.end("e")["type"], "done");
    let second = agent.all("2");
    assert!(
        second.iter().any(|event| event["data"]["toolName"] == "get_system_info"),
        "{second:?}"
    );
    assert_eq!(fake.requests().len(), 2);
}

#[test]
fn an_engine_that_does_not_exist_or_cannot_answer_is_not_chosen() {
    let mut agent = Setup::new().start();
    agent.hello();
    let refused = set_engine(&mut agent, "a", "crystal-ball", None);
    assert_eq!(refused["data"]["kind"], "not_found", "{refused}");
    let refused = set_engine(&mut agent, "a", "anthropic", None);
    assert_eq!(refused["data"]["kind"], "engine", "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{refused}");
    agent.say_in("a", "1", "system info");
    assert_eq!(agent.end("1")["type"], "done");
}

#[test]
fn the_status_and_the_list_tell_who_answers_in_the_current_conversation() {
    let fake = Messages::start([]);
    let setup = Setup::on(&fake).env("ANTHROPIC_MODEL", "claude-sonnet-4-5");
    // No Claude Code CLI is there.
    let mut agent = setup.env("PATH", "/nowhere").start();
    agent.hello();
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["engine"], "anthropic", "{status}");
    agent.send(&json!({"id": "e", "kind": "set_engine", "engine": "offline"}));
    assert_eq!(agent.end("e")["type"], "done");
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    let data = &status["data"];
    assert_eq!((&data["engine"], &data["model"]), (&json!("offline"), &json!("offline")));
    assert_eq!(data["engineReason"], "because it was chosen for this conversation");
    let listed = agent.ask(&json!({"id": "l", "kind": "list_models"}));
    let data = &listed["data"];
    assert_eq!((&data["engine"], &data["model"]), (&json!("offline"), &json!("offline")));
    let engines = data["engines"].as_array().unwrap();
    let engine = |name: &str| engines.iter().find(|engine| engine["name"] == name).unwrap();
    assert_eq!(engine("offline")["isAvailable"], true);
    assert_eq!(engine("anthropic")["models"][0]["id"], "claude-opus-5-5", "{listed}");
    let reason = engine("claude-code")["reason"].as_str().unwrap();
    assert!(reason.contains("set agent.claude_cli"), "{reason}");
    let listed = agent.ask(&json!({"id": "l", "kind": "list_models", "engine": "offline"}));
    assert_eq!(listed["data"]["engines"].as_array().unwrap().len(), 1, "{listed}");
    let refused = agent.ask(&json!({"id": "l", "kind": "list_models", "engine": "none"}));
    assert_eq!(refused["data"]["kind"], "not_found", "{refused}");
}

#[test]
fn a_model_server_on_this_machine_answers_without_an_account() {
    let script = [
        ChatReply::Call("list_files".to_owned(), json!({"path": "."})),
        ChatReply::Text("One file.".to_owned()),
    ];
    let fake = Chat::start(Dialect::ChatCompletions, script).local(["qwen"]);
    let port = fake.port().to_string();
    let setup = Setup::new().env("CALLGATE_AGENT_LOCAL_PORTS", &port).file("a.txt", "x");
    let mut agent = setup.start();
    agent.hello();
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    let data = &status["data"];
    assert_eq!((&data["engine"], &data["model"]), (&json!("openai"), &json!("qwen")), "{status}");
    let because = format!(
        "because a model server at http://127.0.0.1:{port} was found and no API key was found"
    );
    assert_eq!(data["engineReason"], because);
    agent.say("1", "look");
    let all = agent.all("1");
    assert_eq!(words(&all), "One file.", "{all:#?}");
    assert_eq!(all.last().unwrap()["data"]["cost"], 0.0);
    assert!(fake.results()[0].contains("a.txt"), "{:?}", fake.results());
}

/// A chunk of an answer with what is new in it.
fn chunk(delta: &Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

#[test]
fn a_model_server_that_misbehaves_costs_one_answer_at_most() {
    let call = |arguments: &str| {
        let function = json!({"name": "list_files", "arguments": arguments});
        chunk(&json!({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}))
    };
    let done = || "[DONE]".to_owned();
    let failed = json!({"error": {"message": "out of memory", "code": 500}}).to_string();
    let script = [
        // Arguments that are not JSON are told to the model, which tries again.
        ChatReply::Raw(vec![call("{\"path\": oops"), done()]),
        ChatReply::Text("I see.".to_owned()),
        // An answer that breaks off in the middle goes on from there.
        ChatReply::Raw(vec![chunk(&json!({"content": "It begins"})), failed]),
        ChatReply::Text("Still here.".to_owned()),
    ];
    let fake = Chat::start(Dialect::ChatCompletions, script).local(["qwen"]);
    let setup = Setup::new().env("CALLGATE_AGENT_LOCAL_PORTS", &fake.port().to_string());
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "look");
    let all = agent.all("1");
    assert_eq!((words(&all).as_str(), &all.last().unwrap()["type"]), ("I see.", &json!("done")));
    assert!(fake.results()[0].contains("not JSON"), "{:?}", fake.results());
    agent.say("2", "go on");
    let all = agent.all("2");
    assert_eq!(words(&all), "It beginsStill here.", "{all:#?}");
    let told = all.iter().find(|line| line["data"]["kind"] == "retry").unwrap();
    assert!(told["data"]["text"].as_str().unwrap().contains("out of memory"), "{told}");
}

#[test]
fn where_no_server_is_found_the_offline_engine_says_what_to_do() {
    let mut agent = Setup::new().start();
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    assert_eq!(status["data"]["engine"], "offline");
    let because = status["data"]["engineReason"].as_str().unwrap();
    assert!(because.contains("set ANTHROPIC_API_KEY for a real model"), "{because}");
    // Whoever has Claude Code needs no key.
    let setup = Setup::new().script("claude", "exit 1");
    let path = format!("{}:/usr/bin:/bin", setup.work().display());
    let mut agent = setup.env("PATH", &path).start();
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    let because = status["data"]["engineReason"].as_str().unwrap();
    assert!(because.contains("--engine claude-code"), "{because}");
}

/// A server that nobody here wrote. It streams letter by letter and sends neither usage nor models.
#[test]
fn a_server_of_others_answers() {
    let Some(python) = tools::openai() else { return };
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let setup = Setup::new()
        .file("responses.yml", "responses: {}\ndefaults:\n  unknown_response: Hello from afar.\n")
        .env("OPENAI_BASE_URL", &format!("http://127.0.0.1:{port}"))
        .env("OPENAI_MODEL", "mock");
    let mut server = Command::new(python);
    server.args(["-m", "uvicorn", "mockllm.server:app", "--port", &port.to_string()]);
    server.current_dir(setup.work()).env("MOCKLLM_RESPONSES_FILE", "responses.yml");
    let _server = Piped::spawn(server);
    until("the server", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
    let mut agent = setup.start();
    agent.hello();
    agent.say("1", "hello");
    let all = agent.all("1");
    assert_eq!(words(&all), "Hello from afar.", "{all:#?}");
    assert!(all.last().unwrap()["data"]["usage"]["outputTokens"].as_u64().unwrap() > 0);
}
