//! Conversations: their messages, written in atomic steps, and their costs.

mod fragments;
mod read;
mod reserve;
mod spend;
mod trim;
mod turn_changes;

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;
use crate::ledger::{self, check_drafts, sql_number};
use crate::transaction::Transaction;
use crate::{EntryDraft, Store};

pub use read::{ConversationState, EngineSelection, StoredConversation};
pub use reserve::{ReservationRequest, Settlement};
pub use spend::{AnswerCost, CostSum, CostTotals};
pub use turn_changes::{StoredChange, StoredTurn};

/// The longest id of a conversation, in bytes.
pub const LONGEST_CONVERSATION: usize = 128;
/// The longest name of an account, in bytes: a conversation's id, or the path of the file that
/// holds the conversation and its id.
pub const LONGEST_ACCOUNT: usize = 8192;
/// The longest title, in bytes.
pub const LONGEST_TITLE: usize = 1024;
/// The longest message, in bytes: twice what a provider accepts in a whole request.
pub const LONGEST_MESSAGE: usize = 64 * 1024 * 1024;

/// The longest name of an engine or a model, in bytes.
pub const LONGEST_ENGINE: usize = 256;
/// The longest path of a conversation's folder, in bytes.
pub const LONGEST_FOLDER: usize = 4096;

/// A conversation that is created and never used is deleted after this time.
const ABANDONED_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// The message as JSON. The store does not look into it.
    pub body: String,
    pub begins: bool,
}

/// What is written to a conversation in one transaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Addition<'a> {
    /// The conversation's id. The conversation need not exist yet.
    pub conversation: &'a str,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Messages from this number on are removed first, except those that a summary replaces.
    pub instead_of: Option<u64>,
    /// What was said. It takes the place of all fragments.
    pub messages: &'a [NewMessage],
    /// Fragments of the messages that follow.
    pub fragments: &'a [String],
    /// How the conversation began; ignored if that is already known.
    pub opening: Option<&'a str>,
    pub spending: Option<&'a AnswerCost>,
    pub reservation: Option<i64>,
    pub drafts: &'a [EntryDraft],
    /// What the engine has to remember of the conversation. `None` discards what it had to remember
    /// before.
    pub engine_state: Option<&'a str>,
    /// The folder in which this is said. A conversation belongs to the first.
    pub folder: Option<&'a str>,
}

impl Store {
    /// Writes to a conversation. Returns how many messages it has then. When this returns,
    /// everything is committed; on an error, nothing is.
    pub fn add_to_conversation(&mut self, addition: &Addition<'_>) -> Result<u64, StoreError> {
        self.add_and_look(addition).map(|(length, _)| length)
    }

    /// Like [`add_to_conversation`](Self::add_to_conversation), and returns the version that the
    /// conversation has then.
    pub fn add_and_look(
        &mut self,
        addition: &Addition<'_>,
    ) -> Result<(u64, Option<ConversationState>), StoreError> {
        check_id(addition.conversation)?;
        check_drafts(addition.drafts)?;
        for body in addition.messages.iter().map(|said| &said.body).chain(addition.fragments) {
            StoreError::check_length("a message", body, LONGEST_MESSAGE)?;
        }
        StoreError::check_length("a title", addition.opening.unwrap_or_default(), LONGEST_TITLE)?;
        StoreError::check_length("a folder", addition.folder.unwrap_or_default(), LONGEST_FOLDER)?;
        self.write_in_transaction(|transaction| {
            let length = write_addition(transaction, addition)?;
            ledger::write_entries(transaction, addition.drafts)?;
            // Read in this transaction, so that what another process writes next is noticed as a
            // change.
            Ok((length, read::find_state(transaction, addition.conversation)?))
        })
    }

    /// Creates an empty conversation, or sets the title of one that is still empty. Returns false
    /// if it already has messages.
    pub fn make_conversation(
        &mut self,
        id: &str,
        title: Option<&str>,
        at_ms: i64,
    ) -> Result<bool, StoreError> {
        check_id(id)?;
        StoreError::check_length("a title", title.unwrap_or_default(), LONGEST_TITLE)?;
        self.write_in_transaction(|transaction| {
            transaction.execute(
                "DELETE FROM conversations WHERE used_ms IS NULL AND made_ms < ?",
                [at_ms.saturating_sub(ABANDONED_MS)],
            )?;
            let made = transaction.execute(
                "INSERT INTO conversations (id, title, made_ms) VALUES (?, ?, ?)
                 ON CONFLICT (id) DO UPDATE SET title = coalesce(excluded.title, title)
                 WHERE used_ms IS NULL",
                params![id, title, at_ms],
            )?;
            Ok(made > 0)
        })
    }

