//! The session protocol: what a front end and the agent runtime say over stdin and stdout.
//!
//! One JSON object a line. The front end sends a [`Request`], the runtime sends [`Response`]s; the
//! normative text is `docs/protocol/session.md`. Tool inputs, tool results and metadata are only
//! relayed, so they stay the bytes they were. The time comes in as a number of milliseconds.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::raw::{Members, flatten, is_null, is_object};

/// The protocol version that [`Ready`] announces.
pub const VERSION: &str = "1.0.0";

/// What this version of the protocol can do, as [`Ready`] announces it.
pub const CAPABILITIES: [&str; 3] = ["streaming", "tools", "attachments"];

/// The longest line, without its newline, that either side may send.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// The [`Status::state`] of a runtime with no request at work.
pub const IDLE: &str = "idle";

/// The [`Status::state`] of a runtime with a request at work.
pub const BUSY: &str = "busy";

/// Unknown kinds are quoted in errors, and no error needs more of one than this.
const QUOTED_KIND_CHARS: usize = 64;

/// What the front end asks of the runtime.
#[derive(Debug, Clone)]
pub struct Request {
    /// Chosen by the front end; every response to this request repeats it.
    pub id: String,
    /// What is to be done.
    pub command: Command,
}

/// The kinds of [`Request`].
#[derive(Debug, Clone)]
pub enum Command {
    /// The user said something: the model is to answer.
    UserMessage(UserMessage),
    /// The conversation starts anew.
    ClearHistory,
    /// How is the runtime?
    GetStatus,
}

/// What the user said, and the files that go with it.
#[derive(Debug, Clone)]
pub struct UserMessage {
    /// The user's words.
    pub message: String,
    /// Files to be read along with the message.
    pub attachments: Vec<Attachment>,
    /// A JSON object of the front end's own, as it came.
    pub metadata: Option<Box<RawValue>>,
}

/// A file the user attached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Where the file lies.
    pub path: String,
    /// Its media type, such as `text/plain`.
    pub mime: String,
}

impl Request {
    /// Reads a request from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line)?;
        let id = text(&members, "id").ok_or(Reason::NoId)?;
        match Command::read(&members) {
            Ok(command) => Ok(Self { id, command }),
            Err(reason) => Err(Unreadable { id: Some(id), reason }),
        }
    }

    /// The request as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("kind", self.command.kind())?;
        if let Command::UserMessage(said) = &self.command {
            map.serialize_entry("message", &said.message)?;
            if !said.attachments.is_empty() {
                map.serialize_entry("attachments", &said.attachments)?;
            }
            if let Some(metadata) = &said.metadata {
                map.serialize_entry("metadata", metadata)?;
            }
        }
        map.end()
    }
}

impl Command {
    fn kind(&self) -> &'static str {
        match self {
            Self::UserMessage(_) => "user_message",
            Self::ClearHistory => "clear_history",
            Self::GetStatus => "get_status",
        }
    }

    fn read(members: &Members) -> Result<Self, Reason> {
        let kind = text(members, "kind").ok_or(Reason::NoKind)?;
        match kind.as_str() {
            "user_message" => UserMessage::read(members).map(Self::UserMessage),
            "clear_history" => Ok(Self::ClearHistory),
            "get_status" => Ok(Self::GetStatus),
            _ => Err(Reason::unknown(&kind)),
        }
    }
}

impl UserMessage {
    fn read(members: &Members) -> Result<Self, Reason> {
        let metadata: Option<Box<RawValue>> = optional(members, "metadata", "an object")?;
        if metadata.as_deref().is_some_and(|metadata| !is_object(metadata)) {
            return Err(Reason::wrong("metadata", "an object"));
        }
        Ok(Self {
            message: required(members, "message", "a string")?,
            attachments: attachments(members)?,
            metadata,
        })
    }
}

fn attachments(members: &Members) -> Result<Vec<Attachment>, Reason> {
    const EXPECTED: &str = "an array of objects with path and mime";
    let each: Option<Vec<Box<RawValue>>> = optional(members, "attachments", EXPECTED)?;
    let read = each.unwrap_or_default().iter().map(|one| object(one)).collect::<Option<_>>();
    read.ok_or(Reason::wrong("attachments", EXPECTED))
}

