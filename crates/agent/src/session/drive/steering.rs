//! Messages that the user sends while a turn runs, for its next round.

use callgate_wire::session::{PastUserMessage, SessionEvent, TokenUsage};

use super::TurnDriver;
use crate::failure::RequestFailure;
use crate::session::attachments::content;
use crate::turn::{StopReason, TurnAction};

impl TurnDriver<'_> {
    /// Adds the messages that wait to steer this turn to the results of its tools.
    pub(super) async fn take_steering(&mut self, todo: &mut Vec<TurnAction>) {
        for (id, said) in self.waiting.take_steering() {
            match content(&said, &self.shared.options.folder).await {
                Ok(content) => {
                    self.shared.output.place(&id, &self.name, false);
                    let said = PastUserMessage { message: said.message, attachments: Vec::new() };
                    todo.push(TurnAction::Tell(SessionEvent::UserMessage(said)));
                    self.turn.steer(content);
                    self.steered.push(id);
                }
                Err(failure) => self.shared.output.say(&id, failure.into()),
            }
        }
    }

    /// Ends the requests whose messages were stored with the round, or could not be.
    pub(super) fn end_steered(&mut self, failure: Option<&RequestFailure>) {
        for id in self.steered.drain(..) {
            let event = match failure {
                Some(failure) => failure.clone().into(),
                None => StopReason::Steered.done(TokenUsage::default(), Some(0.0), 0),
            };
            self.shared.output.say(&id, event);
        }
    }
}
