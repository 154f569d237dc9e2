//! What the fake plays and refuses, and what the official client makes of it.

use super::*;
use crate::http::request;
use crate::{process, tools};

fn post(fake: &Chat, path: &str, header: &str, body: &Value) -> String {
    let body = body.to_string();
    let raw = format!(
        "POST {path} HTTP/1.1\r\n{header}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n\
         {body}",
        body.len()
    );
    request(fake.server.address(), raw.as_bytes())
}

fn chat(fake: &Chat, messages: &Value) -> String {
    let tools = json!([{ "function": { "name": "add" } }]);
    let body = json!({ "model": "m", "stream": true, "tools": tools, "messages": messages });
    post(fake, "/v1/chat/completions", &format!("authorization: Bearer {API_KEY}"), &body)
}

fn gemini(fake: &Chat, contents: &Value) -> String {
    let tools = json!([{ "functionDeclarations": [{ "name": "add" }] }]);
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let body = json!({ "tools": tools, "contents": contents });
    post(fake, path, &format!("x-goog-api-key: {API_KEY}"), &body)
}

fn script() -> [ChatReply; 2] {
    [ChatReply::Call("add".to_owned(), json!({ "a": 1 })), ChatReply::Text("All done.".to_owned())]
}

#[test]
fn chat_completions_play_a_script() {
    let fake = Chat::start(Dialect::ChatCompletions, script());
    let first = chat(&fake, &json!([{ "role": "user", "content": "Go" }]));
    assert!(first.contains("tool_calls") && first.contains("[DONE]"), "{first}");
    let call = json!({ "role": "assistant", "tool_calls": [{ "id": "c" }] });
    let result = json!({ "role": "tool", "tool_call_id": "c", "content": "2" });
    assert!(chat(&fake, &json!([call, result])).contains("All done."));
    assert_eq!(fake.results(), ["2"]);
}

#[test]
fn gemini_plays_a_script() {
    let fake = Chat::start(Dialect::Gemini, script());
    let first = gemini(&fake, &json!([{ "role": "user", "parts": [{ "text": "Go" }] }]));
    assert!(first.contains("functionCall"), "{first}");
    let call = json!({ "role": "model", "parts": [{ "functionCall": { "name": "add" } }] });
    let response = json!({ "name": "add", "response": { "output": "2" } });
    let response = json!({ "role": "user", "parts": [{ "functionResponse": response }] });
    assert!(gemini(&fake, &json!([call, response])).contains("All done."));
    assert_eq!(fake.results(), [r#"{"output":"2"}"#]);
}

#[test]
fn what_the_services_refuse_is_refused() {
    let fake = Chat::start(Dialect::ChatCompletions, []);
    let call = json!({ "role": "assistant", "tool_calls": [{ "id": "c" }] });
    let result = json!({ "role": "tool", "tool_call_id": "d", "content": "2" });
    assert!(chat(&fake, &json!([call])).contains("has no result"));
    assert!(chat(&fake, &json!([call, result])).contains("no call has the id"));
    assert!(chat(&fake, &json!([{ "role": "dance" }])).contains("unknown role"));
    assert!(chat(&fake, &json!([])).contains("the script has 0 turns"));
    let answer = post(&fake, "/v1/chat/completions", "authorization: x", &json!({}));
    assert!(answer.contains("API key is not valid"), "{answer}");

    let fake = Chat::start(Dialect::Gemini, [ChatReply::Call("sub".to_owned(), json!({}))]);
    let call = json!({ "role": "model", "parts": [{ "functionCall": { "name": "add" } }] });
    assert!(gemini(&fake, &json!([call])).contains("has no response"));
    assert!(gemini(&fake, &json!([])).contains("sub is not offered"));
}

/// Streams a call and its result with the official client, which reads every chunk by its types.
const OFFICIAL: &str = r#"
import json, sys
from openai import OpenAI
client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
parameters = {"type": "object", "properties": {"a": {"type": "integer"}}}
tools = [{"type": "function", "function": {"name": "add", "parameters": parameters}}]
messages = [{"role": "user", "content": "Go"}]
for _ in range(2):
    with client.chat.completions.stream(
        model="m", messages=messages, tools=tools, stream_options={"include_usage": True}
    ) as stream:
        for _ in stream:
            pass
        answer = stream.get_final_completion()
    message = answer.choices[0].message
    assert answer.usage.total_tokens == 15, answer
    for call in message.tool_calls or []:
        assert json.loads(call.function.arguments) == {"a": 1}, call
        calls = [{"id": call.id, "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments}}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "2"})
print(answer.choices[0].finish_reason, message.content)
"#;

#[test]
fn the_official_client_is_content_with_it() {
    let Some(python) = tools::openai() else { return };
    let fake = Chat::start(Dialect::ChatCompletions, script());
    let mut client = std::process::Command::new(python);
    client.args(["-c", OFFICIAL, &fake.url(), API_KEY]);
    let ended = process::run(client, std::time::Duration::from_mins(1));
    assert!(ended.status.success(), "{}", ended.stderr);
    assert_eq!(ended.stdout.trim(), "stop All done.");
    assert_eq!(fake.results(), ["2"]);
}