    /// Sets the title of a conversation. Returns false if there is no such conversation.
    pub fn name_conversation(&mut self, id: &str, title: &str) -> Result<bool, StoreError> {
        StoreError::check_length("a title", title, LONGEST_TITLE)?;
        let name = "UPDATE conversations SET title = ?2 WHERE id = ?1";
        self.write_in_transaction(|transaction| Ok(transaction.execute(name, [id, title])? > 0))
    }

    /// Sets the engine of a conversation, which is created if it does not exist.
    pub fn choose_engine(
        &mut self,
        id: &str,
        chosen: &EngineSelection,
        at_ms: i64,
    ) -> Result<(), StoreError> {
        check_id(id)?;
        let EngineSelection { engine, model } = chosen;
        StoreError::check_length("an engine's name", engine, LONGEST_ENGINE)?;
        let name = model.as_deref().unwrap_or_default();
        StoreError::check_length("a model's name", name, LONGEST_ENGINE)?;
        let choose = "INSERT INTO conversations (id, made_ms, engine, model) VALUES (?, ?, ?, ?)
                      ON CONFLICT (id) DO UPDATE SET engine = excluded.engine,
                      model = excluded.model";
        self.write_in_transaction(|transaction| {
            transaction.execute(choose, params![id, at_ms, engine, model]).map(drop)
        })
    }

    /// Sets the mode of a conversation, which is created if it does not exist.
    pub fn choose_mode(&mut self, id: &str, mode: &str, at_ms: i64) -> Result<(), StoreError> {
        check_id(id)?;
        StoreError::check_length("a mode's name", mode, LONGEST_ENGINE)?;
        let choose = "INSERT INTO conversations (id, made_ms, mode) VALUES (?, ?, ?)
                      ON CONFLICT (id) DO UPDATE SET mode = excluded.mode";
        self.write_in_transaction(|transaction| {
            transaction.execute(choose, params![id, at_ms, mode]).map(drop)
        })
    }

    /// Replaces all messages below the number `upto` by a summary; the messages themselves stay
    /// stored. Returns false if there is no such conversation, or if it has fewer messages.
    pub fn summarize_conversation(
        &mut self,
        id: &str,
        upto: u64,
        summary: &str,
    ) -> Result<bool, StoreError> {
        StoreError::check_length("a summary", summary, LONGEST_MESSAGE)?;
        self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(false) };
            let length = next_number(transaction, key)?;
            // All messages so far are older than the summary, also those that it does not replace.
            // Their thoughts are not sent again: a model may refuse them without what they are
            // about.
            let changed = transaction.execute(
                "UPDATE conversations SET summary = ?2, summarized = ?3, aged = ?4
                 WHERE key = ?1 AND ?3 <= ?4 AND ?3 >= summarized",
                params![key, summary, sql_number(upto)?, length],
            )?;
            Ok(changed > 0)
        })
    }

    /// Adds a block to the content of a stored message, which is a JSON object with a list of
    /// blocks in `content`. Returns false if there is no such message.
    pub fn mark_message(
        &mut self,
        id: &str,
        message: u64,
        block: &str,
        at_ms: i64,
    ) -> Result<bool, StoreError> {
        self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(false) };
            let changed = transaction.execute(
                "UPDATE messages SET body = json_insert(body, '$.content[#]', json(?3))
                 WHERE conversation = ?1 AND number = ?2",
                params![key, sql_number(message)?, block],
            )?;
            // Whoever has read the conversation before reads it again.
            let touch = "UPDATE conversations SET used_ms = max(coalesce(used_ms, 0) + 1, ?2)
                         WHERE key = ?1";
            transaction.execute(touch, [key, at_ms])?;
            Ok(changed > 0)
        })
    }

    /// Removes all messages of a conversation; its title and its costs stay.
    pub fn clear_conversation(&mut self, id: &str) -> Result<(), StoreError> {
        self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(()) };
            transaction.execute("DELETE FROM messages WHERE conversation = ?", [key])?;
            fragments::remove_by_conversation(transaction, key)?;
            turn_changes::remove_by_conversation(transaction, key)?;
            let forget = "UPDATE conversations SET opening = NULL, summary = NULL, summarized = 0,
                          aged = 0, engine_state = NULL WHERE key = ?";
            transaction.execute(forget, [key]).map(drop)
        })?;
        self.give_back_space();
        Ok(())
    }

    /// Deletes a conversation. Returns false if there is none. Its costs still count for their day.
    pub fn delete_conversation(&mut self, id: &str) -> Result<bool, StoreError> {
        let deleted = self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(false) };
            turn_changes::remove_by_conversation(transaction, key)?;
            transaction
                .execute("UPDATE spendings SET elsewhere = NULL WHERE elsewhere = ?", [id])?;
            for statement in [
                // SQLite may give the key of a deleted row to a new conversation, which would
                // inherit the costs, messages and fragments that still name it.
                "UPDATE spendings SET conversation = NULL WHERE conversation = ?",
                "DELETE FROM messages WHERE conversation = ?",
                "DELETE FROM fragments WHERE conversation = ?",
                "DELETE FROM conversations WHERE key = ?",
            ] {
                transaction.execute(statement, [key])?;
            }
            Ok(true)
        })?;
        self.give_back_space();
        Ok(deleted)
    }
}

