//! Tools that the front end supplies, and answers that have to fit a schema.

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup, notices};

/// Lets the tool `front__pick_color` run unasked.
const RULE: &str = "[[rule]]\nname = \"pick\"\ndecide = \"allow\"\ntool = \"front__pick_color\"\n";

fn tools() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    });
    json!([{"name": "pick_color", "description": "Lets the user pick a color.", "inputSchema": schema}])
}

fn hello(agent: &mut Runtime, tools: &Value) -> Value {
    let capabilities = json!(["permission", "notice"]);
    let hello = json!({"id": "h", "kind": "hello", "capabilities": capabilities, "tools": tools});
    agent.ask(&hello)
}

fn picks() -> [Turn; 2] {
    [Turn::tool_use("front__pick_color", json!({"title": "Sky"})), Turn::text("Blue it is.")]
}

#[test]
fn the_front_end_runs_the_tools_that_it_supplies() {
    let fake = Messages::start(picks());
    let mut agent = Setup::on(&fake).rules(RULE).start();
    assert_eq!(hello(&mut agent, &tools())["type"], "done");
    agent.say("1", "which color?");
    let call = agent.until("1", "tool_call");
    assert_eq!(call["data"]["toolName"], "pick_color");
    assert_eq!(call["data"]["input"], json!({"title": "Sky"}));
    let answer = json!({"id": "a", "kind": "tool_answer", "call": call["data"]["call"], "result": {"color": "blue"}});
    assert_eq!(agent.ask(&answer)["type"], "done");
    let result = agent.until("1", "tool_result");
    assert_eq!(result["data"]["result"], json!({"color": "blue"}));
    assert_eq!(agent.end("1")["type"], "done");
    assert_eq!(fake.last().tool_results()[0].text, r#"{"color":"blue"}"#);
    let spec = fake.last().tool("front__pick_color").unwrap().clone();
    assert_eq!(spec["description"], "Lets the user pick a color.");
    // Nobody waits for a second answer.
    let late = agent.ask(&answer);
    assert_eq!((&late["type"], &late["data"]["kind"]), (&json!("error"), &json!("too_late")));
}

#[test]
fn they_pass_the_gate_and_fail_if_the_front_end_says_so() {
    let fake = Messages::start(picks());
    let mut agent = Setup::on(&fake).start();
    hello(&mut agent, &tools());
    agent.say("1", "which color?");
    let asked = agent.until("1", "permission_request");
    assert_eq!(asked["data"]["toolName"], "front__pick_color");
    let question = &asked["data"]["question"];
    let allow =
        json!({"id": "p", "kind": "permission_answer", "question": question, "decision": "allow"});
    assert_eq!(agent.ask(&allow)["type"], "done");
    let call = agent.until("1", "tool_call");
    let answer = json!({"id": "a", "kind": "tool_answer", "call": call["data"]["call"], "result": "closed", "isError": true});
    assert_eq!(agent.ask(&answer)["type"], "done");
    let result = agent.until("1", "tool_result");
    assert_eq!(result["data"]["result"], json!({"error": "closed"}));
    assert_eq!(agent.end("1")["type"], "done");
    assert!(fake.last().tool_results()[0].is_error);
}

#[test]
fn a_front_end_that_goes_away_ends_the_call_with_an_error() {
    let fake = Messages::start(picks());
    let mut agent = Setup::on(&fake).rules(RULE).start();
    hello(&mut agent, &tools());
    agent.say("1", "which color?");
    agent.until("1", "tool_call");
    let (rest, status) = agent.finish();
    assert!(status.success());
    let result = rest.iter().find(|event| event["type"] == "tool_result").unwrap();
    let why = result["data"]["result"]["error"].as_str().unwrap();
    assert!(why.contains("the front end has gone"), "{why}");
    assert!(fake.last().tool_results()[0].is_error);
}

#[test]
fn tools_that_cannot_be_used_are_refused_with_the_reason() {
    let fake = Messages::start([]);
    let mut agent = Setup::on(&fake).start();
    let object = json!({"type": "object"});
    for (tools, part) in [
        (json!([{"name": "a b", "inputSchema": object}]), "a name has"),
        (json!([{"name": "a", "inputSchema": {"type": "string"}}]), "not described as an object"),
        (json!([{"name": "a", "inputSchema": 1}]), "inputSchema is not an object"),
        (
            json!([{"name": "a", "inputSchema": object}, {"name": "a", "inputSchema": object}]),
            "two tools",
        ),
        (json!([{"name": "a"}]), "`tools` must be"),
    ] {
        let refused = hello(&mut agent, &tools);
        assert!(refused["error"].as_str().unwrap().contains(part), "{refused}");
    }
    // Nothing of it counted as a greeting.
    assert_eq!(agent.ask(&json!({"id": "l", "kind": "list_models"}))["type"], "error");
}

fn schema() -> Value {
    let properties = json!({"color": {"enum": ["red", "blue"]}});
    json!({"type": "object", "properties": properties, "required": ["color"]})
}

fn asks_for_color(agent: &mut Runtime) -> Vec<Value> {
    agent.hello();
    let message =
        json!({"id": "1", "kind": "user_message", "message": "Which?", "outputSchema": schema()});
    agent.send(&message);
    agent.all("1")
}

#[test]
fn an_answer_that_does_not_fit_the_schema_is_asked_for_again() {
    let fake = Messages::start([
        Turn::text("Blue, I think."),
        Turn::text(r#"{"color": "green"}"#),
        Turn::text(r#"{"color": "blue"}"#),
    ]);
    let mut agent = Setup::on(&fake).start();
    let all = asks_for_color(&mut agent);
    assert_eq!(notices(&all), ["schema", "schema"], "{all:#?}");
    let done = &all.last().unwrap()["data"];
    assert_eq!(
        (&done["output"], &done["stopReason"]),
        (&json!({"color": "blue"}), &json!("end_turn"))
    );
    // The whole request counts, and not only the last answer.
    assert!(done["usage"]["outputTokens"].as_u64().unwrap() > 0);
    let first = fake.requests()[0].body["messages"].to_string();
    assert!(first.contains("Which?") && first.contains("JSON Schema"), "{first}");
    let second = fake.requests()[1].body["messages"].to_string();
    assert!(second.contains("it is not JSON"), "{second}");
}

#[test]
fn after_two_corrections_it_is_an_error_that_says_so() {
    let fake = Messages::start([Turn::text("a"), Turn::text("b"), Turn::text("c")]);
    let mut agent = Setup::on(&fake).start();
    let all = asks_for_color(&mut agent);
    let end = all.last().unwrap();
    assert_eq!((&end["type"], &end["data"]["kind"]), (&json!("error"), &json!("schema")));
    assert!(end["error"].as_str().unwrap().contains("does not fit the output schema"), "{end}");
    assert_eq!(fake.requests().len(), 3);
    let wrong = json!({"id": "2", "kind": "user_message", "message": "Which?", "outputSchema": {"type": "thing"}});
    assert_eq!(agent.ask(&wrong)["data"]["kind"], "protocol");
}

#[test]
fn another_model_answers_when_the_first_is_overloaded_or_unknown() {
    for failure in [Turn::overloaded(), Turn::refused(404, "not_found_error")] {
        let fake = Messages::start([failure, Turn::text("I am here.")]);
        let setup = Setup::on(&fake).config("[agent]\nfallback_model = \"claude-haiku-5-5\"\n");
        let mut agent = setup.start();
        agent.hello();
        agent.say("1", "hello");
        let all = agent.all("1");
        assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
        assert!(notices(&all).contains(&"fallback"), "{all:#?}");
        let models: Vec<Value> =
            fake.requests().iter().map(|request| request.body["model"].clone()).collect();
        assert_eq!(models, ["claude-sonnet-5-5", "claude-haiku-5-5"]);
    }
}
