//! Whether the budget permits another request to the engine.

use std::time::Instant;

use callgate_link::sync::lock;
use callgate_wire::session::TokenUsage;

use super::SessionShared;
use crate::engine::EngineCall;
use crate::estimate::{messages_tokens, text_tokens};
use crate::failure::RequestFailure;
use crate::history::{CostTotals, PricedUsage, Reservation};
use crate::price;
use crate::tool::ToolSpec;

/// The tokens of a tool in addition to its description and schema.
const A_TOOL: u64 = 50;

impl SessionShared {
    /// Reserves the most that the answer to `call` may cost. Without a call it only checks that
    /// the budget is not used up. Nothing is reserved where there is no limit.
    pub(super) async fn reserve(
        &self,
        account: &str,
        call: Option<&EngineCall>,
    ) -> Result<Option<Reservation>, RequestFailure> {
        let options = &self.options;
        let budget = options.budget;
        if !budget.is_limited() {
            return Ok(None);
        }
        let model = options.engine.model().to_owned();
        let is_priced = options.prices.is_some() || price::is_known(&model);
        let most = call.map(|call| {
            let usage = most(call);
            PricedUsage { usage, usd: self.cost(usage), model: model.clone() }
        });
        let check = move |spent: &CostTotals| budget.check(spent, &model, is_priced);
        let (account, since) = (account.to_owned(), (options.day_began)());
        Ok(options.ledger.reserve(account, since, most, check).await??)
    }

    /// Counts a request. Returns an error if the last minute has had too many, or if the answer
    /// could not be stored.
    pub(super) fn count_request(&self) -> Result<(), RequestFailure> {
        self.options.history.check_files()?;
        self.options.ledger.check_files()?;
        Ok(lock(&self.request_rate).ask(&self.options.budget, Instant::now())?)
    }

    /// Returns the cost of an answer in dollars, if its price is known.
    pub(super) fn cost(&self, usage: TokenUsage) -> Option<f64> {
        let known = || price::cost(self.options.engine.model(), usage);
        self.options.prices.map(|prices| prices.cost(usage)).or_else(known)
    }
}

/// Returns the most tokens that the answer to a call may take: nothing is in the provider's cache,
/// and the answer has the longest permitted length.
fn most(call: &EngineCall) -> TokenUsage {
    let tool = |tool: &ToolSpec| {
        text_tokens(tool.description) + text_tokens(tool.input_schema.get()) + A_TOOL
    };
    let read = messages_tokens(&call.messages)
        + text_tokens(&call.system)
        + call.tools.iter().map(tool).sum::<u64>();
    let written = u64::from(call.max_tokens) + u64::from(call.thinking.unwrap_or(0));
    // Writing to the provider's cache is the most expensive way to read input.
    TokenUsage { cache_write: read, output: written, ..TokenUsage::default() }
}