fn write_addition(transaction: &Transaction<'_>, addition: &Addition<'_>) -> rusqlite::Result<u64> {
    let Addition { conversation, at_ms, messages, opening, .. } = addition;
    // These times order conversations by use, also within a millisecond and when the clock is set
    // back a little. A time that is far ahead is not followed, because one wrong clock would count
    // for ever. The folder of a conversation that was only created is that of its first message.
    let key: i64 = transaction
        .prepare_cached(
            "INSERT INTO conversations (id, opening, made_ms, used_ms, engine_state, folder)
             SELECT ?1, ?2, ?3, iif(newest BETWEEN ?3 AND ?3 + 60000, newest + 1, ?3), ?4, ?5
             FROM (SELECT max(used_ms) AS newest FROM conversations) WHERE true
             ON CONFLICT (id) DO UPDATE SET used_ms = excluded.used_ms,
                 opening = coalesce(opening, excluded.opening),
                 folder = iif(used_ms IS NULL, excluded.folder, folder),
                 engine_state = excluded.engine_state
             RETURNING key",
        )?
        .query_row(
            params![conversation, opening, at_ms, addition.engine_state, addition.folder],
            |row| row.get(0),
        )?;
    if let Some(from) = addition.instead_of {
        remove_from(transaction, key, sql_number(from)?)?;
    }
    let mut next = next_number(transaction, key)?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO messages (conversation, number, begins, at_ms, body) VALUES (?, ?, ?, ?, ?)",
    )?;
    for said in *messages {
        insert.execute(params![key, next, said.begins, at_ms, said.body])?;
        next += 1;
    }
    // A step without messages leaves the fragments alone: what was shown is nowhere else yet.
    if !messages.is_empty() {
        fragments::remove_by_conversation(transaction, key)?;
    }
    fragments::append_to_conversation(transaction, key, addition.fragments)?;
    // Together with the cost, so that a kill leaves exactly one of them: with both, the answer
    // would count twice, and with neither, the budget could be exceeded.
    reserve::remove_reservation(transaction, addition.reservation)?;
    if let Some(spending) = addition.spending {
        spend::write_spending(transaction, Some(key), None, *at_ms, spending)?;
    }
    Ok(next.unsigned_abs())
}

fn remove_from(transaction: &Transaction<'_>, key: i64, from: i64) -> rusqlite::Result<()> {
    // The messages that take the place of these are newer than the summary.
    for statement in [
        "DELETE FROM messages WHERE conversation = ?1 AND number >= max(?2,
             (SELECT summarized FROM conversations WHERE key = ?1))",
        "UPDATE conversations SET aged = min(aged, max(?2, summarized)) WHERE key = ?1",
    ] {
        transaction.prepare_cached(statement)?.execute([key, from])?;
    }
    Ok(())
}

/// Returns the number of the next message, which is also the number of messages.
fn next_number(connection: &Connection, key: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT coalesce(max(number) + 1, 0) FROM messages WHERE conversation = ?")?
        .query_row([key], |row| row.get(0))
}

fn key_of(connection: &Connection, id: &str) -> rusqlite::Result<Option<i64>> {
    let mut query = connection.prepare_cached("SELECT key FROM conversations WHERE id = ?")?;
    query.query_row([id], |row| row.get(0)).optional()
}

fn check_id(id: &str) -> Result<(), StoreError> {
    StoreError::check_length("a conversation's id", id, LONGEST_CONVERSATION)
}

fn check_account(account: &str) -> Result<(), StoreError> {
    StoreError::check_length("the name of a conversation's costs", account, LONGEST_ACCOUNT)
}
