//! A strict fake of the Anthropic Messages API on loopback: it refuses what the real one refuses
//! and answers the rest from a script.
//!
//! ```
//! use callgate_testkit::messages::{Messages, Turn};
//! use serde_json::json;
//!
//! let fake = Messages::start([
//!     Turn::tool_use("Bash", json!({"command": "echo hi"})),
//!     Turn::text("It said hi."),
//! ]);
//! // … point the program under test at `fake.url()` …
//! # if false {
//! fake.assert_played();
//! assert_eq!(fake.last().tool_results()[0].text, "hi");
//! # }
//! ```
//!
//! A script belongs to a conversation: the k-th request plays its k-th turn. What a program asks
//! beside it takes no turn: a request of the Claude Code CLI that offers no tools (titles,
//! summaries), and those of its subagents (`x-claude-code-agent-id`) unless
//! [`Messages::conversation`] gave them a script.

mod answer;
mod check;
mod recorded;
mod script;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use serde_json::{Map, Value, json};

pub use check::ApiRefusal;
pub(crate) use recorded::tool_results;
pub use recorded::{Part, Recorded, ToolResult};
pub use script::{ToolCheck, Turn};

use crate::http::{Incoming, Outgoing, Server, Service};
use crate::process::DEADLINE;
use answer::ScriptedAnswer;
use check::{ApiCall, MAX_REQUEST};
use script::End;

/// A running fake. It stops when it is dropped.
#[derive(Debug)]
pub struct Messages {
    server: Server,
    state: Arc<MessagesState>,
}

#[derive(Debug, Default)]
struct MessagesState {
    inner: Mutex<MessagesRecord>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct MessagesRecord {
    main: Script,
    marked: Vec<(String, Script)>,
    requests: Vec<Recorded>,
    hangups: usize,
}

#[derive(Debug, Default)]
struct Script {
    turns: Vec<Turn>,
    played: usize,
}

impl Script {
    fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().map(answer::prepare).collect(), played: 0 }
    }

    fn next(&mut self) -> Result<Turn, ApiRefusal> {
        self.played += 1;
        let message = || format!("the script has {} turns and no more", self.turns.len());
        let refusal = || ApiRefusal::new(400, "invalid_request_error", message());
        self.turns.get(self.played - 1).cloned().ok_or_else(refusal)
    }
}

impl Messages {
    /// Starts on a free port with the script of the main conversation.
    #[must_use]
    pub fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        let inner = MessagesRecord { main: Script::new(turns), ..MessagesRecord::default() };
        let state =
            Arc::new(MessagesState { inner: Mutex::new(inner), ..MessagesState::default() });
        Self { server: Server::start(Arc::clone(&state)), state }
    }

    /// Gives the conversation whose user text holds `marker` a script of its own: a subagent by
    /// its prompt, or one of several clients.
    pub fn conversation(&self, marker: impl Into<String>, turns: impl IntoIterator<Item = Turn>) {
        self.state.inner.lock().unwrap().marked.push((marker.into(), Script::new(turns)));
    }

    /// Adds turns to the main script.
    pub fn extend(&self, turns: impl IntoIterator<Item = Turn>) {
        let turns = turns.into_iter().map(answer::prepare);
        self.state.inner.lock().unwrap().main.turns.extend(turns);
    }

    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Returns the base URL, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns everything that was asked so far, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state.inner.lock().unwrap().requests.clone()
    }

    /// Returns the requests of the main conversation.
    pub fn main_requests(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.part == Part::Main).collect()
    }

    /// Returns the last request of the main conversation.
    pub fn last(&self) -> Recorded {
        self.main_requests().pop().expect("the main conversation has begun")
    }

    /// Waits until so many requests of the main conversation have come.
    pub fn wait_for_main(&self, count: usize) {
        self.wait("requests came", count, |inner| {
            inner.requests.iter().filter(|request| request.part == Part::Main).count()
        });
    }

    /// Waits until so many clients have left in the middle of a stream that was to stall.
    pub fn wait_for_hangups(&self, count: usize) {
        self.wait("clients left", count, |inner| inner.hangups);
    }

    fn wait(&self, what: &str, count: usize, now: impl Fn(&MessagesRecord) -> usize) {
        let end = Instant::now() + DEADLINE;
        let mut inner = self.state.inner.lock().unwrap();
        loop {
            let came = now(&inner);
            if came >= count {
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{came} {what} and {count} were due");
            inner = self.state.arrived.wait_timeout(inner, left).unwrap().0;
        }
    }

    /// Fails if a request was refused or a turn of a script was not played.
    pub fn assert_played(&self) {
        let inner = self.state.inner.lock().unwrap();
        let refused: Vec<_> = inner.requests.iter().filter_map(|r| r.refusal.as_ref()).collect();
        assert!(refused.is_empty(), "the fake refused requests: {refused:#?}");
        let marked = inner.marked.iter().map(|(marker, script)| (marker.as_str(), script));
        for (name, script) in marked.chain([("main", &inner.main)]) {
            let (played, all) = (script.played, script.turns.len());
            assert_eq!(played, all, "{played} of {all} turns of the {name} script were played");
        }
    }
}

