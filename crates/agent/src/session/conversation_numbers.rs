//! Numbers of messages that this process remembers, one for each conversation.

use std::collections::HashMap;
use std::sync::Mutex;

use callgate_link::sync::lock;

/// How many are remembered. Then all are forgotten: the end of a turn may be reported twice, and
/// the last message of a conversation counts as the refused one.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct ConversationNumbers(Mutex<HashMap<String, u64>>);

impl ConversationNumbers {
    pub(super) fn note(&self, conversation: &str, number: Option<u64>) {
        let mut known = lock(&self.0);
        if known.len() >= MOST {
            known.clear();
        }
        match number {
            Some(number) => known.insert(conversation.to_owned(), number),
            None => known.remove(conversation),
        };
    }

    pub(super) fn get(&self, conversation: &str) -> Option<u64> {
        lock(&self.0).get(conversation).copied()
    }

    pub(super) fn take(&self, conversation: &str) -> Option<u64> {
        lock(&self.0).remove(conversation)
    }
}
