//! The stored conversations, and the thread that works on them.
//!
//! A [`HistoryStep`] is stored as a whole: the user's message, then each round of tools, then the
//! last answer. What is shown of a round before it is whole is stored as fragments first, which
//! become messages if the process is killed. So nothing that was shown is lost; and whatever is in
//! the file, the messages for the model are mended before they are sent. A conversation is a
//! [`HeldConversation`] while somebody works on it, by a lock that other processes see.

pub mod compact;
mod error;
mod fragments;
mod held_conversation;
mod history_step;
mod lock;
mod mender;
mod page;
mod process_mark;
mod reservation;
mod search;
mod sendable;
mod store;
mod stored_message;
#[cfg(test)]
pub(crate) mod tests;
mod thread;
mod title;
mod turn_changes;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use callgate_store::{EntryDraft, LONGEST_CONVERSATION, Settlement, StoredConversation, now_ms};
use callgate_wire::session::{self, ConversationMode};
use uuid::Uuid;

pub use callgate_store::{CostSum, CostTotals, EngineSelection};
pub use error::HistoryError;
pub use fragments::MessageFragments;
pub use held_conversation::HeldConversation;
pub use history_step::HistoryStep;
pub use mender::without_thoughts;
pub use page::HistoryPage;
pub use reservation::{PricedUsage, Reservation};
pub use search::MOST_SEARCHED;
pub use store::{FolderScope, HistoryLocation};
pub use title::LONGEST_OPENING;

use store::{HistoryStore, RememberedConversation};
use thread::HistoryThread;

pub const LONGEST_TITLE: usize = 256;
pub const MOST_LISTED: usize = 1000;
pub const MOST_ON_PAGE: usize = 1000;
/// The most bytes of the messages on a page, as JSON. A page has at least one message.
pub const LARGEST_PAGE: usize = 8 * 1024 * 1024;

/// The pause before a lock is tried again, which doubles each time, and the longest one.
const FIRST_WAIT: Duration = Duration::from_millis(2);
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The stored conversations. Clones share the same store. When the last clone and the last
/// [`HeldConversation`] are dropped, everything is written and the thread has ended.
#[derive(Clone)]
pub struct History(Arc<HistoryThread>);

impl History {
    /// Begins to open the store and returns at once. While it cannot be opened, every call returns
    /// the reason and tries again.
    pub fn start(place: HistoryLocation) -> Self {
        Self(Arc::new(HistoryThread::start(place, None)))
    }

    /// Like [`History::start`], for the conversations of one folder.
    pub fn start_in(place: HistoryLocation, scope: FolderScope) -> Self {
        Self(Arc::new(HistoryThread::start(place, Some(scope))))
    }

    /// Returns an error if an open file was removed or replaced, so that writes would be lost.
    pub fn check_files(&self) -> Result<(), HistoryError> {
        self.0.check_files()
    }

