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
fn the_last_cost_that_an_engine_reports_counts() {
    let mut meter = UsageMeter::default();
    assert!(meter.is_empty());
    meter.note(&AnswerPiece::Cost(0.25));
    meter.note(&AnswerPiece::Cost(0.5));
    meter.note(&AnswerPiece::Usage(usage(10, 1)));
    assert!(!meter.is_empty());
    assert_eq!(meter.cost(), Some(0.5));
    meter.take();
    assert_eq!(meter.cost(), None);
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

#[test]
fn what_is_known_so_far_is_estimated_only_if_the_provider_says_nothing() {
    let mut meter = UsageMeter::default();
    meter.note(&AnswerPiece::Text("x".repeat(40)));
    assert!(!meter.is_told());
    assert_eq!(meter.so_far(), usage(0, 10));
    meter.note(&AnswerPiece::Usage(usage(0, 0)));
    assert!(meter.is_told());
    assert_eq!(meter.so_far(), usage(0, 0));
}
