//! A strict fake of two model services on loopback, as other agents use them: Chat Completions and
//! Gemini. It refuses what the real ones refuse, as far as that is known, and answers the rest from
//! a script.
//!
//! The k-th request that offers tools plays the k-th turn. A request without tools is one that an
//! agent makes beside the conversation, such as for a title, and takes no turn.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::http::{Incoming, Outgoing, Server, Service};

/// The key that clients have to show.
pub const API_KEY: &str = "callgate-test-key";
/// The largest request that is read.
const MAX_REQUEST: usize = 32 << 20;

/// Which service the fake plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /v1/chat/completions`, streamed.
    ChatCompletions,
    /// `POST /v1beta/models/NAME:streamGenerateContent`, streamed.
    Gemini,
}

/// One scripted answer of the model.
#[derive(Clone, Debug)]
pub enum ChatReply {
    /// A text, which ends the turn.
    Text(String),
    /// A call of a tool by the name under which the agent offers it.
    Call(String, Value),
}

/// A running fake. It stops when it is dropped.
#[derive(Debug)]
pub struct Chat {
    server: Server,
    state: Arc<ChatState>,
}

#[derive(Debug)]
struct ChatState {
    dialect: Dialect,
    inner: Mutex<ChatScript>,
}

#[derive(Debug, Default)]
struct ChatScript {
    script: Vec<ChatReply>,
    played: usize,
    results: Vec<String>,
    refusals: Vec<String>,
}

/// What a request says.
#[derive(Debug, Default, PartialEq, Eq)]
struct ChatRequest {
    /// The names of the tools that it offers.
    tools: Vec<String>,
    /// The results of the calls so far.
    results: Vec<String>,
}

impl Chat {
    /// Starts on a free port with this script.
    #[must_use]
    pub fn start(dialect: Dialect, script: impl IntoIterator<Item = ChatReply>) -> Self {
        let inner = ChatScript { script: script.into_iter().collect(), ..ChatScript::default() };
        let state = Arc::new(ChatState { dialect, inner: Mutex::new(inner) });
        Self { server: Server::start(Arc::clone(&state)), state }
    }

    /// Returns the base address for a client's settings.
    #[must_use]
    pub fn url(&self) -> String {
        let address = self.server.address();
        match self.state.dialect {
            Dialect::ChatCompletions => format!("http://{address}/v1"),
            Dialect::Gemini => format!("http://{address}"),
        }
    }

    /// Returns what the model was told of each of its calls, in order. Fails if a request was
    /// refused.
    #[must_use]
    pub fn results(&self) -> Vec<String> {
        let inner = self.state.inner.lock().unwrap();
        assert!(inner.refusals.is_empty(), "the fake refused requests: {:#?}", inner.refusals);
        inner.results.clone()
    }
}

impl Service for ChatState {
    fn max_body(&self) -> usize {
        MAX_REQUEST
    }

    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()> {
        let asked = self.dialect.read(&request);
        let mut inner = self.inner.lock().unwrap();
        let reply = asked.and_then(|asked| inner.next(asked));
        if let Err((_, why)) = &reply {
            inner.refusals.push(why.clone());
        }
        let number = inner.played;
        drop(inner);
        match reply {
            Ok(reply) => {
                out.begin(200, &[("content-type", "text/event-stream")])?;
                for data in self.dialect.events(&reply, number) {
                    out.chunk(format!("data: {data}\n\n").as_bytes())?;
                }
                out.end()
            }
            Err((status, message)) => {
                let body = json!({ "error": { "code": status, "message": message } }).to_string();
                out.whole(status, &[("content-type", "application/json")], body.as_bytes())
            }
        }
    }
}

type ChatRefusal = (u16, String);

impl ChatScript {
    fn next(&mut self, asked: ChatRequest) -> Result<ChatReply, ChatRefusal> {
        if asked.tools.is_empty() {
            return Ok(ChatReply::Text("A side note".to_owned()));
        }
        let number = self.played;
        let missing = || (400, format!("the script has {number} turns and no more"));
        let reply = self.script.get(number).cloned().ok_or_else(missing)?;
        if let ChatReply::Call(name, _) = &reply
            && !asked.tools.contains(name)
        {
            return Err((400, format!("{name} is not offered: {:?}", asked.tools)));
        }
        self.played += 1;
        self.results = asked.results;
        Ok(reply)
    }
}

