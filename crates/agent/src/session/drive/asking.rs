//! Asks the engine, as soon as the limits permit it.

use std::sync::Arc;

use callgate_wire::session::{SessionEvent, capability};
use tokio::time::Instant;

use super::TurnDriver;
use crate::engine::EngineCall;
use crate::failure::RequestFailure;
use crate::message::message_list::MessageList;
use crate::session::calls::engine_tools::EngineTools;
use crate::turn::TurnAction;

impl TurnDriver<'_> {
    /// Asks the engine, if the budget permits it and the conversation fits.
    pub(super) async fn ask_engine(&mut self, todo: &mut Vec<TurnAction>) {
        // The reservation for a failed attempt is used for the next. Without one the budget is
        // checked before room is made, because a summary would be paid for as well.
        if self.reservation.is_none()
            && let Err(failure) = self.shared.reserve(&self.account, &self.answering, None).await
        {
            return self.turn.abandon(failure, todo);
        }
        if let Err(failure) = self.make_room(false).await {
            return self.turn.abandon(failure, todo);
        }
        // It was stopped while room was made, so the answer would be paid for in vain.
        if self.halt.borrow().is_some() {
            return;
        }
        let mut call = self.build_call(self.conversation());
        if let Err(failure) = self.reserve(&mut call).await {
            return self.handle_refusal(failure, todo);
        }
        self.answer = Some(self.answering.engine.answer(call));
    }

    pub(super) fn build_call(&self, mut messages: MessageList) -> EngineCall {
        let options = &self.shared.options;
        let held = &self.held;
        // Only these are searched: the history knows the last note in what is stored.
        let new = messages.iter_from(held.messages().len());
        let told = new.rev().find_map(|message| message.mode_note()).or(held.mode_note());
        self.shared.modes.tell_last(&self.name, told, &mut messages);
        EngineCall {
            model: Arc::clone(&self.answering.model),
            system: self.shared.prompts.prompt_of(options, &self.name),
            messages,
            tools: Arc::clone(&self.shared.tools.current().specs),
            max_tokens: options.max_tokens,
            thinking: options.thinking,
            streams_tool_input: self.shared.output.takes(capability::TOOL_INPUT),
            // The engine's own record has the turn that is being replaced.
            engine_state: self.held.engine_state().filter(|_| !self.replacing).map(str::to_owned),
            runner: Some(Arc::new(EngineTools {
                shared: Arc::clone(self.shared),
                origin: self.origin.clone(),
            })),
        }
    }

    pub(super) async fn shorten(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        self.settle_rest().await;
        match self.make_room(true).await {
            Ok(true) => self.ask_engine(todo).await,
            // The request to stop is handled next.
            Ok(false) if self.halt.borrow().is_some() => {}
            Ok(false) => self.turn.abandon(failure, todo),
            Err(failure) => self.turn.abandon(failure, todo),
        }
    }

    /// Returns the conversation, with the messages that are not stored yet.
    pub(super) fn conversation(&self) -> MessageList {
        let mut all = self.held.messages().clone();
        all.extend(self.turn.unkept().iter().cloned().map(Arc::new));
        all
    }

    /// Waits until the limit of requests per minute permits another; ends the turn for any other
    /// reason.
    pub(super) fn handle_refusal(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        if failure.kind != "rate" {
            return self.turn.abandon(failure, todo);
        }
        let wait = self.shared.time_to_next_request().unwrap_or_default();
        self.events.push(SessionEvent::notice("rate", failure.text));
        self.again = Some(Instant::now() + wait);
    }
}
