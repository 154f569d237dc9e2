//! Reading conversations and their messages.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};

use crate::Store;
use crate::error::StoreError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredConversation {
    pub id: String,
    /// The title that a person gave it, or how it began.
    pub title: Option<String>,
    /// How many messages it has.
    pub length: u64,
    /// When it was created, in milliseconds since 1970.
    pub made_ms: i64,
    /// When it was last written to; `None` if it never was.
    pub used_ms: Option<i64>,
    /// A summary, as JSON, that replaces all messages below the number `summarized`.
    pub summary: Option<String>,
    /// The number of the first message that the summary does not replace.
    pub summarized: u64,
    /// Messages below this number are older than the summary.
    pub aged: u64,
    pub engine: Option<EngineSelection>,
    pub mode: Option<String>,
    /// What the engine has to remember of it.
    pub engine_state: Option<String>,
    /// The folder in which it began; `None` if that is not known.
    pub folder: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSelection {
    pub engine: String,
    /// The model, as its provider names it; `None` leaves it to the engine.
    pub model: Option<String>,
}

const COLUMNS: &str = "id, coalesce(title, opening),
    (SELECT coalesce(max(number) + 1, 0) FROM messages WHERE conversation = conversations.key),
    made_ms, used_ms, summary, summarized, aged, engine, model, mode, engine_state, folder";

/// The version of a conversation, which differs after every change of its messages, its summary or
/// its engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationState {
    key: i64,
    used_ms: Option<i64>,
    length: i64,
    summarized: i64,
    aged: i64,
    engine: Option<EngineSelection>,
    has_fragments: bool,
}

impl ConversationState {
    /// Returns true if something was shown of a round that is not finished.
    pub fn has_fragments(&self) -> bool {
        self.has_fragments
    }
}

impl Store {
    /// Returns the version of a conversation. Does not wait: returns an error while another process
    /// has locked the file. It is asked for on threads that serve others, where nothing may wait.
    pub fn conversation_state(&self, id: &str) -> Result<Option<ConversationState>, StoreError> {
        self.without_waiting(|connection| find_state(connection, id))
            .map_err(self.explain_failure("read"))
    }