/// What the runtime says.
#[derive(Debug, Clone)]
pub enum Response {
    /// The runtime has started: its first line, and the only one that answers no request.
    Ready(Ready),
    /// Something about one request.
    Reply(Reply),
}

/// The runtime's greeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "ready")]
pub struct Ready {
    /// The protocol version; an old runtime names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the runtime can do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Milliseconds since the Unix epoch.
    pub timestamp: u64,
}

/// One step in the answer to a request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The request's id.
    pub id: String,
    /// What happened.
    pub event: Event,
    /// Milliseconds since the Unix epoch.
    pub timestamp: u64,
}

/// The kinds of [`Reply`].
#[derive(Debug, Clone)]
pub enum Event {
    /// A piece of the model's text, to be appended.
    Token(String),
    /// A tool is about to run.
    ToolUse(ToolUse),
    /// A tool has ended, well or badly.
    ToolResult(ToolResult),
    /// The request is finished.
    Done,
    /// The request could not be finished; the text is for a person.
    Error(String),
    /// The answer to `get_status`.
    Status(Status),
}

/// A tool call that begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// Names this call; its [`ToolResult`] repeats it.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// The call's arguments as they came.
    pub input: Box<RawValue>,
}

/// A tool call that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call that [`ToolUse`] announced.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// What the tool gave, as it came: any JSON.
    pub result: Box<RawValue>,
}

/// How the runtime is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// [`IDLE`] or [`BUSY`]; a reader takes other words as they come.
    pub state: String,
    /// How many messages the history holds.
    pub conversation_length: u64,
    /// Milliseconds since the runtime started.
    pub uptime: u64,
}

impl Response {
    /// Reads a response from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line)?;
        let id = text(&members, "id");
        Self::read(&members, id.as_deref()).map_err(|reason| Unreadable { id, reason })
    }

    fn read(members: &Members, id: Option<&str>) -> Result<Self, Reason> {
        let kind = text(members, "type").ok_or(Reason::NoKind)?;
        if kind == "ready" {
            return Ready::read(members).map(Self::Ready);
        }
        let event = Event::read(&kind, members)?;
        let id = id.ok_or(Reason::NoId)?.to_owned();
        Ok(Self::Reply(Reply { id, event, timestamp: timestamp(members)? }))
    }

    /// The response as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        match self {
            Self::Ready(ready) => one_line(ready),
            Self::Reply(reply) => one_line(reply),
        }
    }
}

impl Ready {
    /// The greeting of this version of the protocol.
    #[must_use]
    pub fn at(timestamp: u64) -> Self {
        let capabilities = CAPABILITIES.map(str::to_owned).to_vec();
        Self { version: Some(VERSION.to_owned()), capabilities, timestamp }
    }

    fn read(members: &Members) -> Result<Self, Reason> {
        let capabilities: Option<_> = optional(members, "capabilities", "an array of strings")?;
        Ok(Self {
            version: optional(members, "version", "a string")?,
            capabilities: capabilities.unwrap_or_default(),
            timestamp: timestamp(members)?,
        })
    }
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.event.kind())?;
        map.serialize_entry("id", &self.id)?;
        match &self.event {
            Event::Token(token) => map.serialize_entry("token", token)?,
            Event::ToolUse(data) => map.serialize_entry("data", data)?,
            Event::ToolResult(data) => map.serialize_entry("data", data)?,
            Event::Error(error) => map.serialize_entry("error", error)?,
            Event::Status(data) => map.serialize_entry("data", data)?,
            Event::Done => {}
        }
        map.serialize_entry("timestamp", &self.timestamp)?;
        map.end()
    }
}

impl Event {
    /// Whether this is the last reply to its request.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Done | Self::Error(_) | Self::Status(_))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Token(_) => "token",
            Self::ToolUse(_) => "tool_use",
            Self::ToolResult(_) => "tool_result",
            Self::Done => "done",
            Self::Error(_) => "error",
            Self::Status(_) => "status",
        }
    }

    fn read(kind: &str, members: &Members) -> Result<Self, Reason> {
        match kind {
            "token" => required(members, "token", "a string").map(Self::Token),
            "tool_use" => data(members, TOOL_USE).map(Self::ToolUse),
            "tool_result" => data(members, TOOL_RESULT).map(Self::ToolResult),
            "done" => Ok(Self::Done),
            "error" => required(members, "error", "a string").map(Self::Error),
            "status" => data(members, STATUS).map(Self::Status),
            _ => Err(Reason::unknown(kind)),
        }
    }
}

