//! What the user does while a turn runs: sends messages for its next round, or stops the engine.

use callgate_wire::session::{PastUserMessage, SessionEvent};

use super::TurnDriver;
use crate::engine::AnswerPiece;
use crate::failure::RequestFailure;
use crate::message::Block;
use crate::session::attachments::message_content;
use crate::turn::{StopReason, TurnAction};

impl TurnDriver<'_> {
    /// Lets the engine stop by itself. What it still sends belongs to the answer, which is then
    /// dropped.
    pub(super) async fn interrupt(&mut self, todo: &mut Vec<TurnAction>) {
        let Some(answer) = &mut self.answer else { return };
        answer.interrupt(&mut self.pieces).await;
        // With the end of the answer, the turn would end as if nobody had stopped it.
        self.pieces.retain(|piece| !matches!(piece, AnswerPiece::End(_) | AnswerPiece::RoundEnd));
        self.handle_pieces(Ok(true), todo);
    }

    /// Hands what the user has said meanwhile to an engine that runs tools itself.
    pub(super) async fn steer_answer(&mut self, todo: &mut Vec<TurnAction>) {
        let said = self.take_steering(todo).await;
        if let Some(answer) = &mut self.answer {
            answer.steer(&said);
        }
    }

    /// Adds the messages that wait to steer this turn to the results of its tools, and returns
    /// their content.
    pub(super) async fn take_steering(&mut self, todo: &mut Vec<TurnAction>) -> Vec<Block> {
        let mut all = Vec::new();
        for (id, said) in self.waiting.take_steering() {
            match message_content(&said, &self.shared.options.folder).await {
                Ok(content) => {
                    self.shared.output.place_request(&id, &self.name, false);
                    let said = PastUserMessage { message: said.message, attachments: Vec::new() };
                    todo.push(TurnAction::Tell(SessionEvent::UserMessage(said)));
                    all.extend(content.iter().cloned());
                    // Stored before it is shown, like all that belongs to the conversation.
                    self.unstored.said.extend(content.clone());
                    self.turn.steer(content);
                    self.steered.push(id);
                }
                Err(failure) => self.shared.output.send_event(&id, failure.into()),
            }
        }
        all
    }

    /// Ends the requests whose messages were stored with the round, or could not be.
    pub(super) fn end_steered(&mut self, failure: Option<&RequestFailure>) {
        for id in self.steered.drain(..) {
            let event = match failure {
                Some(failure) => failure.clone().into(),
                None => StopReason::Steered.done_for_free(),
            };
            self.shared.output.send_event(&id, event);
        }
    }
}
