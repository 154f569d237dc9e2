//! Counts the tokens that answers take. Pure.

use callgate_wire::session::TokenUsage;

use crate::engine::AnswerPiece;

/// The bytes of a token, for answers of which the provider did not report the usage.
const BYTES_PER_TOKEN: u64 = 4;

/// The usage that is not recorded yet.
#[derive(Debug, Default)]
pub(super) struct UsageMeter {
    /// By earlier attempts.
    before: TokenUsage,
    /// By the current attempt, as reported by the provider.
    told: TokenUsage,
    is_told: bool,
    /// The bytes of the current attempt that have arrived.
    bytes: u64,
    is_whole: bool,
    /// What earlier attempts have cost in dollars, if the engine reports it.
    cost_before: Option<f64>,
    /// What the current attempt has cost, as it was reported last.
    cost: Option<f64>,
}

impl UsageMeter {
    pub(super) fn begin_attempt(&mut self) {
        let (before, cost_before) = (self.total(), self.cost());
        *self = Self { before, cost_before, ..Self::default() };
    }

    pub(super) fn count_piece(&mut self, piece: &AnswerPiece) {
        let bytes = match piece {
            AnswerPiece::Usage(usage) => {
                (self.told, self.is_told) = (*usage, true);
                0
            }
            AnswerPiece::Cost(dollars) => {
                self.cost = Some(*dollars);
                0
            }
            AnswerPiece::End(_) => {
                self.is_whole = true;
                0
            }
            AnswerPiece::Text(text) | AnswerPiece::Thinking(text) => text.len(),
            AnswerPiece::ToolUse { name, input, .. } => name.len() + input.get().len(),
            // The whole input comes once more with its call, and engines that run calls report
            // their usage.
            AnswerPiece::ToolInput { .. }
            | AnswerPiece::Signature(_)
            | AnswerPiece::Redacted(_)
            | AnswerPiece::OwnCall { .. }
            | AnswerPiece::OwnResult { .. }
            | AnswerPiece::ToolRejected { .. }
            | AnswerPiece::RoundEnd
            | AnswerPiece::LatestResponse(_)
            | AnswerPiece::EngineState(_) => 0,
        };
        self.bytes += bytes as u64;
    }

    pub(super) fn is_told(&self) -> bool {
        self.is_told
    }

    /// Returns the cost of all attempts in dollars, if the engine reports it.
    pub(super) fn cost(&self) -> Option<f64> {
        self.cost_before.into_iter().chain(self.cost).reduce(|before, cost| before + cost)
    }

    /// Returns what is known so far: what the provider has reported, or else an estimate.
    pub(super) fn so_far(&self) -> TokenUsage {
        if self.is_told { self.before + self.told } else { self.total() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.total() == TokenUsage::default()
    }

    pub(super) fn take_total(&mut self) -> TokenUsage {
        let total = self.total();
        *self = Self::default();
        total
    }

    /// Returns the total. The output of an answer that was cut off is estimated, since the provider
    /// reports it only at the end.
    fn total(&self) -> TokenUsage {
        let mut told = self.told;
        if !self.is_whole {
            told.output = told.output.max(self.bytes.div_ceil(BYTES_PER_TOKEN));
        }
        self.before + told
    }
}

#[cfg(test)]
mod tests;
