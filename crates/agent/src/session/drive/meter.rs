//! Counts what answers take. Pure.

use callgate_wire::session::TokenUsage;

use crate::engine::AnswerPiece;

/// So many bytes of an answer are a token, where the provider did not come to say how many it has.
const BYTES_PER_TOKEN: u64 = 4;

/// What was taken and is not written down yet.
#[derive(Debug, Default)]
pub(super) struct UsageMeter {
    /// By attempts before the present one.
    before: TokenUsage,
    /// By the present one, as far as the provider has said.
    told: TokenUsage,
    /// How many bytes of it have come.
    bytes: u64,
    is_whole: bool,
}

impl UsageMeter {
    /// Begins another attempt.
    pub(super) fn begin(&mut self) {
        let before = self.total();
        *self = Self { before, ..Self::default() };
    }

    /// Takes note of a piece of the answer.
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

    /// Returns all that was taken, and begins anew.
    pub(super) fn take(&mut self) -> TokenUsage {
        let total = self.total();
        *self = Self::default();
        total
    }

    /// Returns what an answer has written is told at its end. One that was broken off is paid for
    /// as well.
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
