//! Searches in windows find the same as a search without them.

use proptest::prelude::*;

use super::*;

/// Ran for 40 seconds over a file of 9 MB.
const HARD: &str = "1[01]{1000}[^01]";

fn regex(pattern: &str) -> (Box<Regex>, SearchWindows) {
    match Needle::from_pattern(pattern, true, false).unwrap() {
        Needle::Regex(regex, windows) => (regex, windows),
        Needle::Plain(_) => unreachable!("it was to be a regular expression"),
    }
}

/// Returns all places where a match begins, each after the one before.
fn places(regex: &Regex, windows: SearchWindows, text: &[u8]) -> Vec<usize> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let NeedleResult::At(at) = windows.find(regex, text, from, &mut || true) {
        found.push(at);
        from = at + 1;
        if from > text.len() {
            break;
        }
    }
    found
}

#[test]
fn a_hard_pattern_is_searched_in_small_windows_and_can_be_stopped() {
    let (hard, windows) = regex(HARD);
    assert!(windows.step + windows.reach < 100_000, "{windows:?}");
    let text = b"1".repeat(9_000_000);
    for most in [0, 1, 3] {
        let mut asked = 0;
        let found = windows.find(&hard, &text, 0, &mut || {
            asked += 1;
            asked <= most
        });
        assert_eq!((found, asked), (NeedleResult::Stopped, most + 1));
    }
    let needle = Needle::from_pattern("needle", false, false).unwrap();
    assert_eq!(needle.find(b"needle", 0, || false), NeedleResult::Stopped);
}

#[test]
fn every_size_has_a_window() {
    let large = SearchWindows::for_size(REGEX_SIZE * 2);
    assert_eq!(large, SearchWindows { step: SHORTEST_REACH * WINDOW, reach: SHORTEST_REACH });
    assert_eq!(SearchWindows::for_size(0).reach, LONGEST_REACH);
    assert_eq!(SearchWindows::for_size(10_000).reach, 100_000);
}

#[test]
fn matches_at_the_edges_of_windows_are_found() {
    let (hard, _) = regex("1[01]{20}[^01]");
    let windows = SearchWindows { step: 8, reach: 24 };
    for before in 0..40 {
        let text = "x".repeat(before) + "1" + &"01".repeat(10) + "x";
        assert_eq!(places(&hard, windows, text.as_bytes()), [before], "{before}");
    }
    // What surrounds a window counts for the edges of words and lines.
    let windows = SearchWindows { step: 4, reach: 4 };
    for pattern in ["^b", "b$", r"\bb", r"b\b", r"\Ab", r"b\z"] {
        let (regex, whole) = regex(pattern);
        for text in ["abbbbbbbbbbbbbbba", "aaa\nbbb\r\naaa b\n", "bbbbbbbbb", "aaab\naaab\n"] {
            let found = places(&regex, windows, text.as_bytes());
            assert_eq!(found, places(&regex, whole, text.as_bytes()), "{pattern} in {text:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is no longer than a match may be is found in the same places as without
    /// windows.
    #[test]
    fn windows_change_nothing(
        text in "[ab\\n é]{0,120}",
        pattern in prop::sample::select(vec![
            "a", "b+", "a.?b", "^a", "b$", "a\\nb", r"\bb", "[^a]b", "(a|bb|\\n){2}", "é", "x*",
        ]),
        step in 1_usize..40,
    ) {
        let (regex, whole) = regex(pattern);
        let windows = SearchWindows { step, reach: 130 };
        prop_assert_eq!(
            places(&regex, windows, text.as_bytes()),
            places(&regex, whole, text.as_bytes())
        );
    }

    #[test]
    fn a_text_without_regard_to_case_is_taken_as_it_is(text in any::<String>()) {
        prop_assume!((1..=100).contains(&text.len()));
        let needle = Needle::from_pattern(&text, false, true).unwrap();
        let around = format!("-{text}-");
        prop_assert_eq!(needle.find(around.as_bytes(), 1, || true), NeedleResult::At(1));
    }
}
