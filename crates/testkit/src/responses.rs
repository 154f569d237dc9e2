//! A strict fake of the Responses API on loopback, as Codex uses it: it refuses what the real one
//! refuses, as far as that is known, and answers the rest from a script.
//!
//! The k-th request that offers tools plays the k-th turn. A request without tools is one that
//! Codex makes beside the conversation, such as for a title, and takes no turn.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::http::{Incoming, Outgoing, Server, Service};
use crate::process::DEADLINE;

/// The key that clients have to show.
pub(crate) const API_KEY: &str = "callgate-test-key";
/// The largest request that is read.
const MAX_REQUEST: usize = 32 << 20;
/// The fields of a request that the service knows.
const FIELDS: [&str; 25] = [
    "background",
    "client_metadata",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "truncation",
];

/// One scripted answer of the model.
#[derive(Clone, Debug)]
pub enum ResponsesReply {
    /// A text, which ends the turn.
    Text(String),
    /// A call of one of its functions.
    Call { name: String, arguments: Value },
    /// A call of a tool of an MCP server, which Codex offers in the server's namespace.
    Tool {
        /// The server's name in the settings.
        server: String,
        name: String,
        arguments: Value,
    },
}

impl ResponsesReply {
    /// Returns a reply that is a text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a reply that runs a shell command.
    #[must_use]
    pub fn command(command: &str) -> Self {
        Self::Call { name: "exec_command".into(), arguments: json!({ "cmd": command }) }
    }

    /// Returns a reply that runs a shell command outside Codex's sandbox, which has to be asked.
    #[must_use]
    pub fn escalated(command: &str) -> Self {
        let arguments = json!({
            "cmd": command,
            "sandbox_permissions": "require_escalated",
            "justification": "It has to be outside.",
        });
        Self::Call { name: "exec_command".into(), arguments }
    }
}

/// A running fake. It stops when it is dropped.
#[derive(Debug)]
pub struct Responses {
    server: Server,
    state: Arc<ResponsesState>,
}

#[derive(Debug, Default)]
struct ResponsesState {
    inner: Mutex<ResponsesScript>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct ResponsesScript {
    script: Vec<ResponsesReply>,
    played: usize,
    requests: Vec<Value>,
    refusals: Vec<String>,
}

impl Responses {
    /// Starts on a free port with this script.
    #[must_use]
    pub fn start(script: impl IntoIterator<Item = ResponsesReply>) -> Self {
        let inner =
            ResponsesScript { script: script.into_iter().collect(), ..ResponsesScript::default() };
        let state =
            Arc::new(ResponsesState { inner: Mutex::new(inner), ..ResponsesState::default() });
        Self { server: Server::start(Arc::clone(&state)), state }
    }

    /// Returns the base address for a client's settings.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.server.address())
    }

    /// Returns how many turns of the script were asked for.
    pub fn played(&self) -> usize {
        self.state.inner.lock().unwrap().played
    }

    /// Waits until so many turns were asked for.
    pub fn wait_for(&self, count: usize) {
        let end = Instant::now() + 2 * DEADLINE;
        let mut inner = self.state.inner.lock().unwrap();
        while inner.played < count {
            let left = end.saturating_duration_since(Instant::now());
            let (played, refusals) = (inner.played, &inner.refusals);
            assert!(!left.is_zero(), "{played} of {count} turns were asked for; {refusals:?}");
            inner = self.state.arrived.wait_timeout(inner, left).unwrap().0;
        }
    }

    /// Returns what the model was told of each of its calls, in order.
    pub fn outputs(&self) -> Vec<String> {
        let inner = self.state.inner.lock().unwrap();
        let items = inner.requests.last().and_then(|request| request["input"].as_array());
        let outputs = items.into_iter().flatten();
        let outputs = outputs.filter(|item| item["type"] == "function_call_output");
        outputs.map(|item| plain(&item["output"])).collect()
    }

    /// Fails if a request was refused.
    pub fn assert_nothing_refused(&self) {
        let inner = self.state.inner.lock().unwrap();
        assert!(inner.refusals.is_empty(), "the fake refused requests: {:#?}", inner.refusals);
    }
}

