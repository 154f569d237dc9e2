//! A conversation that is held by a lock.

mod leaving_out;

use std::sync::Arc;

use callgate_store::{EngineSelection, now_ms};
use tokio::sync::oneshot::Receiver;

use super::error::HistoryError;
use super::fragments::MessageFragments;
use super::history_step::{HistoryStep, StepEffect, WrittenStep};
use super::lock::ConversationLock;
use super::store::{HistoryStore, LoadedConversation, RememberedConversation};
use super::{History, stored_message};
use crate::message::message_list::MessageList;
use crate::message::mode_note::ModeNote;
use crate::message::{Block, ChatMessage, Role};

/// The most bytes that are written on the caller's thread. It takes less time than a thread needs
/// to wake up.
const MOST_AT_ONCE: usize = 16 * 1024;

/// A conversation on which nobody else works until this is dropped.
pub struct HeldConversation {
    history: History,
    id: Arc<str>,
    token: ConversationLock,
    loaded: LoadedConversation,
    /// The number of the first message that the next step replaces.
    replaces: Option<u64>,
    /// A change under way that its caller did not wait for.
    pending: Option<Receiver<Result<ConversationChange, HistoryError>>>,
}

/// The effect of a change to a conversation, and the number of the first message that the next step
/// replaces.
enum ConversationChange {
    Whole(LoadedConversation, Option<u64>),
    Added { step: WrittenStep, effect: StepEffect, is_titled: bool, replaces: Option<u64> },
}

impl Drop for HeldConversation {
    fn drop(&mut self) {
        // A change under way may still take effect, and a turn that was taken back is there again:
        // what is in memory may not be what is in the file.
        if self.pending.is_some() || self.replaces.is_some() {
            return self.token.set_passing(false);
        }
        self.token.set_passing(self.loaded.length == 0);
        if self.loaded.state.is_some() {
            let loaded = std::mem::take(&mut self.loaded);
            self.history.0.remember(RememberedConversation { id: Arc::clone(&self.id), loaded });
        }
    }
}

