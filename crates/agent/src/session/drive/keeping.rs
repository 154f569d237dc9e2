//! Keeps the rounds of a turn and pays for their answers: what an answer may cost is reserved
//! before it is begun, and what it cost is recorded when it is kept.

use std::sync::Arc;

use callgate_store::EntryDraft;
use callgate_wire::session::TokenUsage;

use super::shorten::is_full;
use super::{FinishedRound, StoredExtent, TurnDriver};
use crate::engine::EngineCall;
use crate::failure::RequestFailure;
use crate::history::{HistoryStep, MessageFragments, PricedUsage, Reservation};
use crate::poll_twice;
use crate::session::request_budget::limit_output;
use crate::turn::TurnAction;

impl TurnDriver<'_> {
    /// Reserves what the answer to `call` may cost, and limits the answer to what is left of the
    /// budget. The reservation is used for further attempts too.
    pub(super) async fn reserve(&mut self, call: &mut EngineCall) -> Result<(), RequestFailure> {
        self.meter.begin_attempt();
        self.shared.count_request()?;
        match &self.reservation {
            Some(reservation) => limit_output(call, reservation.most_output),
            None => {
                self.reservation =
                    self.shared.reserve(&self.account, &self.answering, Some(call)).await?;
            }
        }
        Ok(())
    }

    /// Stores a round, with the cost of its answer and the ledger entries.
    pub(super) async fn store_round(&mut self, round: FinishedRound) -> Result<(), RequestFailure> {
        let FinishedRound { messages, results, is_part } = round;
        // What an answer takes is known at its end.
        let mut spent = if is_part { None } else { self.spend_metered() };
        let mut reservation = if is_part { None } else { self.reservation.take() };
        let engine_state = match (is_part, self.stored == StoredExtent::Nothing) {
            (false, _) => self.engine_state.take(),
            // The engine has not answered yet, so what it remembers is still true.
            (true, true) => self.held.engine_state().map(str::to_owned),
            (true, false) => None,
        };
        let mut drafts = std::mem::take(&mut self.drafts);
        let options = &self.shared.options;
        if !options.ledger.is_same_store(&options.history) {
            // Two files cannot be written in one transaction. The ledger comes first, so that no
            // answer is kept that no budget counts.
            self.record_costs(reservation.take(), spent.take(), std::mem::take(&mut drafts))
                .await?;
        }
        let step = HistoryStep {
            messages,
            fragments: MessageFragments::default(),
            results,
            spent,
            reservation,
            drafts,
            begins_turn: self.stored == StoredExtent::Nothing,
            engine_state,
        };
        self.held.commit(step).await?;
        self.replacing = false;
        let now = if is_part { StoredExtent::Message } else { StoredExtent::Answer };
        self.stored = self.stored.max(now);
        Ok(())
    }

    /// Asks the engine, and stores the user's message while the engine reads it. If it cannot be
    /// stored, the answer is dropped, and nothing of it was shown.
    pub(super) async fn keep_and_ask(
        &mut self,
        round: FinishedRound,
        todo: &mut Vec<TurnAction>,
    ) -> Result<(), RequestFailure> {
        if self.has_to_wait(&round) {
            self.store_round(round).await?;
            self.ask_engine(todo).await;
            return Ok(());
        }
        let mut all = self.held.messages().clone();
        all.extend(round.messages.iter().cloned().map(Arc::new));
        let mut call = self.build_call(all);
        if let Err(failure) = self.reserve(&mut call).await {
            self.store_round(round).await?;
            self.handle_refusal(failure, todo);
            return Ok(());
        }
        let mut answer = self.answering.engine.answer(call);
        let mut pieces = std::mem::take(&mut self.pieces);
        let mut answered;
        {
            let (keep, next) = (self.store_round(round), answer.next(&mut pieces));
            tokio::pin!(keep, next);
            // A request that the first poll hands to the task of its connection is then written.
            answered = poll_twice(next.as_mut()).await;
            loop {
                tokio::select! {
                    biased;
                    // First: what cannot be stored ends this before anything of the answer counts.
                    kept = &mut keep => break kept?,
                    next = &mut next, if answered.is_none() => answered = Some(next),
                }
            }
        }
        (self.pieces, self.answer) = (pieces, Some(answer));
        if let Some(answered) = answered {
            self.handle_pieces(answered, todo);
        }
        Ok(())
    }

    /// Returns true if the engine cannot be asked yet: costs have to be counted, the conversation
    /// may have to be summarised, or the turn has to stop.
    fn has_to_wait(&mut self, round: &FinishedRound) -> bool {
        let (options, window) = (&self.shared.options, self.window());
        options.budget.is_limited()
            || is_full(&mut self.held, &round.messages, self.read, window)
            || self.halt.borrow().is_some()
    }

    /// Records what is left when nothing more is stored: the cost of an answer that was never
    /// shown, and the remaining ledger entries.
    pub(super) async fn settle_rest(&mut self) {
        let spent = if self.meter.is_empty() { None } else { self.spend_metered() };
        let (reservation, drafts) = (self.reservation.take(), std::mem::take(&mut self.drafts));
        if let Err(failure) = self.settle(reservation, spent, drafts).await {
            // The reservation then counts as spent.
            self.warn(&failure);
        }
    }

    pub(super) fn warn(&self, failure: &RequestFailure) {
        let text = format!("cannot write down the end of a turn: {}", failure.text);
        self.shared.options.log.warn(&text);
    }

    /// Records costs and entries in the ledger. If the ledger is a separate file that cannot be
    /// written, the conversation continues, unless there is a budget or something to record.
    pub(super) async fn record_costs(
        &mut self,
        reservation: Option<Reservation>,
        spent: Option<PricedUsage>,
        drafts: Vec<EntryDraft>,
    ) -> Result<(), RequestFailure> {
        let options = &self.shared.options;
        let is_needed = options.ledger.is_same_store(&options.history)
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
        spent: Option<PricedUsage>,
        drafts: Vec<EntryDraft>,
    ) -> Result<(), RequestFailure> {
        if reservation.is_none() && spent.is_none() && drafts.is_empty() {
            return Ok(());
        }
        let ledger = &self.shared.options.ledger;
        Ok(ledger.settle_cost(self.account.clone(), reservation, spent, drafts).await?)
    }

    /// Adds what was metered to the usage and cost of the turn. Returns what has to be recorded.
    fn spend_metered(&mut self) -> Option<PricedUsage> {
        let reported = self.meter.cost();
        let usage = self.meter.take_total();
        self.spend(usage, reported)
    }

    /// Adds to the usage and cost of the turn. Returns what has to be recorded, if anything.
    pub(super) fn spend(
        &mut self,
        usage: TokenUsage,
        reported: Option<f64>,
    ) -> Option<PricedUsage> {
        self.taken = self.taken + usage;
        let usd = self.shared.cost(&self.answering, usage, reported);
        self.cost = self.cost.zip(usd).map(|(so_far, usd)| so_far + usd);
        let model = self.answering.model.to_string();
        (usage != TokenUsage::default()).then_some(PricedUsage { usage, usd, model })
    }
}
