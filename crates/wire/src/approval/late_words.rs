//! The agent's last words, which follow a request if they were not known when it was sent.

use super::{Malformed, RequestId};
use crate::fields::{members_of, one_line};

/// The longest line of late words, without its newline.
pub const MAX_WORDS_LINE: usize = 64 * 1024;

message_structs! {
    /// The agent's last words before a question, sent on the connection of the question after it.
    #[derive(PartialEq, Eq)]
    pub struct LateWords {
        request_id: RequestId = RequestId::from_member,
        last_words: String = "a string",
    }
}

impl LateWords {
    /// Reads late words from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        Self::from_members(&members_of(line)?)
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}