/// Returns a text, or the texts of several parts.
fn plain(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

impl Service for ResponsesState {
    fn max_body(&self) -> usize {
        MAX_REQUEST
    }

    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()> {
        let judged = judge(&request);
        let mut inner = self.inner.lock().unwrap();
        let reply = judged.and_then(|body| inner.next(body));
        if let Err((_, why)) = &reply {
            inner.refusals.push(why.clone());
        }
        let number = inner.requests.len() + inner.refusals.len();
        drop(inner);
        self.arrived.notify_all();
        match reply {
            Ok(reply) => {
                let headers =
                    [("content-type", "text/event-stream"), ("cache-control", "no-cache")];
                out.begin(200, &headers)?;
                for event in events(&reply, number) {
                    let kind = event["type"].as_str().unwrap_or_default();
                    out.chunk(format!("event: {kind}\ndata: {event}\n\n").as_bytes())?;
                }
                out.end()
            }
            Err((status, message)) => {
                let error = json!({ "message": message, "type": "invalid_request_error" });
                let body = json!({ "error": error }).to_string();
                out.whole(status, &[("content-type", "application/json")], body.as_bytes())
            }
        }
    }
}

type ResponsesRefusal = (u16, String);

impl ResponsesScript {
    fn next(&mut self, body: Map<String, Value>) -> Result<ResponsesReply, ResponsesRefusal> {
        let has_tools =
            body.get("tools").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        if !has_tools {
            return Ok(ResponsesReply::text("A side note"));
        }
        self.played += 1;
        let message = || format!("the script has {} turns and no more", self.script.len());
        let reply = self.script.get(self.played - 1).cloned().ok_or_else(|| (400, message()))?;
        if let ResponsesReply::Tool { server, name, .. } = &reply
            && !offers(&body, server, name)
        {
            return Err((400, format!("{name} of {server} is not offered: {}", body["tools"])));
        }
        self.requests.push(Value::Object(body));
        Ok(reply)
    }
}

/// Returns true if a request offers the tool of a server.
fn offers(body: &Map<String, Value>, server: &str, tool: &str) -> bool {
    let named = |entry: &&Value| entry["type"] == "namespace" && entry["name"] == namespace(server);
    let tools = body["tools"].as_array().into_iter().flatten().filter(named);
    tools.filter_map(|entry| entry["tools"].as_array()).flatten().any(|it| it["name"] == tool)
}

/// Returns the namespace of a server's tools.
fn namespace(server: &str) -> String {
    format!("mcp__{server}")
}

fn judge(request: &Incoming) -> Result<Map<String, Value>, ResponsesRefusal> {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/v1/responses") {
        return Err((404, format!("there is no {} {}", request.method, request.path)));
    }
    let expected = format!("Bearer {API_KEY}");
    if request.headers.get("authorization") != Some(&expected) {
        return Err((401, "incorrect API key provided".to_owned()));
    }
    let body: Map<String, Value> = serde_json::from_slice(&request.body)
        .map_err(|error| (400, format!("the body is no JSON object: {error}")))?;
    check(&body).map_err(|message| (400, message))?;
    Ok(body)
}

fn check(body: &Map<String, Value>) -> Result<(), String> {
    if let Some(name) = body.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format!("unknown parameter: '{name}'"));
    }
    if !body.get("model").is_some_and(Value::is_string) {
        return Err("missing required parameter: 'model'".to_owned());
    }
    if body.get("stream") != Some(&Value::Bool(true)) {
        return Err("this fake streams only".to_owned());
    }
    let items = body.get("input").and_then(Value::as_array).ok_or("'input' is no list")?;
    let mut calls = HashSet::new();
    for item in items {
        let id = || item["call_id"].as_str().ok_or("an item has no 'call_id'");
        match item["type"].as_str() {
            Some("message") if item["role"].is_string() && item["content"].is_array() => {}
            Some("reasoning") => {}
            Some("function_call") if item["arguments"].is_string() => {
                if !calls.insert(id()?) {
                    return Err(format!("duplicate call_id {}", id()?));
                }
            }
            Some("function_call_output") => {
                if !calls.remove(id()?) {
                    return Err(format!("no tool call found for output with call_id {}", id()?));
                }
            }
            _ => return Err(format!("an item of 'input' is not valid: {item}")),
        }
    }
    match calls.iter().next() {
        Some(id) => Err(format!("no tool output found for function call {id}")),
        None => Ok(()),
    }
}

