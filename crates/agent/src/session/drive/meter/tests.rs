//! What answers take.

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
