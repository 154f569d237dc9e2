//! What was spent, and whether the engine may be asked once more.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::Shared;
use crate::budget::{OverBudget, Rate};
use crate::engine::Usage;
use crate::event::Failure;
use crate::price;

/// How often the engine was asked lately.
#[derive(Debug, Default)]
pub(super) struct Spending(Mutex<Rate>);

impl Shared {
    /// Whether the engine may be asked once more in this conversation.
    pub(super) async fn may_spend(&self, conversation: &str) -> Result<(), Failure> {
        let (budget, model) = (&self.options.budget, self.options.engine.model());
        if budget.is_limited() {
            let since = (self.options.day_began)();
            let spent = self.options.history.spent(conversation, since).await?;
            let is_priced = self.options.prices.is_some() || price::is_known(model);
            budget.check(&spent, model, is_priced)?;
        }
        let mut rate = self.spending.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(rate.ask(budget, Instant::now())?)
    }

    /// What an answer cost in dollars, if its price is known.
    pub(super) fn cost(&self, usage: Usage) -> Option<f64> {
        let known = || price::cost(self.options.engine.model(), usage);
        self.options.prices.map(|prices| prices.cost(usage)).or_else(known)
    }
}

impl From<OverBudget> for Failure {
    fn from(over: OverBudget) -> Self {
        match over {
            OverBudget::Rate { .. } => Self::passing("rate", over.to_string()),
            _ => Self::lasting("budget", over.to_string()),
        }
    }
}
