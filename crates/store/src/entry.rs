//! What goes into the ledger, what comes out of it, and which of it is wanted.

use serde::de::IgnoredAny;

/// How long an entry's body may be, in bytes: what fits into a line of the approval protocol
/// fits here too after masking.
pub const LONGEST_BODY: usize = 16 * 1024 * 1024;
/// How long the word for a kind may be.
pub const LONGEST_KIND: usize = 32;
/// How long a question's id may be, in bytes.
pub const LONGEST_QUESTION: usize = 128;

/// The kinds of entries. The store itself has to know three of them; the others are for whoever
/// writes them.
pub mod kind {
    /// A question was asked.
    pub const ASKED: &str = "asked";
    /// A question is over.
    pub const CLOSED: &str = "closed";
    /// Entries were removed; written by [`Store::prune`](crate::Store::prune) alone.
    pub const ANCHOR: &str = "anchor";
    /// Every kind that callgate writes, those of a question first, in the order of its life.
    pub const ALL: [&str; 17] = [
        ASKED,
        "unsent",
        "pressed",
        "decided",
        "delivered",
        "returned",
        CLOSED,
        "checked",
        "running",
        "ran",
        "refused",
        "code",
        "paired",
        "unpaired",
        "gated",
        "started",
        ANCHOR,
    ];
}

/// An entry that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What happened: a short word in lower case.
    pub kind: String,
    /// The id of the question that it belongs to.
    pub question: Option<String>,
    /// One JSON object. Secrets are masked before it comes here.
    pub body: String,
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1 on; none is ever used twice.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What happened.
    pub kind: String,
    /// The id of the question that it belongs to.
    pub question: Option<String>,
    /// One JSON object.
    pub body: String,
    /// The hash over all of this and the hash before it.
    pub hash: [u8; 32],
}

/// Which entries are wanted. Each part that is given narrows it; the default wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of one of these kinds.
    pub kinds: Vec<String>,
    /// Of this question.
    pub question: Option<String>,
    /// At this time or later.
    pub since_ms: Option<i64>,
    /// Before this time.
    pub until_ms: Option<i64>,
    /// With this text in a value of the body, at any depth; the case of ASCII letters is ignored.
    pub text: Option<String>,
    /// With these members in its own body, or in that of another entry of its question.
    pub members: Vec<(String, Member)>,
}

/// What a member of a body has to be. Only members that are texts are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// This text; the case of ASCII letters is ignored.
    Is(String),
    /// A text that begins so.
    Begins(String),
    /// A path that is this folder or lies in it; given by its whole path or the end of it.
    Within(String),
}

impl Draft {
    /// What is wrong with it, if anything is.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let is_word = |text: &str| {
            (1..=LONGEST_KIND).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        let is_id = |text: &String| {
            (1..=LONGEST_QUESTION).contains(&text.len()) && !text.contains(char::is_control)
        };
        if !is_word(&self.kind) {
            return Some("its kind is not a word of 1 to 32 lower-case letters");
        }
        if self.kind == kind::ANCHOR {
            return Some("an anchor is written by pruning alone");
        }
        if !self.question.as_ref().is_none_or(is_id) {
            return Some("its question's id is empty, over 128 bytes or has control characters");
        }
        if self.body.len() > LONGEST_BODY {
            return Some("its body is over 16 MiB");
        }
        if !is_object(&self.body) {
            return Some("its body is not one JSON object");
        }
        None
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
