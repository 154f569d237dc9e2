//! A strict fake of two model services on loopback, as other agents use them: Chat Completions and
//! Gemini. It refuses what the real ones refuse, as far as that is known, and answers the rest from
//! a script.
//!
//! The k-th request that offers tools plays the k-th turn. A request without tools is one that an
//! agent makes beside the conversation, such as for a title, and takes no turn.

mod answers;
mod check;

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::http::{Incoming, Outgoing, Server, Service};
use answers::{chat_events, gemini_event, whole_completion};
use check::{check_call, check_content, check_name, content_text, list, text};

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
    /// Several calls at once.
    Calls(Vec<(String, Value)>),
    /// The data of these events, as they are, and nothing after them.
    Raw(Vec<String>),
    /// An error with this status and body.
    Refuse(u16, Value),
}

impl ChatReply {
    /// Returns the calls, each with the tool's name and its arguments.
    fn calls(&self) -> Vec<(&str, &Value)> {
        match self {
            Self::Call(name, arguments) => vec![(name, arguments)],
            Self::Calls(calls) => calls.iter().map(|(name, input)| (&**name, input)).collect(),
            Self::Text(_) | Self::Raw(_) | Self::Refuse(..) => Vec::new(),
        }
    }
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
    /// The bodies of the requests, in order.
    bodies: Vec<Value>,
    /// The models that are listed to everybody.
    models: Vec<String>,
    /// A tool that is offered alone beside the conversation.
    side_tool: Option<&'static str>,
}

/// What a request says.
#[derive(Debug, Default, PartialEq, Eq)]
struct ChatRequest {
    /// The names of the tools that it offers.
    tools: Vec<String>,
    /// The results of the calls so far.
    results: Vec<String>,
    /// Whether the usage is sent at the end.
    usage: bool,
    /// Whether the answer is sent at once.
    is_whole: bool,
    body: Value,
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
    pub fn url(&self) -> String {
        let address = self.server.address();
        match self.state.dialect {
            Dialect::ChatCompletions => format!("http://{address}/v1"),
            Dialect::Gemini => format!("http://{address}"),
        }
    }

    /// Lists these models and asks for no key, as a server on the user's own machine does.
    #[must_use]
    pub fn local(self, models: impl IntoIterator<Item = &'static str>) -> Self {
        let models = models.into_iter().map(str::to_owned).collect();
        self.state.inner.lock().unwrap().models = models;
        self
    }

    /// Takes requests that offer this tool alone for ones beside the conversation.
    #[must_use]
    pub fn side_tool(self, name: Option<&'static str>) -> Self {
        self.state.inner.lock().unwrap().side_tool = name;
        self
    }

    /// Returns the port at which it listens.
    pub fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Returns the bodies of the requests that were answered.
    pub fn bodies(&self) -> Vec<Value> {
        self.state.inner.lock().unwrap().bodies.clone()
    }

    /// Returns what the model was told of each of its calls, in order. Fails if a request was
    /// refused.
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
        let mut inner = self.inner.lock().unwrap();
        if request.method == "GET" && request.path == "/v1/models" && !inner.models.is_empty() {
            let model = |id: &String| json!({ "id": id, "object": "model", "created": 1, "owned_by": "library" });
            let models: Vec<Value> = inner.models.iter().map(model).collect();
            return send_whole(out, 200, &json!({ "object": "list", "data": models }));
        }
        let asked = self.dialect.read(&request, inner.models.is_empty());
        let usage = asked.as_ref().is_ok_and(|asked| asked.usage);
        let is_whole = asked.as_ref().is_ok_and(|asked| asked.is_whole);
        let reply = asked.and_then(|asked| inner.next(asked));
        // Clients that look for other services get the answer that there are none.
        if let Err((_, why)) = &reply
            && request.method != "GET"
        {
            inner.refusals.push(why.clone());
        }
        let number = inner.played;
        drop(inner);
        match reply {
            Ok(ChatReply::Refuse(status, body)) => send_whole(out, status, &body),
            Ok(reply) if is_whole => {
                send_whole(out, 200, &whole_completion(&chat_events(&reply, number, false)))
            }
            Ok(reply) => {
                out.begin(200, &[("content-type", "text/event-stream")])?;
                for data in self.dialect.events(&reply, number, usage) {
                    out.chunk(format!("data: {data}\n\n").as_bytes())?;
                }
                out.end()
            }
            Err((status, message)) => {
                send_whole(out, status, &json!({ "error": { "code": status, "message": message } }))
            }
        }
    }
}

fn send_whole(out: &mut Outgoing<'_>, status: u16, body: &Value) -> io::Result<()> {
    out.whole(status, &[("content-type", "application/json")], body.to_string().as_bytes())
}

type ChatRefusal = (u16, String);

impl ChatScript {
    fn next(&mut self, asked: ChatRequest) -> Result<ChatReply, ChatRefusal> {
        if asked.tools.iter().all(|tool| Some(&**tool) == self.side_tool) {
            return Ok(ChatReply::Text("A side note".to_owned()));
        }
        let number = self.played;
        let missing = || (400, format!("the script has {number} turns and no more"));
        let reply = self.script.get(number).cloned().ok_or_else(missing)?;
        let is_missing = |(name, _): &(&str, &Value)| !asked.tools.iter().any(|it| it == name);
        if let Some((name, _)) = reply.calls().into_iter().find(is_missing) {
            return Err((400, format!("{name} is not offered: {:?}", asked.tools)));
        }
        self.played += 1;
        // A request beside the conversation may have none of them.
        if asked.results.len() >= self.results.len() {
            self.results = asked.results;
        }
        self.bodies.push(asked.body);
        Ok(reply)
    }
}

impl Dialect {
    fn read(self, request: &Incoming, needs_key: bool) -> Result<ChatRequest, ChatRefusal> {
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
        if needs_key && request.headers.get(header) != Some(&key) {
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
    fn events(self, reply: &ChatReply, number: usize, usage: bool) -> Vec<String> {
        match self {
            Self::ChatCompletions => chat_events(reply, number, usage),
            Self::Gemini => vec![gemini_event(reply)],
        }
    }
}

fn read_chat(body: &Value) -> Result<ChatRequest, String> {
    text(&body["model"])?;
    let usage = body["stream_options"]["include_usage"] == json!(true);
    let is_whole = body["stream"] != json!(true);
    let mut asked = ChatRequest { usage, is_whole, body: body.clone(), ..ChatRequest::default() };
    for (index, tool) in list(body, "tools")?.iter().enumerate() {
        let name = text(&tool["function"]["name"])?;
        check_name(&name, &format!("tools[{index}].function.name"))?;
        asked.tools.push(name);
        if !tool["function"]["parameters"].is_object() && !tool["function"]["parameters"].is_null()
        {
            return Err(format!("the parameters of a tool are no object: {tool}"));
        }
    }
    // Each call has to have its result before the next message of the user or the model.
    let mut open: Vec<&Value> = Vec::new();
    for message in list(body, "messages")? {
        check_content(&message["content"])?;
        match message["role"].as_str() {
            Some("tool") => {
                let id = &message["tool_call_id"];
                let place = open.iter().position(|it| *it == id);
                open.remove(place.ok_or_else(|| format!("no call has the id {id}"))?);
                asked.results.push(content_text(&message["content"])?);
            }
            Some("system" | "developer" | "user" | "assistant") => {
                if let Some(id) = open.first() {
                    return Err(format!("the call {id} has no result"));
                }
                for call in list(message, "tool_calls")? {
                    check_call(call)?;
                    open.push(&call["id"]);
                }
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

#[cfg(test)]
mod tests;