const TOOL_USE: &str = "an object with toolId, toolName and input";
const TOOL_RESULT: &str = "an object with toolId, toolName and result";
const STATUS: &str = "an object with state, conversationLength and uptime";

fn data<T: DeserializeOwned>(members: &Members, expected: &'static str) -> Result<T, Reason> {
    members.get("data").and_then(object).ok_or(Reason::wrong("data", expected))
}

fn timestamp(members: &Members) -> Result<u64, Reason> {
    required(members, "timestamp", "a whole number of milliseconds")
}

/// A line that holds no message of this protocol.
///
/// Its text names fields and quotes no value but an unknown kind, so it may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The message's id, where it could be read: an error response can be sent to it.
    pub id: Option<String>,
    /// What is wrong with the line.
    pub reason: Reason,
}

/// What is wrong with an [`Unreadable`] line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is not one JSON object.
    NotJson {
        /// How many of the line's bytes could be read.
        bytes_read: usize,
    },
    /// It has no `id`, or one that is not a string.
    NoId,
    /// It has no `kind` (a response: no `type`), or one that is not a string.
    NoKind,
    /// Its kind is not one of this protocol's.
    UnknownKind(String),
    /// A required field is missing, or a field is not what it has to be.
    WrongField {
        /// The field's name.
        field: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
}

impl Reason {
    fn wrong(field: &'static str, expected: &'static str) -> Self {
        Self::WrongField { field, expected }
    }

    fn unknown(kind: &str) -> Self {
        Self::UnknownKind(kind.chars().take(QUOTED_KIND_CHARS).collect())
    }
}

impl From<Reason> for Unreadable {
    fn from(reason: Reason) -> Self {
        Self { id: None, reason }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::NotJson { bytes_read } => {
                write!(f, "the line is not one JSON object (read {bytes_read} bytes of it)")
            }
            Reason::NoId => write!(f, "the message has no id that is a string"),
            Reason::NoKind => write!(f, "the message does not say of which kind it is"),
            Reason::UnknownKind(kind) => write!(f, "unknown kind of message {kind:?}"),
            Reason::WrongField { field, expected } => {
                write!(f, "`{field}` must be {expected}")
            }
        }
    }
}

impl std::error::Error for Unreadable {}

fn members_of(line: &[u8]) -> Result<Members<'_>, Reason> {
    serde_json::from_slice(line).map_err(|error| Reason::NotJson { bytes_read: error.column() })
}

fn text(members: &Members, field: &'static str) -> Option<String> {
    required(members, field, "a string").ok()
}

fn required<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<T, Reason> {
    let value = members.get(field).and_then(|value| serde_json::from_str(value.get()).ok());
    value.ok_or(Reason::wrong(field, expected))
}

/// Like [`required`], but absent and `null` are nothing.
fn optional<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<Option<T>, Reason> {
    match members.get(field) {
        Some(value) if !is_null(value) => required(members, field, expected).map(Some),
        _ => Ok(None),
    }
}

/// Derived structs would also take an array of their fields in order, so that is ruled out first.
fn object<T: DeserializeOwned>(value: &RawValue) -> Option<T> {
    if is_object(value) { serde_json::from_str(value.get()).ok() } else { None }
}