    pub fn conversation(&self, id: &str) -> Result<Option<StoredConversation>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM conversations WHERE id = ?");
        self.read_row(&query, [id], conversation_from_row)
    }

    /// Returns the `limit` conversations that were used last before `before_ms`, the latest first,
    /// without their summaries. With `folder`, only those that began there.
    pub fn recent_conversations(
        &self,
        limit: usize,
        before_ms: Option<i64>,
        folder: Option<&str>,
    ) -> Result<Vec<StoredConversation>, StoreError> {
        // A summary may have megabytes, which a list would read for each row and not show.
        let columns = COLUMNS.replace("summary, ", "NULL, ");
        let query = format!(
            "SELECT {columns} FROM conversations WHERE used_ms IS NOT NULL AND used_ms < ?1
             AND (?3 IS NULL OR folder = ?3) ORDER BY used_ms DESC, key DESC LIMIT ?2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let before_ms = before_ms.unwrap_or(i64::MAX);
        self.read_rows(&query, params![before_ms, limit, folder], conversation_from_row)
    }

    pub fn count_conversations(&self) -> Result<u64, StoreError> {
        let count = self.read_row("SELECT count(*) FROM conversations", [], |row| row.get(0))?;
        Ok(count.map_or(0, i64::unsigned_abs))
    }

    pub fn each_conversation(&self, mut each: impl FnMut(&str)) -> Result<(), StoreError> {
        let mut read = || {
            let mut query = self.connection.prepare("SELECT id FROM conversations")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                each(row.get_ref(0)?.as_str()?);
            }
            Ok(())
        };
        read().map_err(self.explain_failure("read"))
    }

    /// Returns the id of the conversation that was used last; with `folder`, of those that began
    /// there.
    pub fn last_conversation(&self, folder: Option<&str>) -> Result<Option<String>, StoreError> {
        let query = "SELECT id FROM conversations WHERE used_ms IS NOT NULL
                     AND (?1 IS NULL OR folder = ?1) ORDER BY used_ms DESC, key DESC LIMIT 1";
        self.read_row(query, [folder], |row| row.get(0))
    }

    /// Calls `each` with each message from the number `from` on, in order; with `None` for a
    /// message that is not text.
    pub fn each_message(
        &self,
        id: &str,
        from: u64,
        mut each: impl FnMut(u64, Option<&str>),
    ) -> Result<(), StoreError> {
        let query = "SELECT number, body FROM messages WHERE number >= ?2 AND conversation =
                     (SELECT key FROM conversations WHERE id = ?1) ORDER BY number";
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        self.each_row(query, params![id, from], |number, body| {
            each(number, body);
            true
        })
    }

    /// Calls `each` with the messages below the number `before`, the last first, until it returns
    /// false.
    pub fn each_message_before(
        &self,
        id: &str,
        before: u64,
        each: impl FnMut(u64, Option<&str>) -> bool,
    ) -> Result<(), StoreError> {
        let query = "SELECT number, body FROM messages WHERE number < ?2 AND conversation =
                     (SELECT key FROM conversations WHERE id = ?1) ORDER BY number DESC";
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        self.each_row(query, params![id, before], each)
    }

    /// Returns the number of the message with which the last turn begins, unless a summary replaces
    /// it.
    pub fn last_turn(&self, id: &str) -> Result<Option<u64>, StoreError> {
        let query = "SELECT number FROM messages m JOIN conversations c ON m.conversation = c.key
                     WHERE c.id = ? AND m.begins AND m.number >= c.summarized
                     ORDER BY m.number DESC LIMIT 1";
        Ok(self.read_row(query, [id], |row| row.get(0))?.map(i64::unsigned_abs))
    }

    pub(super) fn each_row(
        &self,
        query: &str,
        values: impl Params,
        mut each: impl FnMut(u64, Option<&str>) -> bool,
    ) -> Result<(), StoreError> {
        let read = |mut query: CachedStatement<'_>| {
            let mut rows = query.query(values)?;
            while let Some(row) = rows.next()? {
                // One damaged message must not make the rest of its conversation unreadable.
                let body = row.get_ref(1)?.as_str_or_null().ok().flatten();
                if !each(row.get::<_, i64>(0)?.unsigned_abs(), body) {
                    break;
                }
            }
            Ok(())
        };
        self.connection.prepare_cached(query).and_then(read).map_err(self.explain_failure("read"))
    }
}

fn conversation_from_row(row: &Row<'_>) -> rusqlite::Result<StoredConversation> {
    Ok(StoredConversation {
        id: row.get(0)?,
        title: row.get(1)?,
        length: row.get::<_, i64>(2)?.unsigned_abs(),
        made_ms: row.get(3)?,
        used_ms: row.get(4)?,
        summary: row.get(5)?,
        summarized: row.get::<_, i64>(6)?.unsigned_abs(),
        aged: row.get::<_, i64>(7)?.unsigned_abs(),
        engine: engine_from_row(row, 8)?,
        mode: row.get(10)?,
        engine_state: row.get(11)?,
        folder: row.get(12)?,
    })
}

/// Returns the version of a conversation.
pub(super) fn find_state(
    connection: &Connection,
    id: &str,
) -> rusqlite::Result<Option<ConversationState>> {
    let query = "SELECT key, used_ms, summarized, aged, (SELECT coalesce(max(number) + 1, 0)
        FROM messages WHERE conversation = conversations.key), engine, model,
        EXISTS (SELECT 1 FROM fragments WHERE conversation = conversations.key)
        FROM conversations WHERE id = ?";
    let state = |row: &Row<'_>| {
        Ok(ConversationState {
            key: row.get(0)?,
            used_ms: row.get(1)?,
            summarized: row.get(2)?,
            aged: row.get(3)?,
            length: row.get(4)?,
            engine: engine_from_row(row, 5)?,
            has_fragments: row.get(7)?,
        })
    };
    connection.prepare_cached(query)?.query_row([id], state).optional()
}

/// Reads the engine from this column and the model from the next.
fn engine_from_row(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<EngineSelection>> {
    let (engine, model): (Option<String>, _) = (row.get(at)?, row.get(at + 1)?);
    Ok(engine.map(|engine| EngineSelection { engine, model }))
}