/// Returns the events of one answer, as the service sends them.
fn events(reply: &ResponsesReply, number: usize) -> Vec<Value> {
    let response = format!("resp_{number}");
    let mut events = vec![json!({ "type": "response.created", "response": { "id": response } })];
    match reply {
        ResponsesReply::Text(text) => {
            let id = format!("msg_{number}");
            let message = |content: Value| json!({ "type": "message", "id": id, "role": "assistant", "content": content });
            let part = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
            events.extend([
                json!({ "type": "response.output_item.added", "output_index": 0, "item": message(json!([])) }),
                json!({ "type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0, "delta": text }),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": message(part) }),
            ]);
        }
        ResponsesReply::Call { name, arguments } | ResponsesReply::Tool { name, arguments, .. } => {
            let (id, call) = (format!("fc_{number}"), format!("call_{number}"));
            let arguments = arguments.to_string();
            let item = |arguments: &str| {
                let mut item = json!({ "type": "function_call", "id": id, "call_id": call, "name": name, "arguments": arguments });
                if let ResponsesReply::Tool { server, .. } = reply {
                    item["namespace"] = json!(namespace(server));
                }
                item
            };
            events.extend([
                json!({ "type": "response.output_item.added", "output_index": 0, "item": item("") }),
                json!({ "type": "response.function_call_arguments.delta", "item_id": id, "output_index": 0, "delta": arguments }),
                json!({ "type": "response.function_call_arguments.done", "item_id": id, "output_index": 0, "arguments": arguments }),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item(&arguments) }),
            ]);
        }
    }
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": 15,
    });
    let response = json!({ "id": response, "usage": usage });
    events.push(json!({ "type": "response.completed", "response": response }));
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::request;

    fn post(fake: &Responses, key: &str, body: &Value) -> String {
        let body = body.to_string();
        let raw = format!(
            "POST /v1/responses HTTP/1.1\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        request(fake.server.address(), raw.as_bytes())
    }

    fn body(items: &Value) -> Value {
        json!({ "model": "m", "stream": true, "tools": [{}], "input": items })
    }

    #[test]
    fn a_script_is_played_and_outputs_are_kept() {
        let fake =
            Responses::start([ResponsesReply::command("ls"), ResponsesReply::text("All done.")]);
        let first = post(&fake, API_KEY, &body(&json!([])));
        assert!(first.contains("exec_command") && first.contains("response.completed"), "{first}");
        let call = json!({ "type": "function_call", "call_id": "c", "arguments": "{}" });
        let output = json!({ "type": "function_call_output", "call_id": "c", "output": "a b" });
        assert!(post(&fake, API_KEY, &body(&json!([call, output]))).contains("All done."));
        assert_eq!((fake.played(), fake.outputs()), (2, vec!["a b".to_owned()]));
        let side = json!({ "model": "m", "stream": true, "input": [] });
        assert!(post(&fake, API_KEY, &side).contains("A side note"));
        fake.assert_nothing_refused();
    }

    #[test]
    fn what_the_service_refuses_is_refused() {
        let fake = Responses::start([]);
        let check = |key: &str, body: &Value, expected: &str| {
            let answer = post(&fake, key, body);
            assert!(answer.contains(expected), "{answer}");
        };
        check("wrong", &body(&json!([])), "incorrect API key");
        check(API_KEY, &json!({ "stream": true }), "missing required parameter");
        check(API_KEY, &json!({ "model": "m", "odd": 1 }), "unknown parameter: 'odd'");
        check(API_KEY, &body(&json!([{ "type": "dance" }])), "is not valid");
        let call = json!({ "type": "function_call", "call_id": "c", "arguments": "{}" });
        check(API_KEY, &body(&json!([call])), "no tool output found");
        check(API_KEY, &body(&json!([call, call])), "duplicate call_id");
        let output = json!({ "type": "function_call_output", "call_id": "c", "output": "" });
        check(API_KEY, &body(&json!([output])), "no tool call found");
        check(API_KEY, &body(&json!([])), "the script has 0 turns");
    }
}
