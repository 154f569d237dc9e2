//! Missing numbers are asked for.

use super::SequenceVerdict::{Early, Missing, Repeated, Take};
use super::*;

#[test]
fn a_gap_is_asked_for_and_filled_in_order() {
    let mut numbers = SequenceNumbers::default();
    let steps = [(5, Take), (6, Take), (6, Repeated), (5, Repeated), (9, Missing(7))];
    for (seq, expected) in steps {
        assert_eq!(numbers.take_number(Some(seq)), expected, "{seq}");
    }
    numbers.start_replay("r".into(), 7, Duration::ZERO);
    assert!(numbers.is_replay("r") && !numbers.is_replay("s"));
    let steps = [(10, Early), (7, Take), (8, Take), (9, Take), (10, Take), (10, Repeated)];
    for (seq, expected) in steps {
        assert_eq!(numbers.take_number(Some(seq)), expected, "{seq}");
    }
    assert!(numbers.end_replay());
    assert_eq!(numbers.take_number(Some(12)), Missing(11));
    numbers.start_replay("s".into(), 11, Duration::ZERO);
    assert_eq!(numbers.take_number(Some(12)), Early);
    assert!(!numbers.end_replay());
}

#[test]
fn a_line_without_room_for_a_number_counts_as_one_or_none() {
    let mut numbers = SequenceNumbers::default();
    assert_eq!(numbers.take_number(Some(1)), Take);
    numbers.pass_one();
    assert_eq!(numbers.take_number(Some(3)), Take);
    numbers.pass_one();
    assert_eq!(numbers.take_number(Some(4)), Take);
    assert_eq!(numbers.take_number(Some(6)), Missing(5));
}

#[test]
fn no_number_is_too_large() {
    let mut numbers = SequenceNumbers::default();
    assert_eq!(numbers.take_number(Some(u64::MAX)), Take);
    assert_eq!(numbers.take_number(Some(u64::MAX)), Take);
    assert_eq!(numbers.take_number(Some(0)), Repeated);
    assert_eq!(numbers.take_number(None), Take);
}
