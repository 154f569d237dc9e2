//! Messages of the desk to a viewer.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{DeskAnswer, Unreadable, UnreadableReason};
use crate::fields::{members_of, one_line, required_field, required_object, text_field};
use crate::ledger::LedgerEvent;
use crate::raw::Members;

#[derive(Debug, Clone)]
pub enum DeskMessage {
    /// An entry of the ledger, for a viewer that watches.
    Entry(WatchedEntry),
    /// The answer to a request.
    Answer { id: String, answer: DeskAnswer },
    /// A request waits for a yes of somebody who is linked; its answer follows.
    Waiting {
        id: String,
        /// What it waits for, in words for a person.
        text: String,
        /// The longest time that it waits, in seconds.
        seconds: u64,
    },
    /// A request is under way; its answer follows.
    Progress { id: String, done: u64, total: u64 },
    /// The token that unlocked this connection is no longer valid.
    Locked {
        /// Why, in words for a person.
        text: String,
    },
    /// A line that was no request, or a request that cannot be served.
    Error {
        /// The request's id, where it could be read.
        id: Option<String>,
        /// What is wrong, in words for a person.
        text: String,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WatchedEntry {
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    pub kind: String,
    pub question: Option<String>,
    /// Its hash, in hex.
    pub hash: String,
    /// Its body as it was written: a JSON object.
    pub body: Box<RawValue>,
}

impl WatchedEntry {
    pub fn event(&self) -> LedgerEvent {
        LedgerEvent::decode_body(&self.kind, self.body.get()).0
    }
}

impl DeskMessage {
    pub fn answer(id: impl Into<String>, answer: DeskAnswer) -> Self {
        Self::Answer { id: id.into(), answer }
    }

    /// Reads a message from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(UnreadableReason::from)?;
        let id = text_field(&members, "id");
        Self::from_members(line, &members, id.clone()).map_err(|reason| Unreadable { id, reason })
    }

    fn from_members(
        line: &[u8],
        members: &Members,
        id: Option<String>,
    ) -> Result<Self, UnreadableReason> {
        let kind = text_field(members, "kind").ok_or(UnreadableReason::NoKind)?;
        match kind.as_str() {
            "entry" => Ok(Self::Entry(required_object(members, "entry", ENTRY)?)),
            "waiting" => Ok(Self::Waiting {
                id: id.ok_or(UnreadableReason::NoId)?,
                text: required_field(members, "text", "a string")?,
                seconds: required_field(members, "seconds", "a whole number")?,
            }),
            "progress" => Ok(Self::Progress {
                id: id.ok_or(UnreadableReason::NoId)?,
                done: required_field(members, "done", "a whole number")?,
                total: required_field(members, "total", "a whole number")?,
            }),
            "locked" => Ok(Self::Locked { text: required_field(members, "text", "a string")? }),
            "error" => Ok(Self::Error { id, text: required_field(members, "text", "a string")? }),
            kind => {
                // Any other kind can only be an answer; an unknown one is refused there by its
                // name.
                let answer = DeskAnswer::from_members(kind, line, members)?;
                Ok(Self::Answer { id: id.ok_or(UnreadableReason::NoId)?, answer })
            }
        }
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl Serialize for DeskMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // By hand: a tag of serde would be written before the id.
        if let Self::Answer { id, answer } = self {
            return answer.write(id, serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Entry(entry) => {
                map.serialize_entry("kind", "entry")?;
                map.serialize_entry("entry", entry)?;
            }
            Self::Waiting { id, text, seconds } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("kind", "waiting")?;
                map.serialize_entry("text", text)?;
                map.serialize_entry("seconds", seconds)?;
            }
            Self::Progress { id, done, total } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("kind", "progress")?;
                map.serialize_entry("done", done)?;
                map.serialize_entry("total", total)?;
            }
            Self::Locked { text } => {
                map.serialize_entry("kind", "locked")?;
                map.serialize_entry("text", text)?;
            }
            Self::Error { id, text } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("kind", "error")?;
                map.serialize_entry("text", text)?;
            }
            Self::Answer { .. } => {}
        }
        map.end()
    }
}

pub(crate) const ENTRY: &str = "an object with seq, at_ms, kind, hash and body";
