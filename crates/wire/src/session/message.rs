//! What the user says.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::command::{metadata, some};
use super::conversation::of_metadata;
use crate::fields::{Malformed, optional, required};
use crate::raw::{Members, from_object};

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

impl UserMessage {
    /// The conversation that the message belongs to, if it names one.
    #[must_use]
    pub fn conversation_id(&self) -> Option<String> {
        of_metadata(self.metadata.as_deref()).ok().flatten()
    }

    pub(super) fn read(members: &Members) -> Result<Self, Malformed> {
        let metadata = metadata(members)?;
        Ok(Self {
            message: required(members, "message", "a string")?,
            attachments: attachments(members)?,
            metadata,
        })
    }

    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("message", &self.message)?;
        if !self.attachments.is_empty() {
            map.serialize_entry("attachments", &self.attachments)?;
        }
        some(map, "metadata", self.metadata.as_ref())
    }
}

fn attachments(members: &Members) -> Result<Vec<Attachment>, Malformed> {
    const EXPECTED: &str = "an array of objects with path and mime";
    let each: Option<Vec<Box<RawValue>>> = optional(members, "attachments", EXPECTED)?;
    let read: Result<_, _> =
        each.unwrap_or_default().iter().map(|one| from_object(one.get())).collect();
    read.map_err(|_| Malformed::wrong("attachments", EXPECTED))
}
