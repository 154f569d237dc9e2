//! Why a line is not a message, for the protocols whose messages have an id and a kind.

use std::fmt;

use crate::fields::Malformed;

/// How many characters of an unknown kind an error quotes. The kind itself may be as long as a
/// line.
pub(crate) const QUOTED_KIND_CHARS: usize = 64;

/// A line that is not a message of this protocol.
///
/// Its text names fields and quotes no value but an unknown kind, so it may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The message's id, if it could be read: an error response can be sent to it.
    pub id: Option<String>,
    pub reason: UnreadableReason,
}

/// What is wrong with an [`Unreadable`] line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnreadableReason {
    /// It is not one JSON object, or one of its fields is missing or wrong.
    Malformed(Malformed),
    /// It has no `id`, or one that is not a string.
    NoId,
    /// It has no `kind` (a response: no `type`), or one that is not a string.
    NoKind,
    UnknownKind(String),
}

impl UnreadableReason {
    pub(crate) fn unknown(kind: &str) -> Self {
        Self::UnknownKind(kind.chars().take(QUOTED_KIND_CHARS).collect())
    }
}

impl From<Malformed> for UnreadableReason {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<UnreadableReason> for Unreadable {
    fn from(reason: UnreadableReason) -> Self {
        Self { id: None, reason }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl fmt::Display for UnreadableReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::NoId => write!(f, "the message has no id that is a string"),
            Self::NoKind => write!(f, "the message does not say of which kind it is"),
            Self::UnknownKind(kind) => write!(f, "unknown kind of message {kind:?}"),
        }
    }
}

impl std::error::Error for Unreadable {}
