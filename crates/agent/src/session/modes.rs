//! The permission modes of conversations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session::ConversationMode;

use crate::history::{History, HistoryError};

/// What the model reads after the system prompt in the mode `plan`.
const PLAN: &str = "\n\nYou are in plan mode. Nothing may be changed: only tools that read and \
    search will run. Find out what you need to know, then answer with a plan of what you would \
    do, step by step, and let the user decide.";

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

    /// Returns the system prompt for the mode of a conversation.
    pub(super) fn system(&self, conversation: &str, system: &Arc<str>) -> Arc<str> {
        match self.of(conversation) {
            ConversationMode::Plan => format!("{system}{PLAN}").into(),
            ConversationMode::Ask | ConversationMode::Auto => Arc::clone(system),
        }
    }
}