fn one_line(message: &impl Serialize) -> Vec<u8> {
    // The types above hold strings, numbers and checked JSON, and memory takes all of them.
    let encoded = serde_json::to_vec(message);
    let mut line = encoded.unwrap_or_else(|error| unreachable!("a session message: {error}"));
    flatten(&mut line);
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    /// Reads each line and shows what was read and how it is written, or why it was refused.
    fn check(read: fn(&[u8]) -> String, lines: &[&str], expected: &Expect) {
        let shown: Vec<String> = lines.iter().map(|line| read(line.as_bytes())).collect();
        expected.assert_eq(&(shown.join("\n") + "\n"));
    }

    fn request(line: &[u8]) -> String {
        match Request::decode(line) {
            Ok(request) => shown(&request, request.to_line()),
            Err(unreadable) => refused(&unreadable),
        }
    }

    fn response(line: &[u8]) -> String {
        match Response::decode(line) {
            Ok(response) => shown(&response, response.to_line()),
            Err(unreadable) => refused(&unreadable),
        }
    }

    fn refused(unreadable: &Unreadable) -> String {
        format!("{:?}: {unreadable}", unreadable.id.as_deref())
    }

    fn shown(message: &impl fmt::Debug, line: Vec<u8>) -> String {
        let message = format!("{message:?}").replace('\r', "␍").replace('\n', "␊");
        format!("{message}\n  = {:?}", text(line))
    }

    fn text(line: Vec<u8>) -> String {
        String::from_utf8(line).expect("JSON is UTF-8")
    }

    #[test]
    fn requests() {
        check(
            request,
            &[
                r#"{"id":"1","kind":"user_message","message":"Hi \u2028 \n \u00e9"}"#,
                r#"{"kind":"user_message","metadata":{ "b":1.0, "a":null },"message":"","attachments":[{"path":"/a","mime":"text/plain","size":3}],"id":""}"#,
                r#"{"id":"1","kind":"user_message","message":"Hi","attachments":null,"metadata":null,"new":7}"#,
                r#"{"id":"2","kind":"clear_history","message":["ignored here"]}"#,
                "{\"id\":\"3\",\n\"kind\":\"get_status\"}\r\n",
                "{\"id\":\"4\",\"kind\":\"user_message\",\"message\":\"Hi\",\"metadata\":{\n\"a\":\r\n1}}",
            ],
            &expect![[r#"
                Request { id: "1", command: UserMessage(UserMessage { message: "Hi \u{2028} \n é", attachments: [], metadata: None }) }
                  = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"Hi \u{2028} \\n é\"}\n"
                Request { id: "", command: UserMessage(UserMessage { message: "", attachments: [Attachment { path: "/a", mime: "text/plain" }], metadata: Some(RawValue({ "b":1.0, "a":null })) }) }
                  = "{\"id\":\"\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"path\":\"/a\",\"mime\":\"text/plain\"}],\"metadata\":{ \"b\":1.0, \"a\":null }}\n"
                Request { id: "1", command: UserMessage(UserMessage { message: "Hi", attachments: [], metadata: None }) }
                  = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"Hi\"}\n"
                Request { id: "2", command: ClearHistory }
                  = "{\"id\":\"2\",\"kind\":\"clear_history\"}\n"
                Request { id: "3", command: GetStatus }
                  = "{\"id\":\"3\",\"kind\":\"get_status\"}\n"
                Request { id: "4", command: UserMessage(UserMessage { message: "Hi", attachments: [], metadata: Some(RawValue({␊"a":␍␊1})) }) }
                  = "{\"id\":\"4\",\"kind\":\"user_message\",\"message\":\"Hi\",\"metadata\":{ \"a\":  1}}\n"
            "#]],
        );
    }

    #[test]
    fn unreadable_requests() {
        check(
            request,
            &[
                "",
                "no JSON",
                "null",
                r#"["1","get_status"]"#,
                r#"{"id":"1","kind":"get_status""#,
                r#"{"id":"1","kind":"get_status"} {}"#,
                r#"{"kind":"get_status"}"#,
                r#"{"id":7,"kind":"get_status"}"#,
                r#"{"id":null,"kind":"get_status"}"#,
                r#"{"id":"1"}"#,
                r#"{"id":"1","kind":7}"#,
                r#"{"id":"1","kind":"fly\n"}"#,
                r#"{"id":"1","kind":"user_message"}"#,
                r#"{"id":"1","kind":"user_message","message":["secret"]}"#,
                r#"{"id":"1","kind":"user_message","message":"\ud800"}"#,
                r#"{"id":"1","kind":"user_message","message":"","attachments":"secret"}"#,
                r#"{"id":"1","kind":"user_message","message":"","attachments":[{"path":"secret"}]}"#,
                r#"{"id":"1","kind":"user_message","message":"","attachments":[["/a","text/plain"]]}"#,
                r#"{"id":"1","kind":"user_message","message":"","metadata":["secret"]}"#,
            ],
            &expect![[r#"
                None: the line is not one JSON object (read 0 bytes of it)
                None: the line is not one JSON object (read 2 bytes of it)
                None: the line is not one JSON object (read 4 bytes of it)
                None: the line is not one JSON object (read 0 bytes of it)
                None: the line is not one JSON object (read 29 bytes of it)
                None: the line is not one JSON object (read 32 bytes of it)
                None: the message has no id that is a string
                None: the message has no id that is a string
                None: the message has no id that is a string
                Some("1"): the message does not say of which kind it is
                Some("1"): the message does not say of which kind it is
                Some("1"): unknown kind of message "fly\n"
                Some("1"): `message` must be a string
                Some("1"): `message` must be a string
                Some("1"): `message` must be a string
                Some("1"): `attachments` must be an array of objects with path and mime
                Some("1"): `attachments` must be an array of objects with path and mime
                Some("1"): `attachments` must be an array of objects with path and mime
                Some("1"): `metadata` must be an object
            "#]],
        );
    }

    #[test]
    fn responses() {
        check(
            response,
            &[
                r#"{"type":"ready","timestamp":1}"#,
                r#"{"type":"ready","version":"1.0.0","capabilities":["streaming","new"],"timestamp":1}"#,
                r#"{"type":"token","id":"1","token":"Hi\n","timestamp":2}"#,
                r#"{"timestamp":3,"data":{"input":{ "b":1.0, "a":2 },"toolName":"list","toolId":"t","new":1},"id":"1","type":"tool_use"}"#,
                r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list","result":null},"timestamp":4}"#,
                r#"{"type":"done","id":"1","timestamp":5}"#,
                r#"{"type":"error","id":"1","error":"no","timestamp":6}"#,
                r#"{"type":"status","id":"1","data":{"state":"idle","conversationLength":10,"uptime":7},"timestamp":8}"#,
            ],
            &expect![[r#"
                Ready(Ready { version: None, capabilities: [], timestamp: 1 })
                  = "{\"type\":\"ready\",\"timestamp\":1}\n"
                Ready(Ready { version: Some("1.0.0"), capabilities: ["streaming", "new"], timestamp: 1 })
                  = "{\"type\":\"ready\",\"version\":\"1.0.0\",\"capabilities\":[\"streaming\",\"new\"],\"timestamp\":1}\n"
                Reply(Reply { id: "1", event: Token("Hi\n"), timestamp: 2 })
                  = "{\"type\":\"token\",\"id\":\"1\",\"token\":\"Hi\\n\",\"timestamp\":2}\n"
                Reply(Reply { id: "1", event: ToolUse(ToolUse { tool_id: "t", tool_name: "list", input: RawValue({ "b":1.0, "a":2 }) }), timestamp: 3 })
                  = "{\"type\":\"tool_use\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"list\",\"input\":{ \"b\":1.0, \"a\":2 }},\"timestamp\":3}\n"
                Reply(Reply { id: "1", event: ToolResult(ToolResult { tool_id: "t", tool_name: "list", result: RawValue(null) }), timestamp: 4 })
                  = "{\"type\":\"tool_result\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"list\",\"result\":null},\"timestamp\":4}\n"
                Reply(Reply { id: "1", event: Done, timestamp: 5 })
                  = "{\"type\":\"done\",\"id\":\"1\",\"timestamp\":5}\n"
                Reply(Reply { id: "1", event: Error("no"), timestamp: 6 })
                  = "{\"type\":\"error\",\"id\":\"1\",\"error\":\"no\",\"timestamp\":6}\n"
                Reply(Reply { id: "1", event: Status(Status { state: "idle", conversation_length: 10, uptime: 7 }), timestamp: 8 })
                  = "{\"type\":\"status\",\"id\":\"1\",\"data\":{\"state\":\"idle\",\"conversationLength\":10,\"uptime\":7},\"timestamp\":8}\n"
            "#]],
        );
    }

    #[test]
    fn unreadable_responses() {
        check(
            response,
            &[
                "[]",
                r#"{"id":"1","timestamp":1}"#,
                r#"{"type":"done","timestamp":1}"#,
                r#"{"type":"fly","id":"1","timestamp":1}"#,
                r#"{"type":"fly","timestamp":1}"#,
                r#"{"type":"ready"}"#,
                r#"{"type":"ready","version":1,"timestamp":1}"#,
                r#"{"type":"ready","capabilities":"all","timestamp":1}"#,
                r#"{"type":"done","id":"1","timestamp":-1}"#,
                r#"{"type":"token","id":"1","timestamp":1}"#,
                r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"list"},"timestamp":1}"#,
                r#"{"type":"tool_use","id":"1","data":["t","list",{}],"timestamp":1}"#,
                r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list"},"timestamp":1}"#,
                r#"{"type":"error","id":"1","timestamp":1}"#,
                r#"{"type":"status","id":"1","data":{"state":"idle"},"timestamp":1}"#,
            ],
            &expect![[r#"
                None: the line is not one JSON object (read 0 bytes of it)
                Some("1"): the message does not say of which kind it is
                None: the message has no id that is a string
                Some("1"): unknown kind of message "fly"
                None: unknown kind of message "fly"
                None: `timestamp` must be a whole number of milliseconds
                None: `version` must be a string
                None: `capabilities` must be an array of strings
                Some("1"): `timestamp` must be a whole number of milliseconds
                Some("1"): `token` must be a string
                Some("1"): `data` must be an object with toolId, toolName and input
                Some("1"): `data` must be an object with toolId, toolName and input
                Some("1"): `data` must be an object with toolId, toolName and result
                Some("1"): `error` must be a string
                Some("1"): `data` must be an object with state, conversationLength and uptime
            "#]],
        );
    }

    #[test]
    fn greeting() {
        let greeting = Response::Ready(Ready::at(1));
        check(
            response,
            &[&text(greeting.to_line())],
            &expect![[r#"
            Ready(Ready { version: Some("1.0.0"), capabilities: ["streaming", "tools", "attachments"], timestamp: 1 })
              = "{\"type\":\"ready\",\"version\":\"1.0.0\",\"capabilities\":[\"streaming\",\"tools\",\"attachments\"],\"timestamp\":1}\n"
        "#]],
        );
    }

    #[test]
    fn bytes_that_are_not_text() {
        let line = b"{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\xff\"}";
        assert!(matches!(
            Request::decode(line),
            Err(Unreadable { id: None, reason: Reason::NotJson { .. } })
        ));
    }

    #[test]
    fn a_long_unknown_kind_is_cut() {
        let line = format!(r#"{{"id":"1","kind":"{}"}}"#, "é".repeat(1000));
        let kind = "é".repeat(QUOTED_KIND_CHARS);
        let refused = Request::decode(line.as_bytes()).expect_err("an unknown kind");
        assert_eq!(refused.reason, Reason::UnknownKind(kind));
    }

    #[test]
    fn one_event_ends_a_request() {
        let status = Status { state: IDLE.to_owned(), conversation_length: 0, uptime: 0 };
        let ends = [Event::Done, Event::Error(String::new()), Event::Status(status)];
        assert!(ends.iter().all(Event::is_end));
        assert!(!Event::Token(String::new()).is_end());
    }

    proptest! {
        #[test]
        fn any_request_is_one_line_and_comes_back(id: String, message: String, path: String) {
            let attachments = vec![Attachment { path, mime: String::new() }];
            let said = UserMessage { message, attachments, metadata: None };
            let request = Request { id, command: Command::UserMessage(said) };
            let line = request.to_line();
            prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
            let back = Request::decode(&line).expect("our own line");
            prop_assert_eq!(format!("{back:?}"), format!("{request:?}"));
        }

        #[test]
        fn any_reply_is_one_line_and_comes_back(id: String, token: String, timestamp: u64) {
            let response = Response::Reply(Reply { id, event: Event::Token(token), timestamp });
            let line = response.to_line();
            prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
            let back = Response::decode(&line).expect("our own line");
            prop_assert_eq!(format!("{back:?}"), format!("{response:?}"));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = (Request::decode(&bytes), Response::decode(&bytes));
        }
    }
}
