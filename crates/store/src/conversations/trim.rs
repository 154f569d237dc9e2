//! Cutting conversations between two turns, in place or into a copy.

use rusqlite::{OptionalExtension, params};

use super::{check_id, key_of, next_number};
use crate::Store;
use crate::error::StoreError;
use crate::ledger::sql_number;
use crate::transaction::Transaction;

impl Store {
    /// Removes the messages of a conversation from the number `length` on, and the summary if it
    /// replaces one of them. Returns false if there is no such conversation, or if no turn begins
    /// there.
    pub fn rewind_conversation(
        &mut self,
        id: &str,
        length: u64,
        at_ms: i64,
    ) -> Result<bool, StoreError> {
        let is_changed = self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(false) };
            let length = sql_number(length)?;
            if !is_between_turns(transaction, key, length)? {
                return Ok(false);
            }
            transaction.execute(
                "DELETE FROM messages WHERE conversation = ? AND number >= ?",
                [key, length],
            )?;
            transaction.execute(
                // Another time of use shows other processes that it has changed. What the engine
                // remembers is about messages that are gone.
                "UPDATE conversations SET
                     used_ms = max(coalesce(used_ms, 0) + 1, ?3),
                     opening = iif(?2 = 0, NULL, opening), engine_state = NULL,
                     summary = iif(summarized <= ?2, summary, NULL),
                     aged = iif(summarized <= ?2, min(aged, ?2), 0),
                     summarized = iif(summarized <= ?2, summarized, 0)
                 WHERE key = ?1",
                [key, length, at_ms],
            )?;
            Ok(true)
        })?;
        self.give_back_space();
        Ok(is_changed)
    }

    /// Copies the messages of a conversation below the number `length` to the new conversation
    /// `to`, with the summary if it replaces only some of them. Returns false if there is no such
    /// conversation, if no turn begins there, or if `to` exists already.
    pub fn fork_conversation(
        &mut self,
        id: &str,
        to: &str,
        length: u64,
        title: Option<&str>,
        at_ms: i64,
    ) -> Result<bool, StoreError> {
        check_id(to)?;
        StoreError::check_length("a title", title.unwrap_or_default(), super::LONGEST_TITLE)?;
        self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(false) };
            let length = sql_number(length)?;
            if !is_between_turns(transaction, key, length)? {
                return Ok(false);
            }
            // The copy is used later than all others, so it becomes the last conversation. What the
            // engine remembers is not copied: it is about the whole original.
            let copy: Option<i64> = transaction
                .query_row(
                    "INSERT INTO conversations
                         (id, title, opening, made_ms, used_ms, summary, summarized, aged,
                          engine, model, mode, folder)
                     SELECT ?2, coalesce(?4, title), iif(?3 = 0, NULL, opening), ?5,
                         max((SELECT max(used_ms) FROM conversations) + 1, ?5),
                         iif(summarized <= ?3, summary, NULL),
                         iif(summarized <= ?3, summarized, 0),
                         iif(summarized <= ?3, min(aged, ?3), 0), engine, model, mode, folder
                     FROM conversations WHERE key = ?1
                     ON CONFLICT (id) DO NOTHING
                     RETURNING key",
                    params![key, to, length, title, at_ms],
                    |row| row.get(0),
                )
                .optional()?;
            let Some(copy) = copy else { return Ok(false) };
            transaction.execute(
                "INSERT INTO messages (conversation, number, begins, at_ms, body)
                 SELECT ?2, number, begins, at_ms, body FROM messages
                 WHERE conversation = ?1 AND number < ?3",
                [key, copy, length],
            )?;
            Ok(true)
        })
    }
}

/// Returns true if a conversation with this key can be cut before the message with this number: a
/// turn begins there, or the conversation ends. A cut within a turn could leave a tool call without
/// its result, which the API refuses.
fn is_between_turns(
    transaction: &Transaction<'_>,
    key: i64,
    length: i64,
) -> rusqlite::Result<bool> {
    if length == next_number(transaction, key)? {
        return Ok(true);
    }
    let begins = "SELECT begins FROM messages WHERE conversation = ? AND number = ?";
    let begins: Option<bool> =
        transaction.query_row(begins, [key, length], |row| row.get(0)).optional()?;
    Ok(begins.unwrap_or(false))
}
