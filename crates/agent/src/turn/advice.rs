//! What a person can do about an error that will come again with the same conversation.

use crate::engine::{EngineError, Trouble};
use crate::event::Failure;

const SHORTER: &str = "Send less, put a shorter message in place of the last one by `edit_last`, \
                       forget what was said by `clear_history`, or begin a new conversation";
const STUCK: &str = "What was done for this message is kept, and this conversation may not be \
                     accepted any more as it is: put another message in place of the last one by \
                     `edit_last`, have it answered anew by `regenerate`, or begin a new conversation";

/// The failure that an error is. `is_begun` tells whether something of the turn is kept.
pub(super) fn failure(error: EngineError, is_begun: bool) -> Failure {
    let advice = match (error.kind, error.status) {
        (Trouble::TooLong, _) => Some(SHORTER),
        (Trouble::Refused, Some(400 | 422)) if is_begun => Some(STUCK),
        _ => None,
    };
    let mut failure = Failure::from(error);
    if let Some(advice) = advice {
        failure.text = format!("{}. {advice}", failure.text.trim_end_matches('.'));
    }
    failure
}
