//! Fragments: what was shown of a round before its messages are whole.

use rusqlite::params;

use super::{LONGEST_MESSAGE, key_of};
use crate::Store;
use crate::error::StoreError;
use crate::transaction::Transaction;

impl Store {
    /// Writes fragments of the messages that a conversation gets next. Returns false if there is no
    /// such conversation. When this returns, they are committed.
    pub fn add_fragments(&mut self, id: &str, fragments: &[String]) -> Result<bool, StoreError> {
        for body in fragments {
            StoreError::check_length("a fragment", body, LONGEST_MESSAGE)?;
        }
        self.write_in_transaction(|transaction| {
            let Some(key) = key_of(transaction, id)? else { return Ok(false) };
            append_to_conversation(transaction, key, fragments)?;
            Ok(true)
        })
    }

    /// Calls `each` with each fragment of a conversation, in order; with `None` for one that is not
    /// text.
    pub fn each_fragment(
        &self,
        id: &str,
        mut each: impl FnMut(Option<&str>),
    ) -> Result<(), StoreError> {
        let query = "SELECT number, body FROM fragments WHERE conversation =
                     (SELECT key FROM conversations WHERE id = ?1) ORDER BY number";
        self.each_row(query, [id], |_, body| {
            each(body);
            true
        })
    }
}

/// Writes fragments after those of the conversation with this key.
pub(super) fn append_to_conversation(
    transaction: &Transaction<'_>,
    key: i64,
    fragments: &[String],
) -> rusqlite::Result<()> {
    if fragments.is_empty() {
        return Ok(());
    }
    let mut insert = transaction.prepare_cached(
        "INSERT INTO fragments (conversation, number, body) VALUES (?1,
             (SELECT coalesce(max(number) + 1, 0) FROM fragments WHERE conversation = ?1), ?2)",
    )?;
    fragments.iter().try_for_each(|body| insert.execute(params![key, body]).map(drop))
}

pub(super) fn remove_by_conversation(
    transaction: &Transaction<'_>,
    key: i64,
) -> rusqlite::Result<()> {
    let remove = "DELETE FROM fragments WHERE conversation = ?";
    transaction.prepare_cached(remove)?.execute([key]).map(drop)
}
