//! The responses of the runtime.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{SessionEvent, Unreadable, UnreadableReason, VERSION, WHOLE_NUMBER, capability};
use crate::fields::{
    members_of, one_line, optional_field, required_field, text_field, write_optional,
};
use crate::raw::{Json, Members, flatten_json};

#[derive(Debug, Clone)]
pub enum SessionResponse {
    /// The runtime has started. This is its first line, and the only one that answers no request.
    Ready(RuntimeReady),
    Reply(SessionReply),
}

message_structs! {
    /// The first line of a runtime.
    #[derive(PartialEq, Eq)]
    #[serde(tag = "type", rename = "ready")]
    pub struct RuntimeReady {
        /// The protocol version. Old runtimes do not send it.
        version optional: Option<String> = "a string",
        capabilities optional: Vec<String> = "an array of strings",
        /// Milliseconds since the Unix epoch.
        timestamp: u64 = MILLISECONDS,
        /// The response's number, where it is sent again.
        seq optional: Option<u64> = WHOLE_NUMBER,
    }
}

/// An event of one request.
#[derive(Debug, Clone)]
pub struct SessionReply {
    /// The id of the request. It is only absent in a [`SessionEvent::Error`] about a line whose id
    /// could not be read.
    pub id: Option<String>,
    pub event: SessionEvent,
    /// Milliseconds since the Unix epoch.
    pub timestamp: u64,
    /// The response's number, once `hello` was answered.
    pub seq: Option<u64>,
}

impl SessionResponse {
    /// Reads a response from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(UnreadableReason::from)?;
        let id = text_field(&members, "id");
        Self::from_members(&members, id.as_deref()).map_err(|reason| Unreadable { id, reason })
    }

    fn from_members(members: &Members, id: Option<&str>) -> Result<Self, UnreadableReason> {
        let kind = text_field(members, "type").ok_or(UnreadableReason::NoKind)?;
        if kind == "ready" {
            return Ok(Self::Ready(RuntimeReady::from_members(members)?));
        }
        let event = SessionEvent::from_members(&kind, members)?;
        // `null` says that the id could not be read. A missing id is a mistake of the runtime.
        let is_about_a_line = matches!(event, SessionEvent::Error { .. })
            && members.get("id").is_some_and(Json::is_null);
        if id.is_none() && !is_about_a_line {
            return Err(UnreadableReason::NoId);
        }
        let timestamp = required_field(members, "timestamp", MILLISECONDS)?;
        let seq = optional_field(members, "seq", WHOLE_NUMBER)?;
        Ok(Self::Reply(SessionReply { id: id.map(str::to_owned), event, timestamp, seq }))
    }

    pub fn to_line(&self) -> Vec<u8> {
        match self {
            Self::Ready(ready) => one_line(ready),
            Self::Reply(reply) => {
                let mut line = Vec::new();
                reply.write(&mut line);
                line
            }
        }
    }
}

impl RuntimeReady {
    /// Creates the greeting of this version of the protocol.
    pub fn at(timestamp: u64) -> Self {
        let capabilities = capability::ALL.map(str::to_owned).to_vec();
        Self { version: Some(VERSION.to_owned()), capabilities, timestamp, seq: None }
    }
}

impl SessionReply {
    /// Appends the reply to `out` as one line, its newline included. `seq` comes last in it, so
    /// that a line without one can be given one.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.event.write_line(self.id.as_deref(), self.timestamp, self.seq, out);
    }
}

impl SessionEvent {
    /// Appends the [`SessionReply`] with these parts to `out`, as [`SessionReply::write`] does.
    /// Every token is a line, and none of them has to own its id for that.
    pub fn write_line(
        &self,
        id: Option<&str>,
        timestamp: u64,
        seq: Option<u64>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        // Nothing here can be refused. Should it ever be, its line is blank: see `one_line`.
        if serde_json::to_writer(&mut *out, &ReplyLine { id, event: self, timestamp, seq }).is_err()
        {
            out.truncate(start);
        }
        flatten_json(&mut out[start..]);
        out.push(b'\n');
    }
}

/// A borrowed [`SessionReply`].
struct ReplyLine<'a> {
    id: Option<&'a str>,
    event: &'a SessionEvent,
    timestamp: u64,
    seq: Option<u64>,
}

impl Serialize for ReplyLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.event.kind())?;
        map.serialize_entry("id", &self.id)?;
        self.event.write(&mut map)?;
        map.serialize_entry("timestamp", &self.timestamp)?;
        write_optional(&mut map, "seq", self.seq.as_ref())?;
        map.end()
    }
}

const MILLISECONDS: &str = "a whole number of milliseconds";
