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
    /// The bytes of the current attempt that have arrived.
    bytes: u64,
    is_whole: bool,
}

impl UsageMeter {
    /// Begins another attempt.
    pub(super) fn begin(&mut self) {
        let before = self.total();
        *self = Self { before, ..Self::default() };
    }

    /// Counts a piece of the answer.
    pub(super) fn note(&mut self, piece: &AnswerPiece) {
        let bytes = match piece {
            AnswerPiece::Usage(usage) => {
                self.told = *usage;
                0
            }
            AnswerPiece::End(_) => {
                self.is_whole = true;
                0
            }
            AnswerPiece::Text(text) | AnswerPiece::Thinking(text) => text.len(),
            AnswerPiece::ToolUse { name, input, .. } => name.len() + input.get().len(),
            AnswerPiece::Signature(_) | AnswerPiece::Redacted(_) => 0,
        };
        self.bytes += bytes as u64;
    }

    /// Returns the total and resets the meter.
    pub(super) fn take(&mut self) -> TokenUsage {
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
mod tests {
    use super::*;
    use crate::engine::ModelStop;

    fn usage(input: u64, output: u64) -> TokenUsage {
        TokenUsage { input, output, ..TokenUsage::default() }
    }

    #[test]
    fn a_whole_answer_takes_what_its_provider_says() {
        let mut meter = UsageMeter::default();
        meter.note(&AnswerPiece::Usage(usage(10, 1)));
        meter.note(&AnswerPiece::Text("x".repeat(400)));
        meter.note(&AnswerPiece::Usage(usage(10, 7)));
        meter.note(&AnswerPiece::End(ModelStop::EndTurn));
        assert_eq!(meter.take(), usage(10, 7));
        assert_eq!(meter.take(), TokenUsage::default());
    }

    #[test]
    fn an_answer_that_was_broken_off_takes_what_has_come() {
        let mut meter = UsageMeter::default();
        meter.note(&AnswerPiece::Usage(usage(10, 1)));
        assert_eq!(meter.total(), usage(10, 1));
        meter.note(&AnswerPiece::Thinking("x".repeat(399)));
        meter.note(&AnswerPiece::Text("x".to_owned()));
        assert_eq!(meter.total(), usage(10, 100));
    }

    #[test]
    fn attempts_that_failed_count() {
        let mut meter = UsageMeter::default();
        meter.note(&AnswerPiece::Usage(usage(10, 1)));
        meter.begin();
        meter.note(&AnswerPiece::Usage(usage(10, 2)));
        meter.begin();
        meter.note(&AnswerPiece::Usage(usage(10, 5)));
        meter.note(&AnswerPiece::End(ModelStop::EndTurn));
        assert_eq!(meter.take(), usage(30, 8));
    }
}
