//! What the agent said before its question, when it comes after the question.

use std::sync::Arc;

use callgate_wire::approval::RequestId;
use callgate_wire::ledger::{AgentSaid, LedgerEvent};

use super::{AskerId, Desk, DeskOutput, DeskStep};
use crate::plain;

impl Desk {
    /// Adds the agent's last words to the question of an asker, and shows them. They change nothing
    /// about the question, and a question that is decided needs none.
    pub(super) fn handle_last_words(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        last_words: &str,
    ) {
        let Some(id) = self.askers.get(&asker).cloned() else { return };
        let Some(open) = self.open.get_mut(&id).filter(|open| open.decided.is_none()) else {
            return;
        };
        let shown = Some(plain::safe_text(last_words)).filter(|words| !words.trim().is_empty());
        if shown.is_none() || open.card.last_words == shown {
            return;
        }
        let last_words = plain::without_secrets(last_words);
        step.record_for_question(&id, &LedgerEvent::Said(AgentSaid { last_words }));
        Arc::make_mut(&mut open.card).last_words = shown;
        self.redraw_question(step, &id);
    }

    /// Shows a question again on every copy, as it is now.
    pub(super) fn redraw_question(&self, step: &mut DeskStep, id: &RequestId) {
        let Some(open) = self.open.get(id) else { return };
        // A copy that is on its way is redrawn as soon as it has been sent.
        if !open.copies.is_empty() || !open.sending.is_empty() {
            step.outputs.push(DeskOutput::Phones(open.order_to_redraw()));
        }
        if self.settings.terminal {
            step.outputs.push(DeskOutput::Terminal(open.order_to_redraw()));
        }
    }
}
