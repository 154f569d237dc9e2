//! What the runtime says.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{CAPABILITIES, Reason, Unreadable, VERSION, text};
use crate::fields::{Malformed, members_of, one_line, optional, required};
use crate::raw::{Members, from_object};

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
    /// [`IDLE`](super::IDLE) or [`BUSY`](super::BUSY); a reader takes other words as they come.
    pub state: String,
    /// How many messages the history holds.
    pub conversation_length: u64,
    /// Milliseconds since the runtime started.
    pub uptime: u64,
}

impl Response {
    /// Reads a response from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(Reason::from)?;
        let id = text(&members, "id");
        Self::read(&members, id.as_deref()).map_err(|reason| Unreadable { id, reason })
    }

    fn read(members: &Members, id: Option<&str>) -> Result<Self, Reason> {
        let kind = text(members, "type").ok_or(Reason::NoKind)?;
        if kind == "ready" {
            return Ok(Self::Ready(Ready::read(members)?));
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

    fn read(members: &Members) -> Result<Self, Malformed> {
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
        Ok(match kind {
            "token" => Self::Token(required(members, "token", "a string")?),
            "tool_use" => Self::ToolUse(data(members, TOOL_USE)?),
            "tool_result" => Self::ToolResult(data(members, TOOL_RESULT)?),
            "done" => Self::Done,
            "error" => Self::Error(required(members, "error", "a string")?),
            "status" => Self::Status(data(members, STATUS)?),
            _ => return Err(Reason::unknown(kind)),
        })
    }
}

const TOOL_USE: &str = "an object with toolId, toolName and input";
const TOOL_RESULT: &str = "an object with toolId, toolName and result";
const STATUS: &str = "an object with state, conversationLength and uptime";

fn data<T: DeserializeOwned>(members: &Members, expected: &'static str) -> Result<T, Malformed> {
    let data = members.get("data").and_then(|data| from_object(data.get()).ok());
    data.ok_or(Malformed::wrong("data", expected))
}

fn timestamp(members: &Members) -> Result<u64, Malformed> {
    required(members, "timestamp", "a whole number of milliseconds")
}
