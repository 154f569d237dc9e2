//! Replaces the first messages of a conversation by a summary before the engine cannot read it any
//! more.

use std::pin::pin;
use std::sync::Arc;

use callgate_wire::session::{ConversationCompacted, SessionEvent, capability};
use tokio::time::sleep;

use super::meter::UsageMeter;
use super::{QUIET, TurnDriver};
use crate::engine::{AnswerPiece, AnswerStream, EngineCall};
use crate::failure::RequestFailure;
use crate::history::compact;
use crate::history::{HeldConversation, Reservation};
use crate::message::estimate::message_tokens;
use crate::message::{ChatMessage, Role};
use crate::session::shutdown::wait_for_halt;
use crate::turn::StopReason;

/// The longest summary; a longer one has gone astray and is cut off.
const LONGEST_SUMMARY: usize = 256 * 1024;

impl TurnDriver<'_> {
    /// Summarises the conversation if our estimate requires it, or if the engine has said that it
    /// `is_over` the limit. Returns whether it did. Nothing is done if the turn has to stop
    /// meanwhile.
    pub(super) async fn make_room(&mut self, is_over: bool) -> Result<bool, RequestFailure> {
        let (read, window) = (self.read, self.window());
        if !is_over && !is_full(&mut self.held, self.turn.unkept(), read, window) {
            return Ok(false);
        }
        let messages = self.conversation().to_vec();
        let Some(upto) = self.count_to_replace(&messages, is_over) else { return Ok(false) };
        let Some(written) = self.ask_for_summary(&messages, upto).await? else { return Ok(false) };
        let summary = compact::summary_message(&written);
        let summary = summary.unwrap_or_else(|| compact::fallback_summary(&messages, upto));
        self.held.compact(upto, summary).await?;
        // What the engine has read says nothing about the shorter conversation.
        self.read = None;
        self.tell_shortened(upto);
        Ok(true)
    }

    /// Summarises the conversation on request, and returns the end of the request. Nothing changes
    /// if the engine returns no summary.
    pub(in crate::session) async fn compact(mut self) -> SessionEvent {
        match self.compact_all().await {
            Ok(Some(end)) => end,
            Ok(None) => StopReason::Cancelled.done(self.taken, self.cost, 0),
            Err(failure) => failure.into(),
        }
    }

    async fn compact_all(&mut self) -> Result<Option<SessionEvent>, RequestFailure> {
        let messages = self.held.messages().to_vec();
        let upto = messages.len();
        if upto < 2 {
            let text = "there is nothing to summarise yet";
            return Err(RequestFailure::permanent("not_found", text));
        }
        let Some(written) = self.ask_for_summary(&messages, upto).await? else { return Ok(None) };
        let summary = compact::summary_message(&written).ok_or_else(|| {
            let text = "the model gave no summary, so the conversation is unchanged: try again \
                        later, or with another model";
            RequestFailure::temporary("no_summary", text)
        })?;
        self.held.compact(upto, summary).await?;
        let text = format!(
            "the {upto} messages of this conversation were replaced by a summary, as you asked"
        );
        self.shared.output.send_event(&self.id, SessionEvent::notice("compacted", text));
        let (conversation_id, replaced) = (self.name.to_string(), upto as u64);
        Ok(Some(SessionEvent::done(&ConversationCompacted { conversation_id, replaced })))
    }

    /// Returns the engine's summary of the first `upto` messages, which is empty if it returned
    /// none, or `None` if the request has to stop.
    async fn ask_for_summary(
        &mut self,
        messages: &[Arc<ChatMessage>],
        upto: usize,
    ) -> Result<Option<String>, RequestFailure> {
        // A conversation with tool calls can only be sent together with the tools.
        let call = self.build_call(compact::summary_call(messages, upto).into());
        let mut call = EngineCall { thinking: None, ..call };
        let mut meter = UsageMeter::default();
        let (written, reservation) = match self.may_sum_up(&mut call).await {
            Some(reservation) => (self.sum_up(call, &mut meter).await, reservation),
            // Where the engine may not be asked, a summary of ours takes the place of its own.
            None => (Some(String::new()), None),
        };
        // Also of a summary that was stopped or has failed: its provider counts it.
        let spent = self.spend(meter.take_total(), None);
        self.record_costs(reservation, spent, Vec::new()).await?;
        Ok(written)
    }

    /// Returns the context window in tokens: what the settings say, or less if the model has less.
    pub(super) fn window(&self) -> u64 {
        let set = self.shared.options.context;
        let known = self.answering.engine.context_window(&self.answering.model);
        known.map_or(set, |known| known.min(set))
    }

    /// Returns how many of the first messages have to be replaced, if any.
    fn count_to_replace(&self, messages: &[Arc<ChatMessage>], is_over: bool) -> Option<usize> {
        let window = self.window();
        // The engine knows better than our estimate.
        let read = if is_over { self.read.max(Some(window)) } else { self.read };
        let upto =
            // Only what is stored can be replaced.
            compact::messages_to_replace(messages, read, window)?.min(self.held.messages().len());
        (upto > 0 && (is_over || !self.replacing)).then_some(upto)
    }

    /// Reserves what a summary may cost. Returns `None` if the engine may not be asked for one.
    async fn may_sum_up(&mut self, call: &mut EngineCall) -> Option<Option<Reservation>> {
        if !self.answering.engine.can_summarise() || self.shared.count_request().is_err() {
            return None;
        }
        self.shared.reserve(&self.account, &self.answering, Some(call)).await.ok()
    }

    /// Returns the engine's summary, or `None` if the turn has to stop meanwhile.
    async fn sum_up(&mut self, call: EngineCall, meter: &mut UsageMeter) -> Option<String> {
        let output = &self.shared.output;
        let mut writing = pin!(collect_summary(self.answering.engine.answer(call), meter));
        loop {
            tokio::select! {
                biased;
                _ = wait_for_halt(&mut self.halt) => return None,
                written = &mut writing => return Some(written),
                () = sleep(QUIET), if output.takes(capability::NOTICE) => {
                    let text = "the conversation is being summarised";
                    output.send_event(&self.id, SessionEvent::notice("working", text));
                }
            }
        }
    }

    fn tell_shortened(&self, upto: usize) {
        let text = format!(
            "the first {upto} messages of this conversation were replaced by a summary, because \
             the model cannot read more"
        );
        let event = if self.shared.output.takes(capability::NOTICE) {
            SessionEvent::notice("compacted", text)
        } else {
            SessionEvent::Token(format!("[{text}]\n\n"))
        };
        self.shared.output.send_event(&self.id, event);
    }
}

