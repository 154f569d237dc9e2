//! What a web page needs that drives the runtime through its server: it has no paths, and may be
//! reloaded at any moment.

use std::fs;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::picture::SMALL_PNG_BASE64;
use serde_json::{Value, json};

use crate::fixture::{Runtime, Setup};

/// A response without what differs each time that it is told.
fn bare(response: &Value) -> Value {
    let mut bare = response.clone();
    for field in ["id", "seq", "timestamp"] {
        bare.as_object_mut().unwrap().remove(field);
    }
    bare
}

/// Answers the question of a `permission_request`.
fn answer(agent: &mut Runtime, question: &Value, decision: &str) {
    let question = &question["data"]["question"];
    let answer = json!({
        "id": "answer", "kind": "permission_answer", "question": question, "decision": decision,
    });
    assert_eq!(agent.ask(&answer)["type"], "done");
}

#[test]
fn a_page_that_was_loaded_anew_draws_and_answers_what_is_open() {
    let write = |content: &str| {
        Turn::tool_use("write_file", json!({"path": "notes.txt", "content": content}))
    };
    let fake = Messages::start([
        Turn::tool_use("read_file", json!({"path": "notes.txt"})),
        write("Ledger\nMilk\n"),
        Turn::text("Written."),
        write("Ledger\n"),
        Turn::text("Written again."),
    ]);
    let mut agent = Setup::on(&fake).file("notes.txt", "Ledger\n").start();
    agent.hello();
    agent.say_in("c", "1", "add milk");
    let asked = agent.until("1", "permission_request");
    let data = &asked["data"];
    assert_eq!(data["diff"], "--- notes.txt\n+++ notes.txt\n@@ -1,1 +1,2 @@\n Ledger\n+Milk\n");
    assert_eq!(data["canAllowAlways"], true);
    assert!(data["deadline"].as_u64().unwrap() > asked["timestamp"].as_u64().unwrap());
    agent.say_in("c", "2", "take it out again");
    agent.until("2", "notice");

    // Here the page loses all that it had, and asks.
    let status = agent.ask(&json!({"id": "s", "kind": "get_status"}));
    let requests = status["data"]["requests"].as_array().unwrap();
    let shown: Vec<Value> = requests
        .iter()
        .map(|one| {
            json!([one["id"], one["kind"], one["state"], one["conversationId"], one["message"]])
        })
        .collect();
    let expected = [
        json!(["1", "user_message", "working", "c", "add milk"]),
        json!(["2", "user_message", "queued", "c", "take it out again"]),
    ];
    assert_eq!(shown, expected);
    let questions = status["data"]["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 1, "{status}");
    assert_eq!((&questions[0]["id"], bare(&questions[0])), (&json!("1"), bare(&asked)));
    // What was said of the request comes again from its number on.
    let from = &requests[0]["fromSeq"];
    agent.send(&json!({"id": "r", "kind": "replay", "fromSeq": from}));
    assert_eq!(agent.until("1", "permission_request"), asked);
    agent.end("r");
    answer(&mut agent, &questions[0], "allow_always");
    assert_eq!(agent.end("1")["data"]["kind"], "user_message");

    // The like was allowed for the rest of the conversation, as was on offer.
    assert_eq!(agent.end("2")["type"], "done");
    assert_eq!(fs::read_to_string(agent.setup.work().join("notes.txt")).unwrap(), "Ledger\n");
    let status = agent.ask(&json!({"id": "t", "kind": "get_status"}));
    assert_eq!(status["data"]["requests"], json!([]));
    assert_eq!(status["data"]["questions"], json!([]));
}

#[test]
fn a_conversation_is_loaded_in_the_events_of_its_turns() {
    let fake = Messages::start([
        Turn::new()
            .thinking("let me see")
            .and_text("I look.")
            .tool("read_file", json!({"path": "a.txt", "offset": 2}))
            .tool("list_files", json!({"path": "missing"})),
        Turn::text("It says two."),
        Turn::text("You are welcome."),
    ]);
    let config = "[agent]\nthinking_tokens = 2048\n";
    let mut agent = Setup::on(&fake).config(config).file("a.txt", "one\ntwo\n").start();
    agent.hello();
    agent.say_in("c", "1", "what does it say?");
    let first = agent.all("1");
    agent.say_in("c", "2", "thanks");
    let second = agent.all("2");
    let kinds: Vec<Value> = first
        .iter()
        .filter(|one| one["type"] == "tool_use")
        .map(|one| json!([one["data"]["kind"], one["data"]["locations"]]))
        .collect();
    let at = |name: &str| agent.setup.work().join(name).canonicalize().ok();
    let file = at("a.txt").unwrap();
    assert_eq!(kinds[0], json!(["read", [{"path": file, "line": 2}]]));
    assert_eq!(kinds[1][0], "read");

    let load = |more: Value| {
        let mut load = json!({
            "id": "l", "kind": "load_conversation", "conversationId": "c", "as": "events",
        });
        load.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        load
    };
    agent.send(&load(json!({})));
    let told = agent.all("l");
    let end = &told.last().unwrap()["data"];
    assert_eq!(
        *end,
        json!({
            "kind": "load_conversation", "conversationId": "c", "title": "what does it say?",
            "first": 0, "length": 6,
        })
    );
    let said = |message: &str| json!({"type": "user_message", "data": {"message": message}});
    let first = [vec![said("what does it say?")], joined(&first)].concat();
    let second = [vec![said("thanks")], joined(&second)].concat();
    assert_eq!(joined(&told), [first, second].concat());

    // A page that would begin with results begins with their calls.
    agent.send(&load(json!({"limit": 4})));
    let told = agent.all("l");
    assert_eq!(told.last().unwrap()["data"]["first"], 1);
    agent.send(&load(json!({"limit": 4, "before": 1})));
    let told = agent.all("l");
    assert_eq!(joined(&told), [said("what does it say?")]);
    assert_eq!(told.last().unwrap()["data"]["first"], 0);
}

/// What a renderer draws: bare, without ends and notices, pieces of one text as one. Tools that
/// only read run side by side, and end in any order.
fn joined(responses: &[Value]) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for response in responses {
        if ["done", "notice"].iter().any(|kind| response["type"] == *kind) {
            continue;
        }
        let response = bare(response);
        let field = ["token", "thinking"].into_iter().find(|field| response["type"] == *field);
        match (field, joined.last_mut()) {
            (Some(field), Some(last)) if last["type"] == field => {
                let text = format!(
                    "{}{}",
                    last[field].as_str().unwrap(),
                    response[field].as_str().unwrap()
                );
                last[field] = json!(text);
            }
            _ => joined.push(response),
        }
    }
    let is_result = |one: &Value| one["type"] == "tool_result";
    for together in joined.chunk_by_mut(|one, other| is_result(one) && is_result(other)) {
        together.sort_by_key(|one| one["data"]["toolId"].to_string());
    }
    joined
}

