//! What turns changed, beside the conversations.

use callgate_store::{StoredChange, StoredTurn};

use super::{History, HistoryError, checked_id};

impl History {
    /// Adds what a turn changed to a conversation. Returns the number of the turn, or `None` if
    /// there is no such conversation.
    pub(crate) async fn add_turn_changes(
        &self,
        id: &str,
        turn: StoredTurn,
        changes: Vec<StoredChange>,
    ) -> Result<Option<u64>, HistoryError> {
        let id = checked_id(id)?;
        self.run_job(move |stores| Ok(stores.store.add_turn_changes(&id, &turn, &changes)?)).await
    }

    /// Returns the turns of a conversation that changed files, the first one first.
    pub(crate) async fn changed_turns(&self, id: &str) -> Result<Vec<StoredTurn>, HistoryError> {
        let id = checked_id(id)?;
        self.run_job(move |stores| Ok(stores.store.changed_turns(&id)?)).await
    }

    pub(crate) async fn turn_changes(&self, turn: u64) -> Result<Vec<StoredChange>, HistoryError> {
        self.run_job(move |stores| Ok(stores.store.turn_changes(turn)?)).await
    }

    pub(crate) async fn mark_undone(&self, turn: u64) -> Result<(), HistoryError> {
        self.run_job(move |stores| Ok(stores.store.mark_undone(turn)?)).await
    }
}
