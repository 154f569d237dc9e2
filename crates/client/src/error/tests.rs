//! Tests of the error texts.

use super::*;

#[test]
fn errors_say_how_long() {
    let check = |after, expected: &str| {
        let error = ClientError::Idle { after: Duration::from_millis(after) };
        assert_eq!(error.to_string(), expected);
    };
    check(60_000, "no event for 60 s");
    check(1_500, "no event for 1.500 s");
    check(20, "no event for 20 ms");
}