impl HeldConversation {
    pub(super) fn new(
        history: History,
        id: Arc<str>,
        token: ConversationLock,
        loaded: LoadedConversation,
    ) -> Self {
        Self { history, id, token, loaded, replaces: None, pending: None }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn engine(&self) -> Option<&EngineSelection> {
        self.loaded.engine.as_ref()
    }

    pub(crate) fn engine_state(&self) -> Option<&str> {
        self.loaded.engine_state.as_deref()
    }

    pub async fn choose_engine(&mut self, chosen: EngineSelection) -> Result<(), HistoryError> {
        self.wait_for_change().await;
        let (id, replaces) = (Arc::clone(&self.id), self.replaces);
        self.change(move |stores| {
            stores.store.choose_engine(&id, &chosen, now_ms())?;
            ConversationChange::load_whole(stores, &id, replaces)
        })
        .await
    }

    /// Returns the messages for the model: a list that the API accepts, whatever is in the file.
    pub fn messages(&self) -> &MessageList {
        self.loaded.mender.messages()
    }

    pub(crate) fn mode_note(&self) -> Option<ModeNote> {
        self.loaded.mender.mode_note()
    }

    /// Estimates the number of tokens of [`messages`](Self::messages). What was estimated before is
    /// not looked at again.
    pub fn tokens(&mut self) -> u64 {
        self.loaded.mender.tokens()
    }

    /// Returns true if its last turn was interrupted: the model never finished its answer.
    pub fn is_broken_off(&self) -> bool {
        self.messages().last().is_some_and(|message| message.is_unfinished())
    }

    /// Returns how many messages it has, including those that a summary replaces.
    pub fn length(&self) -> u64 {
        self.loaded.length
    }

    /// Stores a step. When it returns, all of it is committed; if it fails, nothing is. If the
    /// future is dropped, either may be the case, and the next call finds out which. A step without
    /// messages replaces nothing.
    pub async fn commit(&mut self, step: HistoryStep) -> Result<(), HistoryError> {
        self.wait_for_change().await;
        let (id, is_titled) = (Arc::clone(&self.id), self.loaded.is_titled);
        // A step that only records something must not remove the turn that is to be replaced.
        let (instead_of, replaces) =
            if step.messages.is_empty() { (None, self.replaces) } else { (self.replaces, None) };
        let change = move |mut step: WrittenStep, effect: StepEffect| {
            step.settle_reservation();
            let is_titled = is_titled || step.has_title();
            ConversationChange::Added { step, effect, is_titled, replaces }
        };
        // Serialised on the other thread, because that takes a while too, and everything waits for
        // this one.
        if step.size() > MOST_AT_ONCE {
            return self
                .change(move |stores| {
                    let step = WrittenStep::new(step, is_titled)?;
                    let effect = step.write(stores, &id, instead_of)?;
                    Ok(change(step, effect))
                })
                .await;
        }
        let step = WrittenStep::new(step, is_titled)?;
        let history = &self.history.0;
        let written =
            history.write_at_once(step.size(), |stores| step.write(stores, &id, instead_of));
        match written {
            Some(effect) => {
                let change = change(step, effect?);
                self.apply_change(change);
                Ok(())
            }
            None => {
                self.change(move |stores| {
                    let effect = step.write(stores, &id, instead_of)?;
                    Ok(change(step, effect))
                })
                .await
            }
        }
    }

    /// Stores what is about to be shown of the messages that follow. When it returns, all of it is
    /// committed. The conversation must already exist.
    pub(crate) async fn store_fragments(
        &mut self,
        shown: MessageFragments,
    ) -> Result<(), HistoryError> {
        self.wait_for_change().await;
        let id = Arc::clone(&self.id);
        if shown.size() > MOST_AT_ONCE {
            return self
                .history
                .run_job(move |stores| stores.write_fragments(&id, &shown.bodies()?))
                .await;
        }
        // Not as a pending change: nothing in memory changes with fragments.
        let bodies = shown.bodies()?;
        let size = bodies.iter().map(String::len).sum();
        match self.history.0.write_at_once(size, |stores| stores.write_fragments(&id, &bodies)) {
            Some(noted) => noted,
            None => self.history.run_job(move |stores| stores.write_fragments(&id, &bodies)).await,
        }
    }

    /// Removes the last turn from [`messages`](Self::messages) and returns the user's message with
    /// which it began. The turn stays in the file until the next step replaces it. Returns `None`
    /// if there is no turn, if it was taken back before, or if a summary replaces it.
    pub async fn take_back(&mut self) -> Result<Option<ChatMessage>, HistoryError> {
        self.wait_for_change().await;
        if self.replaces.is_some() {
            return Ok(None);
        }
        let id = Arc::clone(&self.id);
        let work = move |stores: &mut HistoryStore| {
            let Some(first) = stores.store.last_turn(&id)? else { return Ok(None) };
            let mut message = stores.message(&id, first)?.ok_or(HistoryError::Unreadable)?;
            // Whoever asks for its answer again wants the model to read it.
            message.content.retain(|block| !matches!(block, Block::LeftOut));
            Ok(Some((first, message, stores.load(&id, Some(first))?)))
        };
        let Some((first, message, loaded)) = self.history.run_job(work).await? else {
            return Ok(None);
        };
        self.replaces = Some(first);
        // All else stays, because the file still has the turn.
        (self.loaded.mender, self.loaded.length) = (loaded.mender, loaded.length);
        Ok(Some(message))
    }

    /// Removes all messages. The title and the costs stay.
    pub async fn clear(&mut self) -> Result<(), HistoryError> {
        self.wait_for_change().await;
        let id = Arc::clone(&self.id);
        self.change(move |stores| {
            stores.store.clear_conversation(&id)?;
            ConversationChange::load_whole(stores, &id, None)
        })
        .await
    }

    /// Removes all messages but the first `length`, after which a turn must begin. A summary of
    /// messages that are removed goes with them.
    pub async fn rewind(&mut self, length: u64) -> Result<(), HistoryError> {
        self.wait_for_change().await;
        let id = Arc::clone(&self.id);
        self.change(move |stores| {
            if !stores.store.rewind_conversation(&id, length, now_ms())? {
                return Err(HistoryError::NoTurn(length));
            }
            ConversationChange::load_whole(stores, &id, None)
        })
        .await
    }

    /// Replaces the first `upto` of [`messages`](Self::messages) by a summary, a message of the
    /// user's. They stay in the file but are not sent any more. Stored thoughts are dropped,
    /// because a model may refuse them without the messages they are about.
    pub async fn compact(&mut self, upto: usize, summary: ChatMessage) -> Result<(), HistoryError> {
        self.wait_for_change().await;
        let messages = self.loaded.mender.messages();
        let is_possible = (1..=messages.len()).contains(&upto)
            && summary.role == Role::User
            && messages.get(upto).is_none_or(|next| {
                // What follows the summary is a turn, or an answer that it leads to.
                next.begins_turn() || next.role == Role::Assistant
            });
        if !is_possible {
            return Err(HistoryError::BadCut);
        }
        let (id, upto) = (Arc::clone(&self.id), self.loaded.mender.end_of(upto));
        let replaces = self.replaces;
        self.change(move |stores| {
            let summary = stored_message::encode_message(&summary, &[]);
            let summary = summary.map_err(stored_message::unwritable_message)?;
            if !stores.store.summarize_conversation(&id, upto, &summary)? {
                return Err(HistoryError::BadCut);
            }
            ConversationChange::load_whole(stores, &id, replaces)
        })
        .await
    }

    /// Asks the thread to change the file, and applies the change here.
    async fn change(
        &mut self,
        work: impl FnOnce(&mut HistoryStore) -> Result<ConversationChange, HistoryError>
        + Send
        + 'static,
    ) -> Result<(), HistoryError> {
        // Kept, so that the next call learns what has changed if this future is dropped.
        self.pending = Some(self.history.0.send(work).await?);
        self.apply_pending().await
    }

    /// Waits for a change whose caller has gone. If it failed, nothing has changed.
    async fn wait_for_change(&mut self) {
        self.apply_pending().await.ok();
    }

    async fn apply_pending(&mut self) -> Result<(), HistoryError> {
        let Some(pending) = &mut self.pending else { return Ok(()) };
        let change = pending.await.unwrap_or(Err(HistoryError::Gone));
        self.pending = None;
        self.apply_change(change?);
        Ok(())
    }

    fn apply_change(&mut self, change: ConversationChange) {
        match change {
            ConversationChange::Whole(loaded, replaces) => {
                (self.loaded, self.replaces) = (loaded, replaces);
            }
            ConversationChange::Added { step, effect, is_titled, replaces } => {
                let loaded = &mut self.loaded;
                // A turn that is taken back is still in the file, and does not count.
                loaded.length = replaces.unwrap_or(effect.length);
                let first = loaded.length.saturating_sub(step.messages.len() as u64);
                for (number, message) in (first..).zip(step.messages) {
                    loaded.mender.push(number, message, false);
                }
                (loaded.is_titled, loaded.state) = (is_titled, effect.state);
                loaded.engine_state = step.engine_state;
                self.replaces = replaces;
            }
        }
        self.loaded.mender.close_tool_uses();
    }
}

impl ConversationChange {
    fn load_whole(
        stores: &HistoryStore,
        id: &str,
        replaces: Option<u64>,
    ) -> Result<Self, HistoryError> {
        Ok(Self::Whole(stores.load(id, replaces)?, replaces))
    }
}
