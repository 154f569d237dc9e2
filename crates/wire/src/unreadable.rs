//! Why a line is no message of a protocol whose messages have an id and a kind.

use std::fmt;

use crate::fields::Malformed;

/// Unknown kinds are quoted in errors, and no error needs more of one than this.
pub(crate) const QUOTED_KIND_CHARS: usize = 64;

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
    pub(crate) fn unknown(kind: &str) -> Self {
        Self::UnknownKind(kind.chars().take(QUOTED_KIND_CHARS).collect())
    }
}

impl From<Malformed> for Reason {
    fn from(malformed: Malformed) -> Self {
        match malformed {
            Malformed::NotJson { bytes_read } => Self::NotJson { bytes_read },
            Malformed::WrongField { field, expected } => Self::WrongField { field, expected },
        }
    }
}

impl From<Reason> for Unreadable {
    fn from(reason: Reason) -> Self {
        Self { id: None, reason }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { bytes_read } => Malformed::NotJson { bytes_read: *bytes_read }.fmt(f),
            Self::NoId => write!(f, "the message has no id that is a string"),
            Self::NoKind => write!(f, "the message does not say of which kind it is"),
            Self::UnknownKind(kind) => write!(f, "unknown kind of message {kind:?}"),
            Self::WrongField { field, expected } => Malformed::wrong(field, expected).fmt(f),
        }
    }
}

impl std::error::Error for Unreadable {}
