//! What the desk above sends to a box.

use serde::{Deserialize, Serialize};

use super::{LONGEST_BUNDLE, UnreadableReason, decode_ids, decode_name, decode_text};
use crate::approval::{RelayedAnswer, RequestId};
use crate::desk::decode_secret;
use crate::fields::{
    Malformed, bounded_text, if_present, members_of, one_line, optional_field, required_field,
    required_object, text_field,
};
use crate::hidden_text::HiddenText;
use crate::raw::Members;

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RelayOrder {
    /// Opens the line.
    Hello(UpperHello),
    /// A person has answered a question.
    Answer { question: RequestId, answer: RelayedAnswer },
    /// All entries up to this number are stored.
    Ack { seq: u64 },
    /// The newest rules of the team, for a machine that belongs to one.
    Rules {
        /// The signed bundle, as JSON text.
        bundle: String,
    },
    /// A heartbeat: the desk above is still there.
    Beat,
    /// Something that the box sent was not accepted, in words for a person.
    Error {
        text: String,
        /// The question, if there was only no room for it: the box may ask it again.
        #[serde(skip_serializing_if = "Option::is_none")]
        question: Option<RequestId>,
    },
}

#[derive(Debug, Clone, Serialize)]
pub struct UpperHello {
    pub protocol: u64,
    /// The version of its program.
    pub version: String,
    /// Its name, which the box records beside every answer.
    pub name: String,
    /// The token by which the box's desk knows it, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<HiddenText>,
    /// The last entry of the box's ledger that it has a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<CopiedThrough>,
    /// The questions of the box that are open above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<RequestId>,
    /// Whether the ledger of the box is not to be copied.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_copy: bool,
}

/// The last entry of a box's ledger that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedThrough {
    pub seq: u64,
    /// The hash of that entry, in hex.
    pub hash: String,
}

impl RelayOrder {
    /// Reads an order from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, UnreadableReason> {
        let members = members_of(line)?;
        let kind = text_field(&members, "kind").ok_or(UnreadableReason::NoKind)?;
        Ok(match kind.as_str() {
            "hello" => Self::Hello(decode_hello(&members)?),
            "answer" => Self::Answer {
                question: RequestId::from_member(&members, "question")?,
                answer: required_object(&members, "answer", "an object with decision and by")?,
            },
            "ack" => Self::Ack { seq: required_field(&members, "seq", "a whole number")? },
            "rules" => {
                Self::Rules { bundle: bounded_text(&members, "bundle", LONGEST_BUNDLE, BUNDLE)? }
            }
            "beat" => Self::Beat,
            "error" => Self::Error {
                text: decode_text(&members, "text")?,
                question: if_present(&members, "question", RequestId::from_member)?,
            },
            kind => return Err(UnreadableReason::unknown(kind)),
        })
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

const BUNDLE: &str = "a string of at most 2 MiB";

fn decode_hello(members: &Members) -> Result<UpperHello, Malformed> {
    let read_after =
        |members: &Members, field| required_object(members, field, "an object with seq and hash");
    Ok(UpperHello {
        protocol: required_field(members, "protocol", "a whole number")?,
        version: decode_name(members, "version")?,
        name: decode_name(members, "name")?,
        token: if_present(members, "token", decode_secret)?,
        after: if_present(members, "after", read_after)?,
        held: decode_ids(members, "held")?,
        no_copy: optional_field(members, "no_copy", "true or false")?.unwrap_or_default(),
    })
}
