//! Conversations told again: each event as it was told live.

use callgate_wire::session::SessionReply;
use serde_json::{Value, json};

use serde_json::value::to_raw_value;

use super::*;
use crate::history::{HistoryLocation, HistoryStep};
use crate::message::MediaSource;

fn raw(json: &Value) -> Box<RawValue> {
    to_raw_value(json).unwrap()
}

fn call(id: &str) -> Block {
    Block::ToolUse { id: id.to_owned(), name: "look".to_owned(), input: raw(&json!({ "a": 1 })) }
}

fn result(id: &str, content: &str, is_error: bool) -> Block {
    Block::ToolResult { tool_use_id: id.to_owned(), content: content.into(), is_error }
}

fn kept(id: &str, result: &Value) -> StoredToolResult {
    StoredToolResult { tool_use_id: id.to_owned(), result: raw(result) }
}

/// Returns the events in one line each, without what every line has.
fn lines(events: Vec<SessionEvent>) -> Vec<Value> {
    let line = |event| {
        let mut out = Vec::new();
        SessionReply { id: Some("l".to_owned()), event, timestamp: 0, seq: None }.write(&mut out);
        let mut line: Value = serde_json::from_slice(&out).unwrap();
        let members = line.as_object_mut().unwrap();
        members.remove("id");
        members.remove("timestamp");
        line
    };
    events.into_iter().map(line).collect()
}

fn told(messages: &[(ChatMessage, Vec<StoredToolResult>)]) -> Vec<Value> {
    let tools = ToolMap::new();
    let mut retelling =
        EventRetelling { tools: &tools, folder: Path::new("/"), calls: HashMap::new() };
    let mut events: Vec<SessionEvent> = Vec::new();
    for (message, results) in messages {
        events.extend(retelling.message_events(message, results));
    }
    events.extend(retelling.end_open_calls());
    lines(events)
}

#[test]
fn a_turn_is_told_in_the_events_of_a_live_one() {
    let thought = Block::Thinking { thinking: "hm".to_owned(), signature: "signed".to_owned() };
    let hidden = Block::RedactedThinking { data: "x".to_owned() };
    let answer = vec![thought, hidden, Block::text("I look."), call("1"), call("2")];
    let results = vec![result("2", "gone", true), result("1", "two lines", false)];
    let events = told(&[
        (ChatMessage::user(vec![Block::text("look")]), Vec::new()),
        (ChatMessage::assistant(answer), Vec::new()),
        (ChatMessage::user(results), vec![kept("1", &json!({ "lines": 2 }))]),
        (ChatMessage::assistant(vec![Block::text("Two.")]), Vec::new()),
    ]);
    let used = |id: &str| {
        let body = json!({ "type": "other", "input": "{\n  \"a\": 1\n}" });
        let card =
            json!({ "deed": "Use look", "did": "Used look", "subject": "a: 1", "body": body });
        let data = json!({
            "toolId": id, "toolName": "look", "input": { "a": 1 }, "kind": "other", "locations": [],
            "card": card,
        });
        json!({ "type": "tool_use", "data": data })
    };
    let gave = |id: &str, result: Value, is_error: bool| {
        let data =
            json!({ "toolId": id, "toolName": "look", "result": result, "isError": is_error });
        json!({ "type": "tool_result", "data": data })
    };
    let expected = [
        json!({ "type": "user_message", "data": { "message": "look" } }),
        json!({ "type": "thinking", "thinking": "hm" }),
        json!({ "type": "token", "token": "I look." }),
        used("1"),
        used("2"),
        gave("2", json!({ "error": "gone" }), true),
        gave("1", json!({ "lines": 2 }), false),
        json!({ "type": "token", "token": "Two." }),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_result_of_which_only_words_were_kept_is_told_in_words() {
    let events = told(&[
        (ChatMessage::assistant(vec![call("1"), call("2")]), Vec::new()),
        (ChatMessage::user(vec![result("1", "old", false)]), Vec::new()),
    ]);
    assert_eq!(events[2]["data"]["result"], json!({ "text": "old" }));
    // Every call has a result, whatever is in the file.
    assert_eq!(events[3]["data"]["toolId"], "2");
    assert_eq!(events[3]["data"]["result"], json!({ "error": NO_RESULT }));
    assert_eq!(events.len(), 4);
    // And every result a call.
    assert!(told(&[(ChatMessage::user(vec![result("1", "old", false)]), Vec::new())]).is_empty());
}

#[test]
fn files_are_told_with_the_message_that_they_came_with() {
    let source = |mime: &str| MediaSource::Base64 { media_type: mime.into(), data: "aGk=".into() };
    let document =
        Block::Document { source: source("application/pdf"), title: Some("a.pdf".to_owned()) };
    let content = vec![
        Block::Image { source: source("image/png") },
        document,
        Block::text("The attached file \"notes.txt\":\n\nbuy milk"),
        Block::text("see these"),
    ];
    let events = told(&[(ChatMessage::user(content), Vec::new())]);
    let attachments = json!([
        { "mime": "image/png", "size": 2, "data": "aGk=" },
        { "mime": "application/pdf", "name": "a.pdf", "size": 2, "data": "aGk=" },
        { "mime": "text/plain", "name": "notes.txt", "size": 8 },
    ]);
    let data = json!({ "message": "see these", "attachments": attachments });
    assert_eq!(events, [json!({ "type": "user_message", "data": data })]);
}

#[tokio::test]
async fn a_page_never_begins_with_results_of_calls_before_it() {
    let history = History::start(HistoryLocation::Memory);
    let mut held = history.hold("c").await.unwrap();
    let messages = vec![
        ChatMessage::user(vec![Block::text("look")]),
        ChatMessage::assistant(vec![call("1")]),
        ChatMessage::user(vec![result("1", "seen", false)]),
        ChatMessage::assistant(vec![Block::text("Seen.")]),
    ];
    let results = vec![kept("1", &json!({ "seen": true }))];
    let step = HistoryStep { messages, results, begins_turn: true, ..HistoryStep::default() };
    held.commit(step).await.unwrap();
    let firsts = async |limit| {
        let page = read_whole_page(&history, "c", limit, None).await.unwrap();
        (page.first, page.messages.len(), page.results.len())
    };
    assert_eq!(firsts(1).await, (3, 1, 1));
    assert_eq!(firsts(2).await, (1, 3, 3));
    assert_eq!(firsts(3).await, (1, 3, 3));
    assert_eq!(firsts(9).await, (0, 4, 4));
    let whole = read_whole_page(&history, "c", 9, None).await.unwrap();
    assert_eq!(whole.results[2][0].result.get(), r#"{"seen":true}"#);
    // The model is sent what it was told, and nothing beside it.
    drop(held);
    let held = history.hold("c").await.unwrap();
    let sent = serde_json::to_string(&*held.messages()[2]).unwrap();
    assert!(sent.contains(r#""content":"seen""#) && !sent.contains("true"), "{sent}");
}