#[test]
fn files_come_with_the_message() {
    let fake = Messages::start([Turn::text("A dot."), Turn::text("Two.")]);
    // Also before `hello`: the field is the front end's.
    let mut agent = Setup::on(&fake).start();
    let attachments = json!([
        {"data": format!("data:image/png;base64,{SMALL_PNG_BASE64}"), "mime": "image/png", "name": "dot.png"},
        {"data": "YnV5IG1pbGs", "mime": "text/plain", "name": "list.txt"},
    ]);
    agent.send(&json!({
        "id": "1", "kind": "user_message", "message": "what is it?", "attachments": attachments,
    }));
    assert_eq!(agent.end("1")["type"], "done");
    let picture = json!({
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": SMALL_PNG_BASE64},
    });
    let content = |fake: &Messages| {
        let messages = fake.last().body["messages"].clone();
        messages.as_array().unwrap().last().unwrap()["content"].clone()
    };
    let sent = content(&fake);
    assert_eq!(sent[0], picture);
    assert_eq!(sent[1]["text"], "The attached file \"list.txt\":\n\nbuy milk");

    // As a shell of the first version sends pictures.
    let images =
        json!([{"data": SMALL_PNG_BASE64, "mime_type": "image/png", "name": "a.png"}]).to_string();
    agent.send(&json!({"id": "2", "kind": "user_message", "message": "and?", "images": images}));
    assert_eq!(agent.end("2")["type"], "done");
    assert_eq!(content(&fake)[0], picture);

    let bad = json!([{"data": "no base64!", "mime": "image/png", "name": "dot.png"}]);
    agent.send(&json!({
        "id": "3", "kind": "user_message", "message": "", "attachments": bad,
    }));
    let refused = agent.end("3");
    let why = "the attached file \"dot.png\" cannot be used: its `data` is not base64";
    assert!(refused["error"].as_str().unwrap().starts_with(why), "{refused}");
    fake.assert_played();
}
