//! What answers take.

use super::*;
use crate::engine::ModelStop;

fn usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage { input, output, ..TokenUsage::default() }
}

#[test]
fn a_whole_answer_takes_what_its_provider_says() {
    let mut meter = UsageMeter::default();
    meter.count_piece(&AnswerPiece::Usage(usage(10, 1)));
    meter.count_piece(&AnswerPiece::Text("x".repeat(400)));
    meter.count_piece(&AnswerPiece::Usage(usage(10, 7)));
    meter.count_piece(&AnswerPiece::End(ModelStop::EndTurn));
    assert_eq!(meter.take_total(), usage(10, 7));
    assert_eq!(meter.take_total(), TokenUsage::default());
}

#[test]
fn an_answer_that_was_broken_off_takes_what_has_come() {
    let mut meter = UsageMeter::default();
    meter.count_piece(&AnswerPiece::Usage(usage(10, 1)));
    assert_eq!(meter.total(), usage(10, 1));
    meter.count_piece(&AnswerPiece::Thinking("x".repeat(399)));
    meter.count_piece(&AnswerPiece::Text("x".to_owned()));
    assert_eq!(meter.total(), usage(10, 100));
}

#[test]
fn the_last_cost_that_an_engine_reports_counts() {
    let mut meter = UsageMeter::default();
    assert!(meter.is_empty());
    meter.count_piece(&AnswerPiece::Cost(0.25));
    meter.count_piece(&AnswerPiece::Cost(0.5));
    meter.count_piece(&AnswerPiece::Usage(usage(10, 1)));
    assert!(!meter.is_empty());
    assert_eq!(meter.cost(), Some(0.5));
    meter.take_total();
    assert_eq!(meter.cost(), None);
}

#[test]
fn what_failed_attempts_have_cost_counts() {
    let mut meter = UsageMeter::default();
    meter.count_piece(&AnswerPiece::Cost(0.25));
    meter.begin_attempt();
    assert_eq!(meter.cost(), Some(0.25));
    meter.count_piece(&AnswerPiece::Cost(0.5));
    meter.count_piece(&AnswerPiece::Cost(0.75));
    assert_eq!(meter.cost(), Some(1.0));
    meter.begin_attempt();
    assert_eq!(meter.cost(), Some(1.0));
}

#[test]
fn attempts_that_failed_count() {
    let mut meter = UsageMeter::default();
    meter.count_piece(&AnswerPiece::Usage(usage(10, 1)));
    meter.begin_attempt();
    meter.count_piece(&AnswerPiece::Usage(usage(10, 2)));
    meter.begin_attempt();
    meter.count_piece(&AnswerPiece::Usage(usage(10, 5)));
    meter.count_piece(&AnswerPiece::End(ModelStop::EndTurn));
    assert_eq!(meter.take_total(), usage(30, 8));
}

#[test]
fn what_is_known_so_far_is_estimated_only_if_the_provider_says_nothing() {
    let mut meter = UsageMeter::default();
    meter.count_piece(&AnswerPiece::Text("x".repeat(40)));
    assert!(!meter.is_told());
    assert_eq!(meter.so_far(), usage(0, 10));
    meter.count_piece(&AnswerPiece::Usage(usage(0, 0)));
    assert!(meter.is_told());
    assert_eq!(meter.so_far(), usage(0, 0));
}