/// Returns true if a conversation with these new messages is too long by our estimate. This takes
/// no longer in a long conversation than in a short one, unlike [`compact::messages_to_replace`].
pub(super) fn is_full(
    held: &mut HeldConversation,
    new: &[ChatMessage],
    last_tokens: Option<u64>,
    window: u64,
) -> bool {
    let counted = held.tokens() + new.iter().map(message_tokens).sum::<u64>();
    let last = new.last().or_else(|| held.messages().last().map(AsRef::as_ref));
    let newest = last.filter(|last| last.role == Role::User).map_or(0, message_tokens);
    compact::is_full(counted, newest, last_tokens, window)
}

/// Returns the engine's summary, empty if it fails.
async fn collect_summary(mut answer: Box<dyn AnswerStream>, meter: &mut UsageMeter) -> String {
    let mut written = String::new();
    let mut pieces = Vec::new();
    loop {
        let goes_on = answer.next(&mut pieces).await;
        for piece in pieces.drain(..) {
            meter.count_piece(&piece);
            if let AnswerPiece::Text(text) = piece {
                written.push_str(&text);
            }
        }
        match goes_on {
            Ok(true) if written.len() < LONGEST_SUMMARY => {}
            Ok(_) => return written,
            // An incomplete summary would lose the rest.
            Err(_) => return String::new(),
        }
    }
}
