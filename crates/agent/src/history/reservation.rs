//! What is reserved of a budget for answers under way, and what is spent in the end. Both are in
//! the ledger's file, wherever conversations are kept, so that all who share it share one budget.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use callgate_store::{Draft, ReservationRequest, Settlement, Spent};
use uuid::Uuid;

use super::error::HistoryError;
use super::held::{Cost, spending};
use super::holder::Holder;
use super::shelf::{Shelf, now_ms};
use super::{History, checked_id};

/// What is reserved for one answer. One that is dropped before it is settled counts as spent in
/// whole: nobody knows what the answer took.
#[derive(Debug)]
pub struct Reservation {
    key: Option<i64>,
    abandoned: Abandoned,
}

/// Reservations that were dropped.
type Abandoned = Arc<Mutex<Vec<i64>>>;

/// What reservations are made with.
pub(super) struct Purse {
    holder: Holder,
    abandoned: Abandoned,
    /// Names the conversations that are in memory: no other process has one of them.
    memory: String,
}

impl Purse {
    /// Creates a purse for all who share `file`.
    pub(super) fn beside(file: Option<&Path>) -> Self {
        let memory = format!("memory {}", Uuid::new_v4());
        Self { holder: Holder::beside(file), abandoned: Abandoned::default(), memory }
    }
}

impl Reservation {
    pub(super) fn key(&self) -> Option<i64> {
        self.key
    }

    /// What was reserved has been settled.
    pub(super) fn settled(mut self) {
        self.key = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.abandoned.lock().unwrap_or_else(PoisonError::into_inner).push(key);
        }
    }
}

impl History {
    /// Returns the name under which `ledger` counts what a conversation of this history costs.
    #[must_use]
    pub fn account(&self, ledger: &Self, conversation: &str) -> String {
        if self.is(ledger) {
            return conversation.to_owned();
        }
        // No id has a control character.
        format!("{}\n{conversation}", self.clerk().name())
    }

    /// Returns what a conversation has cost, what all have cost at `since_ms` or later, and what
    /// is reserved.
    pub async fn spent(&self, conversation: &str, since_ms: i64) -> Result<Spent, HistoryError> {
        let id = checked_id(conversation)?;
        self.ask(move |shelf| {
            let account = shelf.account(&id).into_owned();
            Ok(shelf.ledger().spent(&account, since_ms)?)
        })
        .await
    }

    /// Reserves the most that an answer may take, unless `check` objects to what was spent and
    /// reserved by all until then; without `most` nothing is reserved. No other process reserves
    /// anything between the check and the reservation.
    pub async fn reserve<E: Send + 'static>(
        &self,
        account: String,
        since_ms: i64,
        most: Option<Cost>,
        check: impl FnOnce(&Spent) -> Result<(), E> + Send + 'static,
    ) -> Result<Result<Option<Reservation>, E>, HistoryError> {
        self.ask(move |shelf| shelf.reserve(&account, since_ms, most, check)).await
    }

    /// Writes down what an answer took in place of what was reserved for it, with entries of the
    /// ledger. When it returns all of it is committed.
    pub async fn settle(
        &self,
        account: String,
        reservation: Option<Reservation>,
        cost: Option<Cost>,
        drafts: Vec<Draft>,
    ) -> Result<(), HistoryError> {
        self.ask(move |shelf| {
            let account = shelf.account(&account).into_owned();
            let spending = cost.map(spending);
            shelf.ledger().settle(&Settlement {
                account: &account,
                at_ms: now_ms(),
                reservation: reservation.as_ref().and_then(Reservation::key),
                spending: spending.as_ref(),
                drafts: &drafts,
            })?;
            if let Some(reservation) = reservation {
                reservation.settled();
            }
            Ok(())
        })
        .await
    }
}

impl Shelf {
    /// Returns the name under which the ledger counts what a conversation costs.
    pub(super) fn account<'a>(&self, conversation: &'a str) -> Cow<'a, str> {
        if self.has_ledger_apart() {
            return Cow::Owned(format!("{}\n{conversation}", self.purse.memory));
        }
        Cow::Borrowed(conversation)
    }

    fn reserve<E>(
        &mut self,
        account: &str,
        since_ms: i64,
        most: Option<Cost>,
        check: impl FnOnce(&Spent) -> Result<(), E>,
    ) -> Result<Result<Option<Reservation>, E>, HistoryError> {
        let account = self.account(account).into_owned();
        let Purse { holder, abandoned, .. } = &mut self.purse;
        let (folder, abandoned) = (holder.folder(), Arc::clone(abandoned));
        let unlocked = |source: io::Error| HistoryError::Lock {
            path: folder.clone().unwrap_or_default(),
            source: Arc::new(source),
        };
        let holder = holder.show().map_err(unlocked)?;
        let given_up = abandoned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let most = most.map(spending);
        let request = ReservationRequest {
            account: &account,
            at_ms: now_ms(),
            since_ms,
            holder: &holder,
            abandoned: &given_up,
            most: most.as_ref(),
        };
        let is_alive = |name: &str| Holder::is_alive(folder.as_deref(), name);
        let reserved = self.ledger().reserve(&request, is_alive, check)?;
        // Those are settled now; others may have come meanwhile.
        let mut left = abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|key| !given_up.contains(key));
        drop(left);
        let made = |key| Reservation { key: Some(key), abandoned: Arc::clone(&abandoned) };
        Ok(reserved.map(|key| key.map(made)))
    }
}
