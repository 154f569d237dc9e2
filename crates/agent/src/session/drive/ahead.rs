//! The next answer is asked for while the round before it is being kept.

use std::sync::Arc;

use super::{Drive, Round};
use crate::compact;
use crate::failure::RequestFailure;
use crate::message::Message;
use crate::turn::Do;

impl Drive<'_> {
    /// Keeps a round and asks the engine meanwhile. An answer to what could not be kept is given
    /// up, and nothing of it was told.
    pub(super) async fn keep_and_ask(
        &mut self,
        round: Round,
        todo: &mut Vec<Do>,
    ) -> Result<(), RequestFailure> {
        let mut all = self.held.messages().to_vec();
        all.extend(round.messages.iter().cloned().map(Arc::new));
        if self.has_to_wait(&all) {
            self.keep(round).await?;
            self.ask(todo).await;
            return Ok(());
        }
        let call = self.call(all);
        if let Err(failure) = self.reserve(&call).await {
            self.keep(round).await?;
            self.turn.abandon(failure, todo);
            return Ok(());
        }
        let mut answer = self.shared.options.engine.answer(call);
        let mut pieces = std::mem::take(&mut self.pieces);
        let mut answered = None;
        {
            let (keep, next) = (self.keep(round), answer.next(&mut pieces));
            tokio::pin!(keep, next);
            loop {
                tokio::select! {
                    biased;
                    kept = &mut keep => break kept?,
                    next = &mut next, if answered.is_none() => answered = Some(next),
                }
            }
        }
        (self.pieces, self.answer) = (pieces, Some(answer));
        if let Some(answered) = answered {
            self.answered(answered, todo);
        }
        Ok(())
    }

    /// Whether something has to be done before the engine is asked: what was spent has to be
    /// counted, or the conversation to be shortened, or nobody wants an answer any more.
    fn has_to_wait(&self, all: &[Arc<Message>]) -> bool {
        let options = &self.shared.options;
        options.budget.is_limited()
            || compact::plan(all, self.read, options.context).is_some()
            || self.halt.borrow().is_some()
    }
}
