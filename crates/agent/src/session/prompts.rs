//! The system prompts of conversations: the runtime's own, and the project's instructions.
//!
//! The instructions are read when a conversation is first used, and stay the same for it as long as
//! the session lives: a prompt that changes could not be cached by the provider.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session::InstructionFile;

use super::SessionOptions;

#[derive(Debug, Default)]
pub(super) struct ConversationPrompts(Mutex<HashMap<String, Arc<SystemPrompt>>>);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct SystemPrompt {
    pub(super) text: Arc<str>,
    /// The files of the project that are part of it.
    pub(super) files: Vec<InstructionFile>,
}

impl ConversationPrompts {
    /// Returns the prompt of a conversation, which is made the first time.
    pub(super) async fn load(
        &self,
        options: &SessionOptions,
        conversation: &str,
    ) -> Arc<SystemPrompt> {
        if let Some(known) = lock(&self.0).get(conversation) {
            return Arc::clone(known);
        }
        let instructions = options.instructions.clone();
        let read = tokio::task::spawn_blocking(move || {
            instructions.map(|instructions| instructions.read()).unwrap_or_default()
        });
        // A panic while reading leaves the conversation without instructions.
        let read = read.await.unwrap_or_default();
        let text = match &*read.text {
            "" => Arc::clone(&options.system),
            text => format!("{}\n\n{text}", options.system).into(),
        };
        let prompt = Arc::new(SystemPrompt { text, files: read.files });
        let mut all = lock(&self.0);
        // Conversations of one project share it.
        let same = all.values().find(|known| **known == prompt).map(Arc::clone);
        let prompt = same.unwrap_or(prompt);
        // Of two that were read at the same time the first stays, because it may have been sent.
        Arc::clone(all.entry(conversation.to_owned()).or_insert(prompt))
    }

    pub(super) fn prompt_of(&self, options: &SessionOptions, conversation: &str) -> Arc<str> {
        let known = lock(&self.0).get(conversation).map(|known| Arc::clone(&known.text));
        known.unwrap_or_else(|| Arc::clone(&options.system))
    }

    pub(super) fn forget(&self, conversation: &str) {
        lock(&self.0).remove(conversation);
    }
}
