//! The entries of the ledger, and filters for them.

use callgate_wire::ledger::{LedgerEvent, LedgerKind};
use callgate_wire::raw::Members;
use serde::de::IgnoredAny;

/// The longest body of an entry, in bytes: whatever fits into a line of the approval protocol fits
/// here after masking.
pub const LONGEST_BODY: usize = 16 * 1024 * 1024;
/// The longest name of a kind, in bytes.
pub const LONGEST_KIND: usize = 32;
/// The longest id of a question, in bytes.
pub const LONGEST_QUESTION: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryDraft {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What happened: a short word in lower case.
    pub kind: String,
    pub question: Option<String>,
    /// One JSON object. Secrets in it are already masked.
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The entry's number, from 1; none is ever used twice.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    pub kind: String,
    pub question: Option<String>,
    /// One JSON object.
    pub body: String,
    /// The hash over all of this and over the previous hash.
    pub hash: [u8; 32],
}

impl LedgerEntry {
    pub fn event(&self) -> LedgerEvent {
        LedgerEvent::decode_body(&self.kind, &self.body).0
    }

    /// Returns true if the entry is of this kind, whether or not its body can be read.
    pub fn is_of_kind(&self, kind: LedgerKind) -> bool {
        self.kind == kind.name()
    }

    /// Returns what is wrong with the content of an entry from elsewhere, if anything is.
    pub fn fault(&self) -> Option<&'static str> {
        content_fault(&self.kind, self.question.as_deref(), &self.body)
    }
}

/// Selects entries. Each condition narrows the selection; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    pub kinds: Vec<LedgerKind>,
    pub question: Option<String>,
    pub since_ms: Option<i64>,
    pub until_ms: Option<i64>,
    /// With this text in a value of the body, at any depth; the case of ASCII letters is ignored.
    pub text: Option<String>,
    /// With these members in its own body, or in that of another entry of its question.
    pub members: Vec<(String, MemberMatch)>,
}

/// A condition on a member of a body. Only members that are strings match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberMatch {
    /// This text; the case of ASCII letters is ignored.
    Is(String),
    /// A text that begins with this.
    Begins(String),
    /// A path that is this folder or lies in it. The folder is given by its whole path or by the
    /// end of it.
    Within(String),
}

impl EntryDraft {
    pub fn new(at_ms: i64, question: Option<String>, event: &LedgerEvent) -> Self {
        let body = event.body(&Members::default());
        Self { at_ms, kind: event.kind().to_owned(), question, body }
    }

    /// Returns what is wrong with the draft, if anything is.
    pub fn fault(&self) -> Option<&'static str> {
        if self.kind == LedgerKind::Anchor.name() {
            return Some("an anchor is written by pruning alone");
        }
        content_fault(&self.kind, self.question.as_deref(), &self.body)
    }
}

fn content_fault(kind: &str, question: Option<&str>, body: &str) -> Option<&'static str> {
    let is_word = |text: &str| {
        (1..=LONGEST_KIND).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let is_id = |text: &str| {
        (1..=LONGEST_QUESTION).contains(&text.len()) && !text.contains(char::is_control)
    };
    if !is_word(kind) {
        return Some("its kind is not a word of 1 to 32 lower-case letters");
    }
    if !question.is_none_or(is_id) {
        return Some("its question's id is empty, over 128 bytes or has control characters");
    }
    if body.len() > LONGEST_BODY {
        return Some("its body is over 16 MiB");
    }
    if !is_object(body) {
        return Some("its body is not one JSON object");
    }
    None
}

fn is_object(text: &str) -> bool {
    // `IgnoredAny` builds no value, because a body may have 16 MiB. The brace tells an object from
    // any other value.
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
