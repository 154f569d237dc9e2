//! Whether the budget permits another request to the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_wire::session::TokenUsage;

use super::SessionShared;
use crate::budget::price;
use crate::engine::EngineCall;
use crate::engine::engine_registry::SelectedEngine;
use crate::failure::RequestFailure;
use crate::history::{CostTotals, PricedUsage, Reservation};
use crate::message::estimate::call_tokens;

/// The tokens of a tool in addition to its description and schema.
const A_TOOL: u64 = 50;

impl SessionShared {
    /// Reserves the most that the answer to `call` may cost, and limits the answer to what is left.
    /// Without a call it only checks that the budget is not used up. Nothing is reserved where
    /// there is no limit.
    pub(super) async fn reserve(
        &self,
        account: &str,
        answering: &SelectedEngine,
        call: Option<&mut EngineCall>,
    ) -> Result<Option<Reservation>, RequestFailure> {
        let options = &self.options;
        let budget = options.budget;
        if !budget.is_limited() {
            return Ok(None);
        }
        let model = answering.model.to_string();
        let is_priced = self.cost(answering, TokenUsage::default(), None).is_some();
        let most = call.as_deref().map(|call| {
            let usage = most_tokens(call);
            PricedUsage { usage, usd: self.cost(answering, usage, None), model: model.clone() }
        });
        let million = TokenUsage { output: 1_000_000, ..TokenUsage::default() };
        let price = self.cost(answering, million, None);
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let found = Arc::clone(&left);
        let check = move |spent: &CostTotals| {
            found.store(budget.output_left(spent, price), Ordering::Relaxed);
            budget.check_spending(spent, &model, is_priced)
        };
        let (account, since) = (account.to_owned(), (options.day_began)());
        let mut reserved = options.ledger.reserve_cost(account, since, most, check).await??;
        // What is left was found in the same transaction, so no other process can take it as well.
        if let (Some(reservation), Some(call)) = (&mut reserved, call) {
            // Relaxed is enough: the history's reply, which was awaited, comes after the store.
            reservation.most_output = left.load(Ordering::Relaxed);
            limit_output(call, reservation.most_output);
        }
        Ok(reserved)
    }

    /// Counts a request. Returns an error if the last minute has had too many, or if the answer
    /// could not be stored.
    pub(super) fn count_request(&self) -> Result<(), RequestFailure> {
        self.options.history.check_files()?;
        self.options.ledger.check_files()?;
        Ok(lock(&self.request_rate).count_request(&self.options.budget, Instant::now())?)
    }

    pub(super) fn time_to_next_request(&self) -> Option<Duration> {
        lock(&self.request_rate).time_to_next_request(&self.options.budget, Instant::now())
    }

    /// Returns the cost of an answer in dollars: by the prices of the settings, as the engine
    /// reports it, or by the price that is known of the model. A model on this machine costs
    /// nothing otherwise.
    pub(super) fn cost(
        &self,
        answering: &SelectedEngine,
        usage: TokenUsage,
        reported: Option<f64>,
    ) -> Option<f64> {
        if answering.engine.is_free() {
            return Some(0.0);
        }
        let SelectedEngine { engine, model, .. } = answering;
        let known = || reported.or_else(|| price::model_cost(model, usage, engine.cache_life()));
        let set = self
            .options
            .prices
            .find_prices(model)
            .map(|prices| prices.cost(usage, engine.cache_life()));
        set.or_else(known).or_else(|| engine.is_local().then_some(0.0))
    }
}

/// Limits the answer to a call to this many tokens. It has at least one, and thoughts only if they
/// leave room for it.
pub(super) fn limit_output(call: &mut EngineCall, most: u64) {
    let most = u32::try_from(most).unwrap_or(u32::MAX).max(1);
    call.max_tokens = call.max_tokens.min(most);
    call.thinking = call.thinking.filter(|thinking| *thinking < most);
}

/// Returns the most tokens that the answer to a call may take: nothing is in the provider's cache,
/// and the answer has the longest permitted length.
fn most_tokens(call: &EngineCall) -> TokenUsage {
    let written = u64::from(call.max_tokens) + u64::from(call.thinking.unwrap_or(0));
    // Writing to the provider's cache is the most expensive way to read input.
    TokenUsage { cache_write: call_tokens(call, A_TOOL), output: written, ..TokenUsage::default() }
}
