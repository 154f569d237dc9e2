//! The relay protocol: how the desk of a box and a desk above it speak with each other.
//!
//! Each line is one JSON object, in both directions, on any pair of byte streams. The box sends
//! [`RelayReport`]s, the desk above sends [`RelayOrder`]s; the normative text is
//! `docs/protocol/relay.md`. Both begin with a hello that names the protocol's version.

mod order;
mod report;
mod team_service;

use crate::approval::RequestId;
use crate::fields::{Malformed, bounded_text, optional_field};
use crate::raw::Members;

pub use crate::unreadable::UnreadableReason;
pub use order::{CopiedThrough, RelayOrder, UpperHello};
pub use report::{BoxHello, ClosedOutcome, RelayReport, RelayedQuestion};
pub use team_service::{
    JOIN_PATH, LINE_NUMBER, LINE_PATH, LINE_PROTOCOL, MachineJoined, MachineSecret,
};

/// The version of this protocol. A side that reads another number says so and ends the line.
pub const PROTOCOL: u64 = 1;

/// The longest line, without its newline, that either side may send: the longest entry fits.
pub const MAX_LINE: usize = crate::desk::MAX_MESSAGE;

/// The longest name of a machine, a user or a desk, in bytes.
pub const LONGEST_NAME: usize = 256;

/// The longest path of a home, in bytes.
pub const LONGEST_HOME: usize = 4096;

/// The longest text for a person, in bytes.
pub const LONGEST_TEXT: usize = 64 * 1024;

/// The longest request of a question, in bytes. A box sends as much of an input as viewers are
/// shown.
pub const LONGEST_REQUEST: usize = 4 * 1024 * 1024;

/// The longest bundle of a team's rules, in bytes. It is `LARGEST_BUNDLE` of the crate `team`,
/// which this one cannot use.
pub const LONGEST_BUNDLE: usize = 2 * 1024 * 1024;

/// The most questions of one box that may be open at the desk above.
pub const MOST_QUESTIONS: usize = 1024;

/// The most questions that one message names: beside the open ones there may be as many whose
/// answers are on their way to the agents.
pub const MOST_IDS: usize = 2 * MOST_QUESTIONS;

/// The most bytes that the lines of these questions may have, so that one box leaves room for
/// others at the desk above.
pub const MOST_QUESTION_BYTES: usize = 64 * 1024 * 1024;

fn decode_name(members: &Members, field: &'static str) -> Result<String, Malformed> {
    bounded_text(members, field, LONGEST_NAME, "a string of at most 256 bytes")
}

/// Reads the ids of questions; none if the field is absent.
fn decode_ids(members: &Members, field: &'static str) -> Result<Vec<RequestId>, Malformed> {
    const EXPECTED: &str = "an array of at most 2048 question ids";
    let ids: Option<Vec<String>> = optional_field(members, field, EXPECTED)?;
    let ids = ids.unwrap_or_default();
    let read: Option<Vec<RequestId>> = ids.iter().map(|id| RequestId::parse(id)).collect();
    let read = read.filter(|ids| ids.len() <= MOST_IDS);
    read.ok_or(Malformed::wrong_field(field, EXPECTED))
}

fn decode_text(members: &Members, field: &'static str) -> Result<String, Malformed> {
    bounded_text(members, field, LONGEST_TEXT, "a string of at most 64 KiB")
}
