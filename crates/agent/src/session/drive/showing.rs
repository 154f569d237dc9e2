//! Shows what happens in a turn. What belongs to the conversation is stored before, so that a
//! killed process loses nothing that somebody has seen.

use callgate_wire::session::SessionEvent;

use super::{FinishedRound, StoredExtent, TurnDriver};
use crate::failure::RequestFailure;
use crate::history::{HistoryStep, MessageFragments};
use crate::message::Block;
use crate::session::calls::tool_call::announced_now;
use crate::session::commands::events::{CAN_LEAVE_OUT, LEFT_OUT};
use crate::session::turn_changes;
use crate::turn::TurnAction;

impl TurnDriver<'_> {
    /// Collects an event, and what it shows of the conversation.
    pub(super) async fn collect_event(&mut self, event: SessionEvent) {
        let event = match event {
            SessionEvent::ToolUse(call) => {
                let (id, name) = (call.tool_id.clone(), call.tool_name.clone());
                self.unstored.answer.push(Block::ToolUse { id, name, input: call.input.clone() });
                announced_now(self.shared, call).await
            }
            event => event,
        };
        match &event {
            SessionEvent::Token(text) => self.unstored.append_text(text),
            SessionEvent::Thinking(text) => self.unstored.append_thought(text),
            SessionEvent::ToolResult(ended) => {
                // A result that was handed over is stored with its round before it is shown.
                if let Some((told, result)) = self.turn.result(&ended.tool_id) {
                    self.unstored.append_result(told, result);
                }
            }
            _ => {}
        }
        self.events.push(event);
    }

    /// Stores what is about to be shown, and shows it. What cannot be stored is shown all the same,
    /// so that every announced call has its result; the turn has to end then.
    pub(super) async fn show(&mut self) -> Result<(), RequestFailure> {
        let stored = self.store_shown().await;
        self.send();
        stored
    }

    pub(super) async fn show_last(&mut self) {
        if let Err(failure) = self.show().await {
            self.warn(&failure);
        }
    }

    /// Stores a round, shows what has happened, and asks the engine again if it `is_followed` by
    /// another round.
    pub(super) async fn keep_round(
        &mut self,
        round: FinishedRound,
        is_followed: bool,
        later: &mut Vec<TurnAction>,
    ) -> Result<(), RequestFailure> {
        // The round holds all of it.
        self.unstored = MessageFragments::default();
        // The user's message need not be stored before the engine reads it.
        let is_opening = round.is_part && is_followed;
        let kept = if is_opening {
            self.keep_and_ask(round, later).await
        } else {
            self.store_round(round).await
        };
        // Also after a failure, so that every call that was announced has its result.
        self.send();
        self.end_steered(kept.as_ref().err());
        if kept.is_ok() && is_followed && !is_opening {
            self.ask_engine(later).await;
        }
        kept
    }

    /// Leaves out a message that the provider refuses, so that it does not refuse every later one
    /// because of it. If it may be another one, the user is asked.
    pub(super) async fn leave_out(&mut self, failure: &RequestFailure) {
        let is_poison = ["refused", "too_long"].contains(&failure.kind);
        if !is_poison || self.stored == StoredExtent::Nothing {
            return;
        }
        let named = named_message(&failure.text).and_then(|index| self.held.number_of(index));
        self.shared.refused.note(self.held.id(), named);
        let is_other = named.is_some_and(|number| number + 1 != self.held.length());
        if self.stored == StoredExtent::Answer || is_other {
            let offer = SessionEvent::notice("can_leave_out", CAN_LEAVE_OUT);
            return self.events.push(offer);
        }
        match self.held.leave_out_last().await {
            Ok(()) => self.events.push(SessionEvent::notice("left_out", LEFT_OUT)),
            Err(error) => self.warn(&error.into()),
        }
    }

    async fn store_shown(&mut self) -> Result<(), RequestFailure> {
        let fragments = std::mem::take(&mut self.unstored);
        if fragments.is_empty() {
            return Ok(());
        }
        let messages = self.turn.take_unkept();
        if messages.is_empty() {
            self.held.store_fragments(fragments).await?;
        } else {
            // Now that there is an answer, the message takes the place of another turn.
            let begins_turn = self.stored == StoredExtent::Nothing;
            let step = HistoryStep { messages, fragments, begins_turn, ..HistoryStep::default() };
            self.held.commit(step).await?;
            self.replacing = false;
        }
        self.stored = StoredExtent::Answer;
        Ok(())
    }

    pub(super) async fn tell_changes(&mut self) {
        if let Some(changes) = turn_changes::finish_turn(self.shared, &self.origin.mark()).await {
            self.shared.output.send_event(&self.id, changes);
        }
    }

    fn send(&mut self) {
        if !self.events.is_empty() {
            self.shared.output.say_all(&self.id, self.events.drain(..));
        }
    }
}

/// Returns the index of the message that an error of the Messages API names, such as
/// `messages.4.content.0.image`. Other APIs count other messages.
fn named_message(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("messages.")?;
    let end = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_that_a_refusal_names() {
        let check = |text: &str, expected| assert_eq!(named_message(text), expected, "{text}");
        check("messages.4.content.0.image.source: too large", Some(4));
        check("Invalid 'messages[12].content': no", None);
        check("messages: at least one", None);
        check("messages.x", None);
        check("", None);
    }
}
