//! What is reserved of a budget for answers under way, and what they cost in the end. Both are
//! stored in the ledger's file, wherever conversations are stored, so that all processes that
//! share the file share one budget.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_store::{AnswerCost, CostTotals, ReservationRequest, Store};
use callgate_wire::session::TokenUsage;
use uuid::Uuid;

use super::error::HistoryError;
use super::process_mark::ProcessMark;
use crate::budget::price;

#[derive(Debug, Clone, PartialEq)]
pub struct PricedUsage {
    pub usage: TokenUsage,
    /// The price in dollars, if known.
    pub usd: Option<f64>,
    pub model: String,
}

/// A reservation for one answer. If it is dropped before it is settled, all of it counts as spent,
/// because nobody knows what the answer took.
#[derive(Debug)]
pub struct Reservation {
    pub(super) key: Option<i64>,
    /// How many tokens the answer may have.
    pub(crate) most_output: u64,
    abandoned: AbandonedReservations,
}

type AbandonedReservations = Arc<Mutex<Vec<i64>>>;

pub(super) struct ReservationBook {
    holder: ProcessMark,
    abandoned: AbandonedReservations,
    /// The prefix of the names of conversations that are only in memory. No other process has it.
    pub(super) memory: String,
}

impl ReservationBook {
    /// Creates the book for all processes that share `file`.
    pub(super) fn beside(file: Option<&Path>) -> Self {
        let (holder, abandoned) = (ProcessMark::beside(file), AbandonedReservations::default());
        Self { holder, abandoned, memory: format!("memory {}", Uuid::new_v4()) }
    }

    /// Reserves `most` in the ledger, unless `check` objects to what is spent and reserved.
    pub(super) fn reserve<E>(
        &mut self,
        ledger: &mut Store,
        account: &str,
        at_ms: i64,
        since_ms: i64,
        most: Option<PricedUsage>,
        check: impl FnOnce(&CostTotals) -> Result<(), E>,
    ) -> Result<Result<Option<Reservation>, E>, HistoryError> {
        let (folder, abandoned) = (self.holder.folder.clone(), Arc::clone(&self.abandoned));
        let unlocked = |source: io::Error| HistoryError::Lock {
            path: folder.clone().unwrap_or_default(),
            source: Arc::new(source),
        };
        let holder = self.holder.ensure_file().map_err(unlocked)?;
        // Copied, so that nobody who drops a reservation meanwhile waits for the disk.
        let given_up = lock(&abandoned).clone();
        let most = most.map(PricedUsage::into_spending);
        let request = ReservationRequest {
            account,
            at_ms,
            since_ms,
            holder: &holder,
            abandoned: &given_up,
            most: most.as_ref(),
        };
        let is_alive = |name: &str| ProcessMark::is_alive(folder.as_deref(), name);
        let reserved = ledger.reserve_cost(&request, is_alive, check)?;
        // These are settled now; others may have been added meanwhile.
        let mut left = lock(&abandoned);
        left.retain(|key| !given_up.contains(key));
        drop(left);
        let made = |key| Reservation {
            key: Some(key),
            // Only `check` knows what is left of the budget; the caller sets it.
            most_output: u64::MAX,
            abandoned: Arc::clone(&abandoned),
        };
        Ok(reserved.map(|key| key.map(made)))
    }
}

impl PricedUsage {
    /// Converts it into the form in which the ledger stores it.
    pub(super) fn into_spending(self) -> AnswerCost {
        let TokenUsage { input, output, cache_read, cache_write } = self.usage;
        let micro_usd = self.usd.map(price::micro_of_dollars);
        AnswerCost { model: self.model, input, output, cache_read, cache_write, micro_usd }
    }
}

impl Reservation {
    pub(super) fn mark_settled(mut self) {
        self.key = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            lock(&self.abandoned).push(key);
        }
    }
}
