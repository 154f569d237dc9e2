//! Pages of stored conversations.

use callgate_store::StoredConversation;

use super::error::HistoryError;
use super::store::HistoryStore;
use super::{LARGEST_PAGE, MOST_ON_PAGE, stored_message};
use crate::message::{Block, ChatMessage, StoredToolResult};

#[derive(Debug, Clone)]
pub struct HistoryPage {
    pub title: Option<String>,
    /// The number of the first message. The first message of a conversation has the number 0.
    pub first: u64,
    pub length: u64,
    /// Whether it ends with a turn that has no whole answer, and nobody works on it.
    pub is_unfinished: bool,
    pub messages: Vec<ChatMessage>,
    /// For each of them, the stored results that its tools gave the front end.
    pub results: Vec<Vec<StoredToolResult>>,
}

/// Reads the last messages of a conversation before the number `before`.
pub(super) fn read_messages(
    stores: &HistoryStore,
    id: &str,
    limit: usize,
    before: Option<u64>,
) -> Result<HistoryPage, HistoryError> {
    let unknown = || HistoryError::Unknown(id.to_owned());
    let known = stores.store.conversation(id)?.ok_or_else(unknown)?;
    let before = before.map_or(known.length, |before| before.min(known.length));
    let (limit, mut bytes) = (limit.min(MOST_ON_PAGE), 0);
    let unreadable =
        || ChatMessage::user(vec![Block::text("[this message cannot be read any more]")]);
    let (mut first, mut messages, mut results) = (before, Vec::new(), Vec::new());
    let each = |number, body: Option<&str>| {
        // Before the check, so that the message that would go over the limit is left to the next
        // page.
        bytes += body.map_or(0, str::len);
        if messages.len() >= limit || (bytes > LARGEST_PAGE && !messages.is_empty()) {
            return false;
        }
        first = number;
        messages.push(
            body.and_then(stored_message::parse_message)
                .map_or_else(unreadable, |read| read.message),
        );
        results.push(body.map(stored_message::parse_results).unwrap_or_default());
        true
    };
    stores.store.each_message_before(id, before, each)?;
    messages.reverse();
    results.reverse();
    let StoredConversation { title, length, .. } = known;
    let ends_open = messages.last().is_some_and(ChatMessage::is_unfinished);
    // Nobody works on it if the lock, which is released at once, can be taken.
    let is_unfinished = ends_open && before == length && stores.locks.take_lock(id)?.is_some();
    Ok(HistoryPage { title, first, length, is_unfinished, messages, results })
}
