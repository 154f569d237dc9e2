//! The permission modes of conversations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session::ConversationMode;

use crate::history::{History, HistoryError};
use crate::message::message_list::MessageList;
use crate::message::mode_note::ModeNote;
use crate::message::{Block, ChatMessage};

#[derive(Debug, Default)]
pub(super) struct ConversationModes(Mutex<HashMap<String, ConversationMode>>);

impl ConversationModes {
    /// Returns the mode of a conversation that was [loaded](Self::load), else the default.
    pub(super) fn mode_of(&self, conversation: &str) -> ConversationMode {
        lock(&self.0).get(conversation).copied().unwrap_or_default()
    }

    /// Returns the mode of a conversation, which is read from the history the first time.
    pub(super) async fn load(
        &self,
        history: &History,
        conversation: &str,
    ) -> Result<ConversationMode, HistoryError> {
        let known = lock(&self.0).get(conversation).copied();
        if let Some(mode) = known {
            return Ok(mode);
        }
        let mode = history.mode(conversation).await?.unwrap_or_default();
        // It may have been set meanwhile.
        Ok(*lock(&self.0).entry(conversation.to_owned()).or_insert(mode))
    }

    pub(super) async fn set(
        &self,
        history: &History,
        conversation: &str,
        mode: ConversationMode,
    ) -> Result<(), HistoryError> {
        // The file first: a mode that could not be stored is not set.
        history.choose_mode(conversation, mode).await?;
        lock(&self.0).insert(conversation.to_owned(), mode);
        Ok(())
    }

    pub(super) fn forget(&self, conversation: &str) {
        lock(&self.0).remove(conversation);
    }

    /// Adds what the model has to know about the mode to a message of the user's, unless it was
    /// `told` before.
    pub(super) fn tell_mode(
        &self,
        conversation: &str,
        told: Option<ModeNote>,
        user: &mut ChatMessage,
    ) {
        // A message that is answered again may have a note of that time.
        user.content.retain(|block| ModeNote::from_block(block).is_none());
        user.content.extend(self.note_to_tell(conversation, told));
    }

    /// Adds the note to the last message if the mode has changed since that message was stored, or
    /// if the note that the model read is in the summarised part.
    pub(super) fn tell_last(
        &self,
        conversation: &str,
        told: Option<ModeNote>,
        messages: &mut MessageList,
    ) {
        if let Some(note) = self.note_to_tell(conversation, told)
            && let Some(last) = messages.last_mut()
        {
            Arc::make_mut(last).content.push(note);
        }
    }

    fn note_to_tell(&self, conversation: &str, told: Option<ModeNote>) -> Option<Block> {
        match (self.mode_of(conversation), told) {
            (ConversationMode::Plan, Some(ModeNote::Plan)) => None,
            (ConversationMode::Plan, _) => Some(ModeNote::Plan.into_block()),
            (ConversationMode::Ask | ConversationMode::Auto, Some(ModeNote::Plan)) => {
                Some(ModeNote::PlanIsOver.into_block())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_of_the_mode_is_told_once() {
        let modes = ConversationModes::default();
        let set = |mode| {
            lock(&modes.0).insert("c".to_owned(), mode);
        };
        let told = |past| {
            let mut user = ChatMessage::user(vec![Block::text("Go"), ModeNote::Plan.into_block()]);
            modes.tell_mode("c", past, &mut user);
            user.content[1..].iter().map(ModeNote::from_block).collect::<Vec<_>>()
        };
        let (plan, over) = (Some(ModeNote::Plan), Some(ModeNote::PlanIsOver));
        assert_eq!([None, plan, over].map(told), [vec![], vec![over], vec![]]);
        set(ConversationMode::Plan);
        assert_eq!([None, plan, over].map(told), [vec![plan], vec![], vec![plan]]);
        set(ConversationMode::Auto);
        assert_eq!([None, plan, over].map(told), [vec![], vec![over], vec![]]);
        let stored = Arc::new(ChatMessage::user(vec![Block::text("b")]));
        let mut all = MessageList::from(vec![Arc::clone(&stored)]);
        modes.tell_last("c", plan, &mut all);
        assert_eq!((all[0].mode_note(), stored.mode_note()), (over, None));
    }
}
