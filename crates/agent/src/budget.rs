//! How much may be spent, and how often the model may be asked. Pure.

pub mod price;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use callgate_store::{CostSum, CostTotals};

use crate::budget::price::{dollars_of_micro, micro_of_dollars};

/// The time span over which requests are counted.
const MINUTE: Duration = Duration::from_mins(1);
/// The highest limit of requests per minute, so that few times are kept in memory.
pub const MOST_PER_MINUTE: u32 = 10_000;

/// The limits of spending. A limit that is not set does not exist.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// The limit for one conversation, in dollars.
    pub conversation_usd: Option<f64>,
    /// The limit for all conversations of a day, in dollars.
    pub day_usd: Option<f64>,
    /// The limit for one conversation, in tokens of every kind.
    pub conversation_tokens: Option<u64>,
    /// The limit for all conversations of a day, in tokens of every kind.
    pub day_tokens: Option<u64>,
    pub requests_per_minute: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OverBudget {
    #[error(
        "this conversation has cost ${spent:.2}, and its budget is ${limit:.2}: raise \
         `agent.conversation_usd`, or begin another conversation"
    )]
    ConversationCost { spent: f64, limit: f64 },
    #[error(
        "today's cost is ${spent:.2}, and the budget of a day is ${limit:.2}: raise \
         `agent.day_usd`, or wait until midnight"
    )]
    DayCost { spent: f64, limit: f64 },
    #[error(
        "this conversation has used {spent} tokens, and its budget is {limit}: raise \
         `agent.conversation_tokens`, or begin another conversation"
    )]
    ConversationTokens { spent: u64, limit: u64 },
    #[error(
        "today {spent} tokens were used, and the budget of a day is {limit}: raise \
         `agent.day_tokens`, or wait until midnight"
    )]
    DayTokens { spent: u64, limit: u64 },
    #[error(
        "what is left of the budget `agent.{setting}` is reserved for answers in progress: \
         try again when they have ended, or raise it"
    )]
    Reserved { setting: &'static str },
    #[error(
        "there is a budget in dollars, and the price of the model {model:?} is not known: set it \
         in `agent.prices`, or set a budget in tokens instead"
    )]
    UnknownPrice { model: String },
    #[error(
        "the model was asked {limit} times within a minute, which is the limit: wait {} s, or \
         raise `agent.requests_per_minute`",
        wait.as_secs() + 1
    )]
    Rate { limit: u32, wait: Duration },
}

impl Budget {
    /// Returns an error if the model may not be asked, given what was spent and reserved by the
    /// conversation, and by all since midnight. `is_priced` says whether the price of `model` is
    /// known.
    ///
    /// The size of a request is only known when it is answered, so the input of the last one may
    /// exceed a limit. Its output may not, see [`output_left`](Self::output_left), and no other
    /// answer is started while it might.
    pub fn check_spending(
        &self,
        spent: &CostTotals,
        model: &str,
        is_priced: bool,
    ) -> Result<(), OverBudget> {
        // Refused, because answers without a price count as free: no budget would ever end them.
        if self.is_in_dollars() && !is_priced {
            return Err(OverBudget::UnknownPrice { model: model.to_owned() });
        }
        let CostTotals { conversation, all, reserved_conversation, reserved_all } = spent;
        if let Some((spent, limit)) = over_cost(self.conversation_usd, conversation) {
            return Err(OverBudget::ConversationCost { spent, limit });
        }
        if let Some((spent, limit)) = over_cost(self.day_usd, all) {
            return Err(OverBudget::DayCost { spent, limit });
        }
        if let Some((spent, limit)) = over_tokens(self.conversation_tokens, conversation) {
            return Err(OverBudget::ConversationTokens { spent, limit });
        }
        if let Some((spent, limit)) = over_tokens(self.day_tokens, all) {
            return Err(OverBudget::DayTokens { spent, limit });
        }
        // Only now, because reservations may become free again: a caller who has really spent the
        // budget must not be told to try again later.
        let (conversation, all) =
            (add_cost_sums(conversation, reserved_conversation), add_cost_sums(all, reserved_all));
        let reserved = [
            ("conversation_usd", over_cost(self.conversation_usd, &conversation).is_some()),
            ("day_usd", over_cost(self.day_usd, &all).is_some()),
            ("conversation_tokens", over_tokens(self.conversation_tokens, &conversation).is_some()),
            ("day_tokens", over_tokens(self.day_tokens, &all).is_some()),
        ];
        match reserved.iter().find(|(_, is_over)| *is_over) {
            Some((setting, _)) => Err(OverBudget::Reserved { setting }),
            None => Ok(()),
        }
    }

