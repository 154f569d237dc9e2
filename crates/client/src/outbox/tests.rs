//! Tests of the outbox.

use super::*;

#[test]
fn lines_that_nobody_waits_for_are_limited() {
    let mut outbox = LineOutbox::default();
    for _ in 0..2 * MOST_LINES {
        outbox.push(b"x\n".to_vec(), None, None);
    }
    outbox.push(b"y\n".to_vec(), Some(Arc::from("y")), None);
    assert_eq!(outbox.0.len(), MOST_LINES + 1);
    outbox.withdraw("y");
    assert_eq!(outbox.0.len(), MOST_LINES);
    let mut first = outbox.pop().unwrap();
    assert!(!first.mark_written(1));
    assert_eq!(first.rest(), b"\n");
    assert!(first.mark_written(1));
}
