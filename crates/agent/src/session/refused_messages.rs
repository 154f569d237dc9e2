//! The stored messages that a provider has refused, until they are left out.

use std::collections::HashMap;
use std::sync::Mutex;

use callgate_link::sync::lock;

use crate::failure::RequestFailure;
use crate::history::HeldConversation;

/// How many are remembered. Then all are forgotten, and the last message of a conversation counts.
const MOST: usize = 1024;

/// By conversation, the number of the stored message that the provider has named.
#[derive(Debug, Default)]
pub(super) struct RefusedMessages(Mutex<HashMap<String, u64>>);

impl RefusedMessages {
    /// Notes which message of a conversation the provider names in a refusal, and returns its number.
    pub(super) fn note_refused(
        &self,
        held: &HeldConversation,
        failure: &RequestFailure,
    ) -> Option<u64> {
        let named = named_message(&failure.text).and_then(|index| held.number_of(index));
        let mut refused = lock(&self.0);
        if refused.len() >= MOST {
            refused.clear();
        }
        match named {
            Some(number) => refused.insert(held.id().to_owned(), number),
            None => refused.remove(held.id()),
        };
        named
    }

    /// Removes and returns the number of the message that was refused in a conversation, if it was
    /// named.
    pub(super) fn take_refused(&self, conversation: &str) -> Option<u64> {
        lock(&self.0).remove(conversation)
    }
}

/// Returns the index of the message that an error of the Messages API names, such as
/// `messages.4.content.0.image`. Other APIs count other messages.
fn named_message(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("messages.")?;
    let end = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_that_a_refusal_names() {
        let check = |text: &str, expected| assert_eq!(named_message(text), expected, "{text}");
        check("messages.4.content.0.image.source: too large", Some(4));
        check("Invalid 'messages[12].content': no", None);
        check("messages: at least one", None);
        check("messages.x", None);
        check("", None);
    }
}