    /// Returns how many tokens an answer may have, given what was spent and reserved, and the price
    /// of a million of its tokens in dollars, if that is known.
    pub fn output_left(&self, spent: &CostTotals, price: Option<f64>) -> u64 {
        let CostTotals { conversation, all, reserved_conversation, reserved_all } = spent;
        let (conversation, all) =
            (add_cost_sums(conversation, reserved_conversation), add_cost_sums(all, reserved_all));
        let in_tokens =
            |limit: Option<u64>, sum: &CostSum| Some(limit?.saturating_sub(total_tokens(sum)));
        let in_dollars = |limit: Option<f64>, sum: &CostSum| {
            let left = u128::from(micro_of_dollars(limit?).saturating_sub(sum.micro_usd));
            // Where a token costs nothing, dollars limit nothing.
            let tokens = (left * 1_000_000).checked_div(u128::from(micro_of_dollars(price?)))?;
            Some(u64::try_from(tokens).unwrap_or(u64::MAX))
        };
        let limits = [
            in_tokens(self.conversation_tokens, &conversation),
            in_tokens(self.day_tokens, &all),
            in_dollars(self.conversation_usd, &conversation),
            in_dollars(self.day_usd, &all),
        ];
        limits.into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    pub fn is_in_dollars(&self) -> bool {
        self.conversation_usd.is_some() || self.day_usd.is_some()
    }

    /// Returns true if the spending has to be checked before the model is asked.
    pub fn is_limited(&self) -> bool {
        self.is_in_dollars() || self.conversation_tokens.is_some() || self.day_tokens.is_some()
    }
}

fn add_cost_sums(a: &CostSum, b: &CostSum) -> CostSum {
    CostSum {
        input: a.input.saturating_add(b.input),
        output: a.output.saturating_add(b.output),
        cache_read: a.cache_read.saturating_add(b.cache_read),
        cache_write: a.cache_write.saturating_add(b.cache_write),
        micro_usd: a.micro_usd.saturating_add(b.micro_usd),
        unpriced: a.unpriced.saturating_add(b.unpriced),
    }
}

fn over_cost(limit: Option<f64>, sum: &CostSum) -> Option<(f64, f64)> {
    let limit = limit?;
    (sum.micro_usd >= micro_of_dollars(limit)).then(|| (dollars_of_micro(sum.micro_usd), limit))
}

fn over_tokens(limit: Option<u64>, sum: &CostSum) -> Option<(u64, u64)> {
    let (limit, spent) = (limit?, total_tokens(sum));
    (spent >= limit).then_some((spent, limit))
}

/// Returns the tokens of every kind together.
fn total_tokens(sum: &CostSum) -> u64 {
    let parts = [sum.input, sum.output, sum.cache_read, sum.cache_write];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Counts requests within the last minute.
#[derive(Debug, Default)]
pub struct RequestRate {
    asked: VecDeque<Instant>,
}

impl RequestRate {
    /// Counts a request at `now`, unless the limit was reached in the minute before.
    pub fn count_request(&mut self, budget: &Budget, now: Instant) -> Result<(), OverBudget> {
        let Some(limit) = budget.requests_per_minute else { return Ok(()) };
        if let Some(wait) = self.time_to_next_request(budget, now) {
            return Err(OverBudget::Rate { limit, wait });
        }
        self.asked.push_back(now);
        Ok(())
    }

    pub fn time_to_next_request(&mut self, budget: &Budget, now: Instant) -> Option<Duration> {
        let most = budget.requests_per_minute?.min(MOST_PER_MINUTE) as usize;
        let is_past = |at: &mut Instant| now.saturating_duration_since(*at) >= MINUTE;
        while self.asked.pop_front_if(is_past).is_some() {}
        // There is room when the first of the last `most` requests is a minute old.
        let first = self.asked.get(self.asked.len().checked_sub(most)?);
        let age = first.map_or(Duration::ZERO, |at| now.saturating_duration_since(*at));
        Some(MINUTE.saturating_sub(age))
    }
}
