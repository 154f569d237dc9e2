//! The hash: no two contents share one, and it stays what it is.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

type Parts = (u64, i64, Vec<u8>, Option<Vec<u8>>, Vec<u8>, [u8; 32]);

fn hash((seq, at_ms, kind, question, body, previous): &Parts) -> [u8; 32] {
    let question = question.as_deref();
    hash_entry(previous, &EntryContent { seq: *seq, at_ms: *at_ms, kind, question, body })
}

fn parts(kind: &str, question: Option<&str>, body: &str) -> Parts {
    let question = question.map(|text| text.as_bytes().to_vec());
    (1, 2, kind.as_bytes().to_vec(), question, body.as_bytes().to_vec(), [0; 32])
}

#[test]
fn what_was_written_by_an_earlier_version_keeps_its_hash() {
    let check = |parts: &Parts, expected: Expect| {
        expected.assert_eq(&Sha256Hash(hash(parts)).to_string());
    };
    check(
        &parts("asked", Some("q"), "{}"),
        expect!["905381134ba36d36331377ec6fb6947f163bce3ff9fbfebb18597c7da43677d7"],
    );
    check(
        &parts("started", None, r#"{"version":"0.1.0"}"#),
        expect!["5f691ff78616c3ba61b2268be27b07bda2ab466867a5b76d03ef69ab69c91f50"],
    );
}

#[test]
fn bytes_that_move_from_one_part_to_another_change_the_hash() {
    let all = [
        parts("ab", Some("c"), "d"),
        parts("a", Some("bc"), "d"),
        parts("a", Some("b"), "cd"),
        parts("ab", None, "cd"),
        parts("ab", Some(""), "cd"),
        parts("abcd", None, ""),
        parts("", None, "abcd"),
        parts("", Some("abcd"), ""),
    ];
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            assert_ne!(hash(one), hash(other), "{one:?} {other:?}");
        }
    }
}

fn any_parts() -> impl Strategy<Value = Parts> {
    let bytes = || proptest::collection::vec(0_u8..3, 0..4);
    let question = proptest::option::of(bytes());
    (0_u64..3, 0_i64..3, bytes(), question, bytes(), (0_u8..3).prop_map(|byte| [byte; 32]))
}

proptest! {
    #[test]
    fn two_contents_have_one_hash_only_when_they_are_one(a in any_parts(), b in any_parts()) {
        prop_assert_eq!(hash(&a) == hash(&b), a == b);
    }

    #[test]
    fn a_head_is_read_as_it_was_written(seq: u64, hash: [u8; 32]) {
        let head = ChainHead { seq, hash };
        prop_assert_eq!(head.to_string().parse(), Ok(head));
    }
}

#[test]
fn what_is_no_head_is_refused() {
    let zeros = "0".repeat(64);
    for text in [
        "",
        "1",
        "1:",
        ":",
        "1:00",
        &format!("x:{zeros}"),
        &format!("+1:{zeros}"),
        &format!("-1:{zeros}"),
        &format!(":{zeros}"),
        &format!("1:{zeros}0"),
        &format!("1:+{}", &zeros[1..]),
        &format!("1:g{}", &zeros[1..]),
        &format!("1:ä{}", &zeros[2..]),
        &format!("99999999999999999999:{zeros}"),
    ] {
        assert_eq!(text.parse::<ChainHead>(), Err(NotAHead), "{text}");
    }
    assert_eq!(format!(" 0:{zeros}\n").parse(), Ok(ChainHead::NONE));
}
