//! Tells the front end what a turn has taken while it runs.

use callgate_wire::session::{SessionEvent, UsageReport};

use super::TurnDriver;
use crate::engine::AnswerPiece;

impl TurnDriver<'_> {
    /// Records how full the context is, if the piece says so.
    pub(super) fn note_context(&mut self, piece: &AnswerPiece) {
        match piece {
            AnswerPiece::LatestResponse(usage) => {
                (self.read, self.written) = (Some(usage.all_input()), Some(usage.output));
            }
            // The usage of several responses is more than any of them has read.
            AnswerPiece::Usage(usage) if self.written.is_none() => {
                self.read = Some(usage.all_input());
            }
            _ => {}
        }
    }

    /// Returns true if the piece changes what is known about the usage: the provider reports it, or
    /// the answer ends and the provider never did.
    pub(super) fn is_report_due(&self, piece: &AnswerPiece) -> bool {
        match piece {
            AnswerPiece::Usage(_) => true,
            AnswerPiece::End(_) => !self.meter.is_told(),
            _ => false,
        }
    }

    pub(super) fn usage_report(&self) -> SessionEvent {
        let answer = self.meter.so_far();
        let usd = self.shared.cost(&self.answering, answer, self.meter.cost());
        let cost = self.cost.zip(usd).map(|(cost, usd)| cost + usd);
        let usage = self.taken + answer;
        SessionEvent::Usage(UsageReport {
            usage,
            cost,
            cached_share: usage.cached_share(),
            context_tokens: self.read.unwrap_or_default() + self.written.unwrap_or(answer.output),
            context_window: Some(self.window()),
        })
    }
}
