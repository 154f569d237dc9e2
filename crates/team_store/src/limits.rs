//! How much the store takes, and the checks of it.

use std::time::Duration;

use callgate_store::LONGEST_BODY;
use serde_json::Value;

use crate::error::TeamStoreError;

/// The longest name of a machine, a project, an agent, a person or a document, in bytes.
pub const LONGEST_NAME: usize = 256;
/// The longest time for which a question may be open.
pub const LONGEST_WAIT: Duration = Duration::from_hours(24);
/// How long after the end of a question's time its answer may still reach the agent. A machine that
/// was cut off has this long to come back.
pub const LONGEST_DELIVERY: Duration = Duration::from_mins(10);
pub const MOST_COPIES: usize = 1000;
pub const MOST_ROWS: usize = 1000;
/// How many questions that are not over a desk reads at once.
pub const MOST_PENDING: usize = 10_000;

/// Refuses a name that is empty, too long or not printable; `what` names it in the error.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), TeamStoreError> {
    let is_valid =
        (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(|it: char| it.is_control());
    let why = "it is empty, over 256 bytes or has control characters";
    if is_valid { Ok(()) } else { Err(TeamStoreError::Refused { what, why }) }
}

/// Refuses a text that is too long, or that has a zero byte, which PostgreSQL does not keep.
pub(crate) fn check_text(what: &'static str, text: &str) -> Result<(), TeamStoreError> {
    let is_valid = text.len() <= LONGEST_BODY && !text.contains('\0');
    let why = "it is over 16 MiB or has a zero byte";
    if is_valid { Ok(()) } else { Err(TeamStoreError::Refused { what, why }) }
}

/// Refuses a text that is not one JSON object of a bounded size.
pub(crate) fn check_object(what: &'static str, text: &str) -> Result<(), TeamStoreError> {
    let refuse = |why| Err(TeamStoreError::Refused { what, why });
    if text.len() > LONGEST_BODY {
        return refuse("it is over 16 MiB");
    }
    // A zero byte needs no check of its own, because JSON does not have it unescaped.
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => Ok(()),
        _ => refuse("it is not one JSON object"),
    }
}
