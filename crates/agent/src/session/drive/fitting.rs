//! Checks the answer against the schema that the message asks for.

use callgate_wire::session::SessionEvent;

use super::{StoredExtent, TurnDriver, fresh_turn};
use crate::failure::RequestFailure;
use crate::message::{Block, ChatMessage, Role};
use crate::session::output_schema::CheckedAnswer;
use crate::turn::{StopReason, TurnAction};

impl TurnDriver<'_> {
    /// Returns the end of the turn, or `None` if the model is asked once more because its answer
    /// does not fit the schema.
    pub(super) fn check_schema_fit(
        &mut self,
        end: Result<StopReason, RequestFailure>,
        todo: &mut Vec<TurnAction>,
    ) -> Option<Result<StopReason, RequestFailure>> {
        if end != Ok(StopReason::EndTurn) {
            return Some(end);
        }
        let answer = self.last_words();
        match self.schema.as_mut().map(|schema| schema.check_answer(&answer)) {
            None => Some(end),
            Some(CheckedAnswer::Fits(value)) => {
                self.fitting = Some(value);
                Some(end)
            }
            Some(CheckedAnswer::Failed(failure)) => Some(Err(failure)),
            Some(CheckedAnswer::Correct { reason, words }) => {
                let text = format!(
                    "the answer does not fit the schema, so it is asked for again: {reason}"
                );
                self.events.push(SessionEvent::notice("schema", text));
                let correction = ChatMessage::user(vec![Block::text(words)]);
                self.turn = fresh_turn(self.shared, correction, false);
                (self.stored, self.replacing) = (StoredExtent::Nothing, false);
                self.turn.start_turn(todo);
                None
            }
        }
    }

    /// Returns the text of the last message, if it is the model's.
    fn last_words(&self) -> String {
        let conversation = self.conversation();
        let last = conversation.last().filter(|message| message.role == Role::Assistant);
        let blocks = last.map(|message| message.content.as_slice()).unwrap_or_default();
        blocks.iter().filter_map(Block::as_text).collect()
    }
}
