//! Questions about which nothing can be recorded: they are not decided.

use std::collections::HashSet;

use callgate_wire::approval::{Decision, RequestId};
use callgate_wire::ledger::{ClosedHow, LedgerEvent, QuestionClosed};

use super::answer::{build_response, mark_all, undecided_response};
use super::calls::CallMemory;
use super::{Desk, DeskOutput, DeskStep};
use crate::channel::{MarkState, QuestionMark};

/// Why a question about which nothing can be recorded is not decided.
const UNRECORDED: &str = "it could not be recorded";
/// What has become of questions that were open when the ledger could not be written.
const DROPPED: &str = "The ledger cannot be written, so this was not decided";

/// Returns the entry that ends such a question.
pub(crate) fn dropped_event() -> LedgerEvent {
    LedgerEvent::Closed(QuestionClosed { how: Some(ClosedHow::Gone), text: DROPPED.to_owned() })
}

impl Desk {
    /// Gives up a question: what was decided about it cannot be recorded, so nothing was decided.
    pub(super) fn drop_unrecorded(&mut self, step: &mut DeskStep, id: &RequestId) {
        let Some(mut open) = self.open.remove(id) else { return };
        self.forget_undelivered(&open);
        self.twins.forget_answer(id);
        let decided = open.decided.take();
        self.open.insert(id.clone(), open);
        if let Some(reply_to) = decided.and_then(|decided| decided.reply_to) {
            let text = "This is too long to be recorded, so it was not decided.";
            step.reply(&reply_to, false, text);
        }
        self.time_out(step, id, UNRECORDED);
    }

    /// Drops all questions: nothing can be recorded, so nothing can be decided, and every asker
    /// falls back. What a rule has denied stays denied.
    ///
    /// The step has the end of each question that is in the ledger, so not of those in
    /// `unrecorded`, to be recorded once that is possible.
    pub(super) fn ledger_failed(&mut self, step: &mut DeskStep, unrecorded: &HashSet<RequestId>) {
        for (id, open) in std::mem::take(&mut self.open) {
            if let Some(asker) = open.asker {
                let denied = open.decided.as_ref().filter(|it| it.decision == Decision::Deny);
                let request = open.request.as_ref();
                let response = denied
                    .zip(request)
                    .and_then(|(denied, request)| build_response(request, &open.card, denied));
                let response = response
                    .unwrap_or_else(|| undecided_response(&id, request, &open.card, UNRECORDED));
                step.outputs.push(DeskOutput::Answer(asker, response));
            }
            if let Some(reply_to) = open.decided.as_ref().and_then(|it| it.reply_to.as_ref()) {
                step.reply(reply_to, false, DROPPED);
            }
            let kept = self.kept_about(&open);
            if !unrecorded.contains(&id) {
                step.record_for_question(&id, &dropped_event());
                for key in kept {
                    step.forget_value(key);
                }
            }
            let mark = QuestionMark { state: MarkState::Gone, text: DROPPED.to_owned() };
            mark_all(step, self.settings.terminal, &open, &mark);
        }
        self.drop_all_changes(step);
        self.drop_twins(step);
        // What is remembered may never have been recorded.
        self.calls = CallMemory::default();
        self.alarms.clear();
        self.askers.clear();
        self.lineages.clear();
        self.bytes = 0;
    }
}
