//! Messages of the user: each is for the model, or the answer to a question.

use std::sync::Arc;

use callgate_wire::session::{SessionEvent, UserMessage};

use super::AgentSession;
use super::lanes::JobKind;
use super::questions::answer_in_words;
use crate::turn::StopReason;

impl AgentSession {
    /// Queues a message, unless it is the answer to a question that was asked in words.
    pub(super) fn handle_message(&mut self, id: String, said: UserMessage) {
        let conversation = said.conversation_id();
        let lane = conversation.clone().unwrap_or_else(|| self.current.name());
        match self.shared.questions.awaits_words(&lane) {
            Some(question) if said.attachments.is_empty() => {
                let (shared, name) = (Arc::clone(&self.shared), id.clone());
                let task = self.jobs.spawn(async move {
                    let done = answer_in_words(&shared, question, &said.message).await;
                    let end = done
                        .map_or_else(SessionEvent::from, |()| StopReason::Answered.done_for_free());
                    shared.output.send_event(&id, end);
                });
                self.named.insert(task.id(), (name, None));
            }
            _ => self.queue(&id, conversation, JobKind::Say(said)),
        }
    }
}