impl Service for MessagesState {
    fn max_body(&self) -> usize {
        MAX_REQUEST
    }

    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()> {
        let judged = judge(&request);
        let body = judged.as_ref().map(|(_, body)| Value::Object(body.clone()));
        let recorded = Recorded {
            path: request.path,
            headers: request.headers,
            body: body
                .unwrap_or_else(|_| serde_json::from_slice(&request.body).unwrap_or_default()),
            part: Part::None,
            refusal: None,
        };
        match judged {
            Err(refusal) => {
                let number = self.record(recorded, Part::None, Some(&refusal));
                send_error(out, number, refusal.status, refusal.kind, &refusal.message, None)
            }
            Ok((ApiCall::CountTokens, body)) => {
                let number = self.record(recorded, Part::None, None);
                let count = json!({"input_tokens": Value::Object(body).to_string().len() / 4});
                send_json(out, number, 200, &count)
            }
            // Front ends ask for it whenever they like, so it is no part of what was played.
            Ok((ApiCall::ListModels, _)) => send_json(out, 0, 200, &models()),
            Ok((ApiCall::Create, body)) => self.create(recorded, &body, out),
        }
    }
}

impl MessagesState {
    fn create(
        &self,
        recorded: Recorded,
        body: &Map<String, Value>,
        out: &mut Outgoing<'_>,
    ) -> io::Result<()> {
        let (part, turn) = self.inner.lock().unwrap().choose(&recorded);
        let number = self.record(recorded, part, turn.as_ref().err());
        match turn {
            Ok(turn) => {
                let played = play(out, &turn, body, number);
                // A client that is quick to leave makes the last writes before the stall fail.
                if matches!(turn.end, End::Stall(_)) {
                    self.inner.lock().unwrap().hangups += 1;
                    self.arrived.notify_all();
                }
                played
            }
            Err(refusal) => {
                send_error(out, number, refusal.status, refusal.kind, &refusal.message, None)
            }
        }
    }

    /// Keeps the request and gives its number.
    fn record(&self, request: Recorded, part: Part, refusal: Option<&ApiRefusal>) -> usize {
        let mut inner = self.inner.lock().unwrap();
        inner.requests.push(Recorded { part, refusal: refusal.cloned(), ..request });
        self.arrived.notify_all();
        inner.requests.len()
    }
}

impl MessagesRecord {
    fn choose(&mut self, request: &Recorded) -> (Part, Result<Turn, ApiRefusal>) {
        let agent = request.header("user-agent").unwrap_or_default();
        if agent.starts_with("claude-cli/") && request.tool_names().is_empty() {
            return (Part::Side, Ok(Turn::text("A side note")));
        }
        let text = request.user_text();
        if let Some((marker, script)) = self.marked.iter_mut().find(|(m, _)| text.contains(&**m)) {
            return (Part::Marked(marker.clone()), script.next());
        }
        if request.header("x-claude-code-agent-id").is_some() {
            return (Part::Side, Ok(Turn::text("The subagent is done")));
        }
        (Part::Main, self.main.next())
    }
}

