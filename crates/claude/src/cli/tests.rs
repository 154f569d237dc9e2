//! Tests of the version check.

use super::*;

#[test]
fn versions_are_compared_by_their_numbers() {
    for good in ["2.1.248", "2.1.325", "2.10.0", "3.0.0", "2.1.300-beta.1", "2.1.250 (Claude Code)"]
    {
        assert!(check_version(Some(good)).is_ok(), "{good}");
    }
    for bad in ["2.1.247", "2.0.999", "1.9.9", "0.0.1", "", "two"] {
        assert!(check_version(Some(bad)).is_err(), "{bad}");
    }
    let unknown = check_version(None).expect_err("no version");
    assert_eq!(
        unknown.to_string(),
        "the version of the Claude Code CLI is unknown, but at least 2.1.248 is needed: update it"
    );
}
