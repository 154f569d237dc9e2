//! Messages that the model does not read any more, because its provider refuses them.

use std::sync::Arc;

use callgate_store::now_ms;

use super::{ConversationChange, HeldConversation};
use crate::history::error::HistoryError;
use crate::history::history_step::HistoryStep;
use crate::history::store::HistoryStore;
use crate::history::stored_message;
use crate::message::{Block, ChatMessage, Role};

impl HeldConversation {
    /// Hides the last message, with which a turn begins, from the model. People still see it.
    pub async fn leave_out_last(&mut self) -> Result<(), HistoryError> {
        let Some(mut message) = self.take_back().await? else { return Ok(()) };
        message.content.push(Block::LeftOut);
        let begins_turn = true;
        let engine_state = self.loaded.engine_state.clone();
        let messages = vec![message];
        self.commit(HistoryStep { messages, begins_turn, engine_state, ..HistoryStep::default() })
            .await
    }

    /// Returns the number of the stored message that the model reads at `index` of
    /// [`messages`](Self::messages).
    pub(crate) fn number_of(&self, index: usize) -> Option<u64> {
        self.loaded.mender.number_of(index)
    }

    /// Hides the message with this number from the model, or else the last one of the user's or of
    /// tools' results that it still reads. People still see it. Returns its number, or `None` if
    /// there is no such message.
    pub async fn leave_out(&mut self, number: Option<u64>) -> Result<Option<u64>, HistoryError> {
        self.wait_for_change().await;
        let id = Arc::clone(&self.id);
        let find = move |stores: &mut HistoryStore| {
            let first = stores.store.conversation(&id)?.map_or(0, |known| known.summarized);
            let (below, is_named) = match number {
                Some(number) => (number.saturating_add(1), true),
                None => (u64::MAX, false),
            };
            let mut found = None;
            stores.store.each_message_before(&id, below, |number, body| {
                let read = body.and_then(stored_message::parse_message).map(|read| read.message);
                let is_read = |message: &ChatMessage| {
                    (is_named || message.role == Role::User)
                        && !message.content.iter().any(|block| matches!(block, Block::LeftOut))
                };
                // What a summary replaces is not sent, so it cannot be what the provider refuses.
                found = read.filter(is_read).map(|_| number).filter(|number| *number >= first);
                number > first && found.is_none() && !is_named
            })?;
            let Some(number) = found else { return Ok(None) };
            stores.store.mark_message(&id, number, r#"{"type":"left_out"}"#, now_ms())?;
            Ok(Some((number, ConversationChange::load_whole(stores, &id, None)?)))
        };
        let Some((number, change)) = self.history.run_job(find).await? else { return Ok(None) };
        self.apply_change(change);
        Ok(Some(number))
    }
}
