//! The steps of a conversation, and the form in which they are written to the store.

use callgate_store::{Addition, AnswerCost, ConversationState, EntryDraft, NewMessage, now_ms};

use super::error::HistoryError;
use super::fragments::MessageFragments;
use super::reservation::{PricedUsage, Reservation};
use super::store::HistoryStore;
use super::{stored_message, title};
use crate::message::{Block, ChatMessage, StoredToolResult};

/// What is stored together, all or nothing.
#[derive(Debug, Default)]
pub struct HistoryStep {
    /// The new messages, which the API accepts after those before them.
    pub messages: Vec<ChatMessage>,
    /// What is about to be shown of the messages that follow.
    pub fragments: MessageFragments,
    /// The results that its tools gave the front end.
    pub results: Vec<StoredToolResult>,
    pub spent: Option<PricedUsage>,
    pub reservation: Option<Reservation>,
    pub drafts: Vec<EntryDraft>,
    /// Whether a turn begins with the first message.
    pub begins_turn: bool,
    /// What the engine has to remember of the conversation after it.
    pub engine_state: Option<String>,
}

impl HistoryStep {
    /// Returns about how many bytes it has.
    pub(super) fn size(&self) -> usize {
        let blocks = self.messages.iter().flat_map(|message| &message.content);
        let results = self.results.iter().map(|kept| kept.result.get().len());
        blocks.map(Block::size).chain(results).sum::<usize>() + self.fragments.size()
    }
}

/// A step whose messages are serialised. It can be written again if the store was busy.
pub(super) struct WrittenStep {
    pub(super) messages: Vec<ChatMessage>,
    bodies: Vec<NewMessage>,
    fragments: Vec<String>,
    opening: Option<String>,
    spending: Option<AnswerCost>,
    reservation: Option<Reservation>,
    drafts: Vec<EntryDraft>,
    /// What the engine has to remember of the conversation after it.
    pub(super) engine_state: Option<String>,
}

/// A conversation after a step.
pub(super) struct StepEffect {
    pub(super) length: u64,
    /// Its state in the file.
    pub(super) state: Option<ConversationState>,
}

impl WrittenStep {
    /// Serialises a step of a conversation, which gets a title unless it `is_titled`.
    pub(super) fn new(step: HistoryStep, is_titled: bool) -> Result<Self, HistoryError> {
        let HistoryStep {
            messages,
            fragments,
            results,
            spent,
            reservation,
            drafts,
            begins_turn,
            engine_state,
        } = step;
        let opening = if is_titled { None } else { title::opening_words(&messages) };
        Ok(Self {
            bodies: stored_message::all_written(&messages, &results, begins_turn)?,
            messages,
            fragments: fragments.bodies()?,
            opening,
            spending: spent.map(PricedUsage::into_spending),
            reservation,
            drafts,
            engine_state,
        })
    }

    pub(super) fn has_title(&self) -> bool {
        self.opening.is_some()
    }

    /// Returns about how many bytes are written.
    pub(super) fn size(&self) -> usize {
        let drafts = self.drafts.iter().map(|draft| draft.body.len());
        let bodies = self.bodies.iter().map(|message| &message.body).chain(&self.fragments);
        bodies.map(String::len).chain(drafts).sum()
    }

    /// Writes the step in one transaction. The messages from the number `instead_of` on are removed
    /// first.
    pub(super) fn write(
        &self,
        stores: &mut HistoryStore,
        conversation: &str,
        instead_of: Option<u64>,
    ) -> Result<StepEffect, HistoryError> {
        let (length, state) = stores.write_addition(&Addition {
            conversation,
            at_ms: now_ms(),
            instead_of,
            messages: &self.bodies,
            fragments: &self.fragments,
            opening: self.opening.as_deref(),
            spending: self.spending.as_ref(),
            reservation: self.reservation.as_ref().and_then(|reservation| reservation.key),
            drafts: &self.drafts,
            engine_state: self.engine_state.as_deref(),
            ..Addition::default()
        })?;
        Ok(StepEffect { length, state })
    }

    pub(super) fn settle_reservation(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            reservation.mark_settled();
        }
    }
}