    /// Returns true if both share the same store.
    pub fn is_same_store(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Makes the drop wait only briefly for the thread. Another program may hold the file for many
    /// seconds, and what was not confirmed need not be stored.
    pub fn hurry(&self) {
        // Relaxed is enough: the flag publishes nothing but itself.
        self.0.is_hurried.store(true, Ordering::Relaxed);
    }

    /// Waits until nobody works on the conversation, and loads it; it need not exist yet. `on_wait`
    /// is called if somebody else works on it. Nothing is held if the future is dropped early.
    pub async fn hold_or(
        &self,
        conversation: &str,
        on_wait: impl FnOnce(),
    ) -> Result<HeldConversation, HistoryError> {
        let id = checked_id(conversation)?;
        let mut on_wait = Some(on_wait);
        let mut wait = FIRST_WAIT;
        loop {
            if let Some(held) = self.try_hold(&id).await? {
                return Ok(held);
            }
            if let Some(tell) = on_wait.take() {
                tell();
            }
            // The lock of another process could only be waited for by a thread that blocks.
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn try_hold(&self, id: &Arc<str>) -> Result<Option<HeldConversation>, HistoryError> {
        let held =
            |token, loaded| HeldConversation::new(self.clone(), Arc::clone(id), token, loaded);
        let mut known = self.0.recall(id);
        // Avoids the way to the thread and back.
        let again = |known: &RememberedConversation| {
            self.0.at_once(|stores| stores.lock_again(known)).flatten()
        };
        if let Some(token) = known.as_ref().and_then(again) {
            return Ok(known.take().map(|known| held(token, known.loaded)));
        }
        let wanted = Arc::clone(id);
        let work = move |stores: &mut HistoryStore| {
            let Some(mut token) = stores.locks.take_lock(&wanted)? else { return Ok(None) };
            // Under the lock: what is there of an unfinished turn is that of a process that is
            // dead.
            stores.recover(&wanted)?;
            let loaded = match known.filter(|known| stores.is_as_left(known)) {
                Some(known) => known.loaded,
                None => stores.load(&wanted, None)?,
            };
            // If the caller has gone, the lock is dropped with the reply, and must know whether its
            // file goes.
            token.set_passing(loaded.length == 0);
            Ok(Some((token, loaded)))
        };
        Ok(self.run_job(work).await?.map(|(token, loaded)| held(token, loaded)))
    }

    /// Returns the most recently changed conversations within the scope of this history, the last
    /// one first, of those changed before `before_ms`. At most [`MOST_LISTED`].
    pub async fn list_conversations(
        &self,
        limit: usize,
        before_ms: Option<u64>,
    ) -> Result<Vec<session::ConversationSummary>, HistoryError> {
        let before_ms = before_ms.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
        let limit = limit.min(MOST_LISTED);
        let list = move |stores: &mut HistoryStore| {
            Ok(stores.store.recent_conversations(limit, before_ms, stores.listed_folder())?)
        };
        let found = self.run_job(list).await?;
        Ok(found.into_iter().map(conversation_summary).collect())
    }

    /// Creates a conversation and returns its id, a new one if none is given. It is listed once
    /// something is written to it.
    pub async fn create_conversation(
        &self,
        id: Option<&str>,
        title: Option<&str>,
    ) -> Result<String, HistoryError> {
        let id = id.map_or_else(|| Ok(Uuid::new_v4().to_string().into()), checked_id)?;
        let title = title.map(checked_title).transpose()?;
        self.run_job(move |stores| {
            if stores.store.make_conversation(&id, title.as_deref(), now_ms())? {
                return Ok(id.to_string());
            }
            Err(HistoryError::Exists(id.to_string()))
        })
        .await
    }

    pub async fn rename_conversation(&self, id: &str, title: &str) -> Result<(), HistoryError> {
        let (id, title) = (checked_id(id)?, checked_title(title)?);
        self.run_job(move |stores| {
            let is_known = stores.store.name_conversation(&id, &title)?;
            if is_known { Ok(()) } else { Err(HistoryError::Unknown(id.to_string())) }
        })
        .await
    }

    /// Copies the first `length` messages of a conversation, after which a turn must begin, or all
    /// of them, to the new conversation `to`. Returns how many were copied.
    pub async fn fork_conversation(
        &self,
        id: &str,
        to: &str,
        length: Option<u64>,
        title: Option<&str>,
    ) -> Result<u64, HistoryError> {
        let (id, to) = (checked_id(id)?, checked_id(to)?);
        let title = title.map(checked_title).transpose()?;
        self.run_job(move |stores| {
            // What a killed process had shown of a turn is copied as well.
            stores.recover_if_idle(&id)?;
            let unknown = || HistoryError::Unknown(id.to_string());
            let known = stores.store.conversation(&id)?.ok_or_else(unknown)?;
            let length = length.unwrap_or(known.length);
            if !stores.store.fork_conversation(&id, &to, length, title.as_deref(), now_ms())? {
                return Err(HistoryError::NoTurn(length));
            }
            Ok(length)
        })
        .await
    }

    /// Deletes a conversation, unless somebody works on it. Its costs still count for their day.
    pub async fn delete_conversation(&self, id: &str) -> Result<(), HistoryError> {
        let id = checked_id(id)?;
        self.run_job(move |stores| {
            let Some(mut token) = stores.locks.take_lock(&id)? else {
                return Err(HistoryError::InUse(id.to_string()));
            };
            let was_known = stores.store.delete_conversation(&id)?;
            // Also for an unknown id, whose lock file was created just now.
            token.set_passing(true);
            if was_known { Ok(()) } else { Err(HistoryError::Unknown(id.to_string())) }
        })
        .await
    }

    /// Returns the id of the most recently changed conversation within the scope of this history.
    pub async fn last(&self) -> Result<Option<String>, HistoryError> {
        self.run_job(|stores| Ok(stores.store.last_conversation(stores.listed_folder())?)).await
    }

    async fn stored_conversation(
        &self,
        id: &str,
    ) -> Result<Option<StoredConversation>, HistoryError> {
        let id = checked_id(id)?;
        self.run_job(move |stores| Ok(stores.store.conversation(&id)?)).await
    }

    /// Returns how many messages a conversation has, 0 if it does not exist.
    pub async fn length(&self, id: &str) -> Result<u64, HistoryError> {
        Ok(self.stored_conversation(id).await?.map_or(0, |known| known.length))
    }

    pub async fn mode(&self, id: &str) -> Result<Option<ConversationMode>, HistoryError> {
        let known = self.stored_conversation(id).await?;
        Ok(known.and_then(|known| ConversationMode::parse(known.mode.as_deref()?)))
    }

    pub async fn choose_mode(&self, id: &str, mode: ConversationMode) -> Result<(), HistoryError> {
        let id = checked_id(id)?;
        self.run_job(move |stores| Ok(stores.store.choose_mode(&id, mode.name(), now_ms())?)).await
    }

    pub async fn engine(&self, id: &str) -> Result<Option<EngineSelection>, HistoryError> {
        Ok(self.stored_conversation(id).await?.and_then(|known| known.engine))
    }

    /// Returns the last messages of a conversation before the number `before`. At most
    /// [`MOST_ON_PAGE`], and about [`LARGEST_PAGE`].
    pub async fn read_page(
        &self,
        id: &str,
        limit: usize,
        before: Option<u64>,
    ) -> Result<HistoryPage, HistoryError> {
        let id = checked_id(id)?;
        self.run_job(move |stores| {
            stores.recover_if_idle(&id)?;
            page::read_messages(stores, &id, limit, before)
        })
        .await
    }

    /// Prepares the statements for the next entries of the ledger.
    pub async fn prepare_ledger(&self) {
        // An error is reported when the next entry is written.
        let prepare = |stores: &mut HistoryStore| {
            stores.prepare_ledger();
            Ok(())
        };
        self.run_job(prepare).await.ok();
    }

    /// Returns the value that is kept under `key` beside the ledger.
    pub(crate) async fn kept_value(&self, key: &str) -> Result<Option<String>, HistoryError> {
        let key = key.to_owned();
        self.run_job(move |stores| Ok(stores.ledger().kept_value(&key)?)).await
    }

    /// Keeps a value under `key` beside the ledger, replacing what was there.
    pub(crate) async fn keep_value(&self, key: &str, value: &str) -> Result<(), HistoryError> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.run_job(move |stores| Ok(stores.ledger().keep_value(&key, &value)?)).await
    }

    /// Writes entries to the ledger. When it returns, they are committed.
    pub async fn record(&self, drafts: Vec<EntryDraft>) -> Result<(), HistoryError> {
        self.run_job(move |stores| {
            Ok(stores.lasting_ledger()?.append_entries(&drafts).map(drop)?)
        })
        .await
    }

    /// Returns the name under which `ledger` counts the costs of a conversation of this history.
    pub fn account(&self, ledger: &Self, conversation: &str) -> String {
        if self.is_same_store(ledger) {
            return conversation.to_owned();
        }
        // No id has a control character.
        format!("{}\n{conversation}", self.0.name)
    }

    /// Reserves the most that an answer may cost, unless `check` objects to what all processes have
    /// spent and reserved. Without `most`, nothing is reserved. No other process can reserve
    /// anything between the check and the reservation.
    pub async fn reserve_cost<E: Send + 'static>(
        &self,
        account: String,
        since_ms: i64,
        most: Option<PricedUsage>,
        check: impl FnOnce(&CostTotals) -> Result<(), E> + Send + 'static,
    ) -> Result<Result<Option<Reservation>, E>, HistoryError> {
        self.run_job(move |stores| stores.reserve_cost(&account, since_ms, most, check)).await
    }

    /// Replaces a reservation by the actual cost, and writes entries to the ledger. When it
    /// returns, all of it is committed.
    pub async fn settle_cost(
        &self,
        account: String,
        reservation: Option<Reservation>,
        cost: Option<PricedUsage>,
        drafts: Vec<EntryDraft>,
    ) -> Result<(), HistoryError> {
        self.run_job(move |stores| {
            let account = stores.account(&account).into_owned();
            let spending = cost.map(PricedUsage::into_spending);
            stores.ledger().settle_reservation(&Settlement {
                account: &account,
                at_ms: now_ms(),
                reservation: reservation.as_ref().and_then(|reservation| reservation.key),
                spending: spending.as_ref(),
                drafts: &drafts,
            })?;
            if let Some(reservation) = reservation {
                // Only once it is committed: a reservation that is dropped before counts as spent.
                reservation.mark_settled();
            }
            Ok(())
        })
        .await
    }

    async fn run_job<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut HistoryStore) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        self.0.send(work).await?.await.unwrap_or(Err(HistoryError::Gone))
    }
}

fn conversation_summary(known: StoredConversation) -> session::ConversationSummary {
    let unsigned = |at_ms: i64| u64::try_from(at_ms).unwrap_or(0);
    session::ConversationSummary {
        conversation_id: known.id,
        title: known.title,
        length: known.length,
        created_at: unsigned(known.made_ms),
        updated_at: unsigned(known.used_ms.unwrap_or(known.made_ms)),
        folder: known.folder,
    }
}

fn checked_id(id: &str) -> Result<Arc<str>, HistoryError> {
    // Accounts in the ledger hold an id behind a line feed, which therefore no id may have.
    let is_id = (1..=LONGEST_CONVERSATION).contains(&id.len()) && !id.contains(char::is_control);
    if is_id { Ok(id.into()) } else { Err(HistoryError::BadId) }
}

fn checked_title(title: &str) -> Result<String, HistoryError> {
    let is_title = !title.trim().is_empty() && title.chars().count() <= LONGEST_TITLE;
    if is_title { Ok(title.to_owned()) } else { Err(HistoryError::BadTitle) }
}
