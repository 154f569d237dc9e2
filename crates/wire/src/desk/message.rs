//! What the desk says to a viewer.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{DeskStatus, NamedLink, PairingSecret, Unreadable, UnreadableReason, text};
use crate::fields::{Malformed, list, members_of, one_line, required};
use crate::raw::{Members, from_object};

/// What the desk says to a viewer.
#[derive(Debug, Clone)]
pub enum DeskMessage {
    /// An entry of the ledger, to whoever watches.
    Entry(WatchedEntry),
    /// The answer to a request.
    Answer {
        /// The request's id.
        id: String,
        /// What came of it.
        answer: DeskAnswer,
    },
    /// A request waits for a yes of somebody who is linked; its answer follows.
    Waiting {
        /// The request's id.
        id: String,
        /// What it waits for, in words for a person.
        text: String,
        /// How long at most.
        seconds: u64,
    },
    /// The token that unlocked this connection is not good any more.
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

/// The kinds of answers.
#[derive(Debug, Clone)]
pub enum DeskAnswer {
    /// To `watch`: entries follow.
    Watching {
        /// The number of the last entry at that moment; what comes after it is new.
        head: u64,
    },
    /// To `press`, `unlock`, `unpair` and `gate`, and to a `pair` or `code` that was refused.
    Told {
        /// Whether it changed anything.
        done: bool,
        /// What came of it, in words for a person.
        text: String,
    },
    /// To `code`.
    Code {
        /// The code.
        code: PairingSecret,
        /// How long it can be used.
        seconds: u64,
    },
    /// To a `pair` that was accepted. The connection is unlocked by that.
    Paired {
        /// What to unlock later connections with.
        token: PairingSecret,
    },
    /// To `links`.
    Links(Vec<NamedLink>),
    /// To `status`.
    Status(DeskStatus),
}

/// An entry of the ledger.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WatchedEntry {
    /// Its number.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What happened.
    pub kind: String,
    /// The question that it belongs to.
    #[serde(default)]
    pub question: Option<String>,
    /// Its hash, in hex.
    pub hash: String,
    /// What there is to know about it, as it was written: an object.
    pub body: Box<RawValue>,
}

impl DeskMessage {
    /// An answer to the request `id`.
    #[must_use]
    pub fn answer(id: impl Into<String>, answer: DeskAnswer) -> Self {
        Self::Answer { id: id.into(), answer }
    }

    /// Reads a message from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(UnreadableReason::from)?;
        let id = text(&members, "id");
        Self::read(&members, id.clone()).map_err(|reason| Unreadable { id, reason })
    }

    fn read(members: &Members, id: Option<String>) -> Result<Self, UnreadableReason> {
        let kind = text(members, "kind").ok_or(UnreadableReason::NoKind)?;
        match kind.as_str() {
            "entry" => Ok(Self::Entry(object(members, "entry", ENTRY)?)),
            "waiting" => Ok(Self::Waiting {
                id: id.ok_or(UnreadableReason::NoId)?,
                text: required(members, "text", "a string")?,
                seconds: required(members, "seconds", "a whole number")?,
            }),
            "locked" => Ok(Self::Locked { text: required(members, "text", "a string")? }),
            "error" => Ok(Self::Error { id, text: required(members, "text", "a string")? }),
            kind => {
                let answer = DeskAnswer::read(kind, members)?;
                Ok(Self::Answer { id: id.ok_or(UnreadableReason::NoId)?, answer })
            }
        }
    }

    /// The message as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl Serialize for DeskMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
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
            Self::Locked { text } => {
                map.serialize_entry("kind", "locked")?;
                map.serialize_entry("text", text)?;
            }
            Self::Error { id, text } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("kind", "error")?;
                map.serialize_entry("text", text)?;
            }
            Self::Answer { id, answer } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("kind", answer.kind())?;
                answer.write(&mut map)?;
            }
        }
        map.end()
    }
}

impl DeskAnswer {
    fn kind(&self) -> &'static str {
        match self {
            Self::Watching { .. } => "watching",
            Self::Told { .. } => "told",
            Self::Code { .. } => "code",
            Self::Paired { .. } => "paired",
            Self::Links(_) => "links",
            Self::Status(_) => "status",
        }
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Watching { head } => map.serialize_entry("head", head),
            Self::Told { done, text } => {
                map.serialize_entry("done", done)?;
                map.serialize_entry("text", text)
            }
            Self::Code { code, seconds } => {
                map.serialize_entry("code", code)?;
                map.serialize_entry("seconds", seconds)
            }
            Self::Paired { token } => map.serialize_entry("token", token),
            Self::Links(links) => map.serialize_entry("links", links),
            Self::Status(status) => map.serialize_entry("status", status),
        }
    }

    fn read(kind: &str, members: &Members) -> Result<Self, UnreadableReason> {
        Ok(match kind {
            "watching" => Self::Watching { head: required(members, "head", "a whole number")? },
            "told" => Self::Told {
                done: required(members, "done", "true or false")?,
                text: required(members, "text", "a string")?,
            },
            "code" => Self::Code {
                code: secret(members, "code")?,
                seconds: required(members, "seconds", "a whole number")?,
            },
            "paired" => Self::Paired { token: secret(members, "token")? },
            "links" => Self::Links(links(members)?),
            "status" => Self::Status(object(members, "status", STATUS)?),
            _ => return Err(UnreadableReason::unknown(kind)),
        })
    }
}

const ENTRY: &str = "an object with seq, at_ms, kind, hash and body";
const STATUS: &str = "an object with version, pid and how things stand";
const LINKS: &str = "an array of objects with link and name";

fn object<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<T, Malformed> {
    let value = members.get(field).and_then(|value| from_object(value.get()).ok());
    value.ok_or(Malformed::wrong(field, expected))
}

fn links(members: &Members) -> Result<Vec<NamedLink>, Malformed> {
    let each: Option<Vec<Box<RawValue>>> = list(members, "links")?;
    let each = each.ok_or(Malformed::wrong("links", LINKS))?;
    let read: Result<_, _> = each.iter().map(|one| from_object(one.get())).collect();
    read.map_err(|_| Malformed::wrong("links", LINKS))
}

fn secret(members: &Members, field: &'static str) -> Result<PairingSecret, Malformed> {
    required(members, field, "a string").map(|text: String| PairingSecret::new(text))
}
