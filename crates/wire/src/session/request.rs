//! What the front end asks of the runtime.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Reason, Unreadable, text};
use crate::fields::{Malformed, members_of, one_line, optional, optional_object, required};
use crate::raw::{Members, from_object};

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
        let members = members_of(line).map_err(Reason::from)?;
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
            "user_message" => Ok(Self::UserMessage(UserMessage::read(members)?)),
            "clear_history" => Ok(Self::ClearHistory),
            "get_status" => Ok(Self::GetStatus),
            _ => Err(Reason::unknown(&kind)),
        }
    }
}

impl UserMessage {
    fn read(members: &Members) -> Result<Self, Malformed> {
        let metadata = optional_object(members, "metadata")?;
        Ok(Self {
            message: required(members, "message", "a string")?,
            attachments: attachments(members)?,
            metadata,
        })
    }
}

fn attachments(members: &Members) -> Result<Vec<Attachment>, Malformed> {
    const EXPECTED: &str = "an array of objects with path and mime";
    let each: Option<Vec<Box<RawValue>>> = optional(members, "attachments", EXPECTED)?;
    let read: Result<_, _> =
        each.unwrap_or_default().iter().map(|one| from_object(one.get())).collect();
    read.map_err(|_| Malformed::wrong("attachments", EXPECTED))
}
