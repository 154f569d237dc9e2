//! Pays for answers: what each may take is reserved before it is begun, and what it took is written
//! down with it.

use callgate_store::Draft;
use callgate_wire::session::TokenUsage;

use super::{Drive, Round};
use crate::engine::Call;
use crate::failure::RequestFailure;
use crate::history::{Cost, Reservation, Step};
use crate::session::Level;

impl Drive<'_> {
    /// Reserves what the answer to `call` may take. What is reserved for an answer holds for
    /// further attempts at it.
    pub(super) async fn reserve(&mut self, call: &Call) -> Result<(), RequestFailure> {
        self.meter.begin();
        self.shared.count_request()?;
        if self.reservation.is_none() {
            self.reservation = self.shared.reserve(&self.account, call).await?;
        }
        Ok(())
    }

    /// Keeps a round, with what its answer took and what the ledger is to be told.
    pub(super) async fn keep(&mut self, round: Round) -> Result<(), RequestFailure> {
        let Round { messages, results } = round;
        let usage = self.meter.take();
        let mut spent = self.spend(usage);
        let mut reservation = self.reservation.take();
        let mut drafts = std::mem::take(&mut self.drafts);
        let options = &self.shared.options;
        if !options.ledger.is(&options.history) {
            // What is in two files cannot be in one transaction.
            self.pay(reservation.take(), spent.take(), std::mem::take(&mut drafts)).await?;
        }
        let step = Step { messages, results, spent, reservation, drafts, begins_turn: self.is_new };
        self.held.commit(step).await?;
        (self.is_new, self.replacing) = (false, false);
        Ok(())
    }

    /// Writes down what is left when nothing more is kept: what was taken by an answer that nobody
    /// has seen anything of, and what the ledger has not been told.
    pub(super) async fn settle_rest(&mut self) {
        let usage = self.meter.take();
        let spent = if usage == TokenUsage::default() { None } else { self.spend(usage) };
        let (reservation, drafts) = (self.reservation.take(), std::mem::take(&mut self.drafts));
        if let Err(failure) = self.settle(reservation, spent, drafts).await {
            // What was reserved counts as spent then.
            self.warn(&failure);
        }
    }

    fn warn(&self, failure: &RequestFailure) {
        let text = format!("cannot write down what an answer took: {}", failure.text);
        self.shared.options.log.say(Level::Warn, &text);
    }

    /// Tells the ledger what was spent and done. Where the ledger is a file of its own that cannot
    /// be written, the conversation goes on, unless there is a budget or something to record.
    pub(super) async fn pay(
        &mut self,
        reservation: Option<Reservation>,
        spent: Option<Cost>,
        drafts: Vec<Draft>,
    ) -> Result<(), RequestFailure> {
        let options = &self.shared.options;
        let is_needed = options.ledger.is(&options.history)
            || options.budget.is_limited()
            || !drafts.is_empty();
        match self.settle(reservation, spent, drafts).await {
            Err(failure) if is_needed => Err(failure),
            Err(failure) => {
                self.warn(&failure);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    async fn settle(
        &mut self,
        reservation: Option<Reservation>,
        spent: Option<Cost>,
        drafts: Vec<Draft>,
    ) -> Result<(), RequestFailure> {
        if reservation.is_none() && spent.is_none() && drafts.is_empty() {
            return Ok(());
        }
        let ledger = &self.shared.options.ledger;
        Ok(ledger.settle(self.account.clone(), reservation, spent, drafts).await?)
    }

    /// Adds to what the turn has taken and cost; returns what is to be written down, if anything.
    pub(super) fn spend(&mut self, usage: TokenUsage) -> Option<Cost> {
        self.taken = self.taken + usage;
        let usd = self.shared.cost(usage);
        self.cost = self.cost.zip(usd).map(|(so_far, usd)| so_far + usd);
        let model = self.shared.options.engine.model().to_owned();
        (usage != TokenUsage::default()).then_some(Cost { usage, usd, model })
    }
}