impl Dialect {
    fn read(self, request: &Incoming) -> Result<ChatRequest, ChatRefusal> {
        let path = request.path.as_str();
        let (is_right_path, header, key) = match self {
            Self::ChatCompletions => {
                (path == "/v1/chat/completions", "authorization", format!("Bearer {API_KEY}"))
            }
            Self::Gemini => {
                let is_right =
                    path.starts_with("/v1beta/models/") && path.ends_with(":streamGenerateContent");
                (is_right, "x-goog-api-key", API_KEY.to_owned())
            }
        };
        if request.method != "POST" || !is_right_path {
            return Err((404, format!("there is no {} {path}", request.method)));
        }
        if request.headers.get(header) != Some(&key) {
            return Err((401, "the API key is not valid".to_owned()));
        }
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|error| (400, format!("the body is no JSON: {error}")))?;
        let asked = match self {
            Self::ChatCompletions => read_chat(&body),
            Self::Gemini => read_gemini(&body),
        };
        asked.map_err(|message| (400, message))
    }

    /// Returns the data of the events of one answer, as the service sends them.
    fn events(self, reply: &ChatReply, number: usize) -> Vec<String> {
        match self {
            Self::ChatCompletions => chat_events(reply, number),
            Self::Gemini => vec![gemini_event(reply)],
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], String> {
    match &value[name] {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&[]),
        other => Err(format!("'{name}' is no list: {other}")),
    }
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("this is no text: {value}"))
}

fn read_chat(body: &Value) -> Result<ChatRequest, String> {
    text(&body["model"])?;
    if body["stream"] != json!(true) {
        return Err("this fake streams only".to_owned());
    }
    let mut asked = ChatRequest::default();
    for tool in list(body, "tools")? {
        asked.tools.push(text(&tool["function"]["name"])?);
    }
    // Each call has to have its result before the next message of the user or the model.
    let mut open: Vec<&Value> = Vec::new();
    for message in list(body, "messages")? {
        match message["role"].as_str() {
            Some("tool") => {
                let id = &message["tool_call_id"];
                let place = open.iter().position(|it| *it == id);
                open.remove(place.ok_or_else(|| format!("no call has the id {id}"))?);
                asked.results.push(text(&message["content"])?);
            }
            Some("system" | "developer" | "user" | "assistant") => {
                if let Some(id) = open.first() {
                    return Err(format!("the call {id} has no result"));
                }
                open.extend(list(message, "tool_calls")?.iter().map(|call| &call["id"]));
            }
            _ => return Err(format!("a message has an unknown role: {message}")),
        }
    }
    open.first().map_or(Ok(asked), |id| Err(format!("the call {id} has no result")))
}

fn read_gemini(body: &Value) -> Result<ChatRequest, String> {
    let mut asked = ChatRequest::default();
    for tool in list(body, "tools")? {
        for function in list(tool, "functionDeclarations")? {
            asked.tools.push(text(&function["name"])?);
        }
    }
    let mut open: Vec<&Value> = Vec::new();
    for content in list(body, "contents")? {
        if !matches!(content["role"].as_str(), Some("user" | "model")) {
            return Err(format!("a content has an unknown role: {content}"));
        }
        for part in list(content, "parts")? {
            if let Some(call) = part.get("functionCall") {
                open.push(&call["name"]);
            }
            if let Some(response) = part.get("functionResponse") {
                let place = open.iter().position(|name| **name == response["name"]);
                open.remove(place.ok_or_else(|| format!("nothing called {}", response["name"]))?);
                if !response["response"].is_object() {
                    return Err(format!("a response is no object: {response}"));
                }
                asked.results.push(response["response"].to_string());
            }
        }
    }
    open.first().map_or(Ok(asked), |name| Err(format!("the call of {name} has no response")))
}

fn chat_events(reply: &ChatReply, number: usize) -> Vec<String> {
    let (delta, reason) = match reply {
        ChatReply::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        ChatReply::Call(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let id = format!("call_{number}");
            let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = |delta: &Value, reason: Value| {
        json!({
            "id": format!("chat_{number}"), "object": "chat.completion.chunk", "created": 1,
            "model": "fake-model",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
        })
    };
    let mut last = chunk(&json!({}), json!(reason));
    last["usage"] = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    vec![chunk(&delta, Value::Null).to_string(), last.to_string(), "[DONE]".to_owned()]
}

fn gemini_event(reply: &ChatReply) -> String {
    let part = match reply {
        ChatReply::Text(text) => json!({ "text": text }),
        ChatReply::Call(name, arguments) => {
            json!({ "functionCall": { "name": name, "args": arguments } })
        }
    };
    let candidate = json!({
        "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0,
    });
    let usage = json!({ "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 });
    json!({ "candidates": [candidate], "usageMetadata": usage }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::request;

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
        [
            ChatReply::Call("add".to_owned(), json!({ "a": 1 })),
            ChatReply::Text("All done.".to_owned()),
        ]
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
}