fn judge(request: &Incoming) -> Result<(ApiCall, Map<String, Value>), ApiRefusal> {
    let call = check::route(&request.method, &request.path)?;
    if call == ApiCall::ListModels {
        check::caller(&request.headers)?;
        return Ok((call, Map::new()));
    }
    let body = check::envelope(&request.headers, &request.body)?;
    check::body(call, &request.headers, &body)?;
    Ok((call, body))
}

/// The models that the fake lists.
fn models() -> Value {
    let model = |id: &str, name: &str| {
        json!({
            "type": "model", "id": id, "display_name": name, "created_at": "2026-09-29T00:00:00Z",
        })
    };
    let (first, last) = ("claude-opus-5-5", "claude-sonnet-5-5");
    let data = [model(first, "Claude Opus 5.5"), model(last, "Claude Sonnet 5.5")];
    json!({"data": data, "has_more": false, "first_id": first, "last_id": last})
}

fn play(
    out: &mut Outgoing<'_>,
    turn: &Turn,
    body: &Map<String, Value>,
    number: usize,
) -> io::Result<()> {
    if let End::Http { status, kind, words, retry_after } = &turn.end {
        let retry_after = retry_after.map(|seconds| seconds.to_string());
        return send_error(out, number, *status, kind, words, retry_after.as_deref());
    }
    if turn.end == End::HangUp {
        out.cut();
        return Ok(());
    }
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let answer = ScriptedAnswer::new(turn, model, number);
    if body.get("stream") != Some(&Value::Bool(true)) {
        return send_json(out, number, 200, &answer.message());
    }
    out.begin(200, &[EVENTS, ("cache-control", "no-cache"), ("request-id", &request_id(number))])?;
    let Some(framed) = &turn.framed else { return stream(out, turn, answer.events()) };
    out.chunk(&answer.first_event())?;
    out.framed(framed)?;
    out.end()
}

const EVENTS: (&str, &str) = ("content-type", "text/event-stream; charset=utf-8");

fn stream(out: &mut Outgoing<'_>, turn: &Turn, mut events: Vec<Vec<u8>>) -> io::Result<()> {
    match turn.end {
        End::Cut(count) | End::Stall(count) => events.truncate(count),
        End::Error(count, kind) => {
            events.truncate(count);
            let error = json!({"type": kind, "message": kind});
            events.push(answer::event(&json!({"type": "error", "error": error})));
        }
        End::Whole | End::HangUp | End::Http { .. } => {}
    }
    if let Some(bytes) = turn.wire {
        events.concat().chunks(bytes).try_for_each(|chunk| out.chunk(chunk))?;
    } else {
        for (sent, event) in events.iter().enumerate() {
            if let Some(pauses) = &turn.pauses
                && pauses.after.contains(&sent)
            {
                // A test that has ended sends nothing more, and does not wait for the rest.
                let _ = pauses.go_on.lock().unwrap().recv();
            }
            out.chunk(event)?;
        }
    }
    match turn.end {
        End::Cut(_) => out.cut(),
        End::Stall(_) => out.wait_for_hangup(),
        _ => out.end()?,
    }
    Ok(())
}

fn send_error(
    out: &mut Outgoing<'_>,
    number: usize,
    status: u16,
    kind: &str,
    message: &str,
    retry_after: Option<&str>,
) -> io::Result<()> {
    let id = request_id(number);
    let error = json!({"type": kind, "message": message});
    let body = json!({"type": "error", "error": error, "request_id": id}).to_string();
    let mut headers = vec![("content-type", "application/json"), ("request-id", &id)];
    headers.extend(retry_after.map(|seconds| ("retry-after", seconds)));
    out.whole(status, &headers, body.as_bytes())
}

fn send_json(out: &mut Outgoing<'_>, number: usize, status: u16, body: &Value) -> io::Result<()> {
    let id = request_id(number);
    let headers = [("content-type", "application/json"), ("request-id", id.as_str())];
    out.whole(status, &headers, body.to_string().as_bytes())
}

fn request_id(number: usize) -> String {
    format!("req_{number:08}")
}

#[cfg(test)]
mod tests;
