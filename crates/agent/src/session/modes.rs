//! The permission modes of conversations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session::ConversationMode;

use crate::history::{History, HistoryError};
use crate::message::{Block, ChatMessage};

/// What the model reads when the mode becomes `plan`. It is a part of the user's message: another
/// system prompt would make the provider read the whole conversation again instead of its cache.
const PLAN: &str = "[You are in plan mode. Nothing may be changed: only tools that read and search \
    will run. Find out what you need to know, then answer with a plan of what you would do, step \
    by step, and let the user decide.]";
/// What the model reads when the mode is no longer `plan`.
const PLAN_IS_OVER: &str = "[Plan mode is over: tools that change something may be used again.]";

/// The modes of the conversations that were used so far.
#[derive(Debug, Default)]
pub(super) struct ConversationModes(Mutex<HashMap<String, ConversationMode>>);

impl ConversationModes {
    /// Returns the mode of a conversation that was [loaded](Self::load), else the default.
    pub(super) fn of(&self, conversation: &str) -> ConversationMode {
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

    /// Sets the mode of a conversation, which the history keeps.
    pub(super) async fn set(
        &self,
        history: &History,
        conversation: &str,
        mode: ConversationMode,
    ) -> Result<(), HistoryError> {
        history.choose_mode(conversation, mode).await?;
        lock(&self.0).insert(conversation.to_owned(), mode);
        Ok(())
    }

    /// Forgets a conversation that was deleted.
    pub(super) fn forget(&self, conversation: &str) {
        lock(&self.0).remove(conversation);
    }

    /// Adds what the model has to know about the mode to a message of the user's, unless the
    /// messages before it say so.
    pub(super) fn tell(
        &self,
        conversation: &str,
        past: &[Arc<ChatMessage>],
        user: &mut ChatMessage,
    ) {
        user.content.retain(|block| !is_mode_note(block));
        user.content.extend(self.note(conversation, past));
    }

    /// Adds it to the last message, if the mode has changed since that was stored or what the model
    /// was told is summarised.
    pub(super) fn tell_last(&self, conversation: &str, messages: &mut [Arc<ChatMessage>]) {
        if let Some(note) = self.note(conversation, messages)
            && let Some(last) = messages.last_mut()
        {
            Arc::make_mut(last).content.push(note);
        }
    }

    fn note(&self, conversation: &str, told: &[Arc<ChatMessage>]) -> Option<Block> {
        let blocks = told.iter().rev().flat_map(|message| message.content.iter().rev());
        let is_told = blocks.clone().find(|block| is_mode_note(block)).is_some_and(is_plan);
        match (self.of(conversation), is_told) {
            (ConversationMode::Plan, false) => Some(Block::text(PLAN)),
            (ConversationMode::Ask | ConversationMode::Auto, true) => {
                Some(Block::text(PLAN_IS_OVER))
            }
            _ => None,
        }
    }
}

fn is_plan(block: &Block) -> bool {
    matches!(block, Block::Text { text } if text == PLAN)
}

/// Returns true if a part of a message is the text about the mode, which is for the model.
pub(super) fn is_mode_note(block: &Block) -> bool {
    is_plan(block) || matches!(block, Block::Text { text } if text == PLAN_IS_OVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(texts: &[&str]) -> Arc<ChatMessage> {
        Arc::new(ChatMessage::user(texts.iter().map(|text| Block::text(*text)).collect()))
    }

    #[test]
    fn each_change_of_the_mode_is_told_once() {
        let modes = ConversationModes::default();
        let set = |mode| {
            lock(&modes.0).insert("c".to_owned(), mode);
        };
        let told = |past: &[Arc<ChatMessage>]| {
            let mut user = ChatMessage::user(vec![Block::text("Go"), Block::text(PLAN)]);
            modes.tell("c", past, &mut user);
            user.content[1..].iter().map(is_plan).collect::<Vec<_>>()
        };
        let (nothing, plan) = ([message(&["a"])], [message(&["a", PLAN]), message(&["b"])]);
        let over = [message(&[PLAN]), message(&[PLAN_IS_OVER]), message(&["c"])];
        assert_eq!([&nothing[..], &plan, &over].map(told), [vec![], vec![false], vec![]]);
        set(ConversationMode::Plan);
        assert_eq!([&nothing[..], &plan, &over].map(told), [vec![true], vec![], vec![true]]);
        set(ConversationMode::Auto);
        assert_eq!([&nothing[..], &plan, &over].map(told), [vec![], vec![false], vec![]]);
        let mut all = plan.to_vec();
        modes.tell_last("c", &mut all);
        assert!(is_mode_note(all[1].content.last().unwrap()) && plan[1].content.len() == 1);
    }
}
