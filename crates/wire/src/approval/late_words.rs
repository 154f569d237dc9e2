//! The agent's last words, which follow a request if they were not known when it was sent.

use serde::Serialize;

use super::{Malformed, RequestId};
use crate::fields::{members_of, one_line, required_field};

/// The longest line of late words, without its newline.
pub const MAX_WORDS_LINE: usize = 64 * 1024;

/// The agent's last words before a question, sent on the connection of the question after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LateWords {
    pub request_id: RequestId,
    pub last_words: String,
}

impl LateWords {
    /// Reads late words from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        let members = members_of(line)?;
        Ok(Self {
            request_id: RequestId::from_member(&members, "request_id")?,
            last_words: required_field(&members, "last_words", "a string")?,
        })
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}
