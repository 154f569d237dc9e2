//! Patterns meet where trying every text finds that they do.

use proptest::prelude::*;

use super::*;

/// Returns a pattern in the letters of these tests: `+` is [`PatternToken::Cross`], `%` a shell's
/// first `*`, `!` a shell's first `?`, `#` digits.
fn toks(text: &str) -> Vec<PatternToken> {
    let toks = text.chars().flat_map(|c| match c {
        '*' => vec![PatternToken::Run],
        '?' => vec![PatternToken::One],
        '+' => vec![PatternToken::Cross],
        '%' => vec![PatternToken::Shy, PatternToken::Run],
        '!' => vec![PatternToken::ShyOne],
        '#' => vec![PatternToken::Digits],
        c => vec![PatternToken::Is(c)],
    });
    toks.collect()
}

fn check(one: &str, other: &str, expected: bool) {
    for (a, b) in [(one, other), (other, one)] {
        assert_eq!(
            can_meet(&toks(a), &toks(b), ComparisonBias::Strict),
            expected,
            "{a:?} and {b:?}"
        );
    }
}

#[test]
fn patterns_meet_where_one_text_fits_both() {
    check("", "", true);
    check("a", "a", true);
    check("a", "b", false);
    check("a", "A", false);
    check("ab", "a", false);
    check("*", "", true);
    check("*", "abc", true);
    check("*", "a/c", false);
    check("+", "a/c", true);
    check("a*c", "abbc", true);
    check("a*c", "abbd", false);
    check("a*", "*b", true);
    check("a*", "b*", false);
    check("a+b", "*/*", true);
    check("?", "", false);
    check("?", "x", true);
    check("?", "/", false);
    check("a?c", "*b*", true);
    check("%", ".claude", false);
    check("%", "claude", true);
    check("%", "", true);
    check(".%", ".claude", true);
    check("x/%", "x/.y", false);
    check("%b", "b", true);
    check("!claude", ".claude", false);
    check("!claude", "_claude", true);
    check("%", "*", true);
    check("%", "?", true);
}

#[test]
fn generous_means_any_case_and_anything_too_large() {
    assert!(can_meet(&literal_toks("RM"), &literal_toks("rm"), ComparisonBias::Generous));
    assert!(!can_meet(&literal_toks("RM"), &literal_toks("rm"), ComparisonBias::Strict));
    let (long, longer) = (vec![PatternToken::One; 3_000], vec![PatternToken::One; 3_001]);
    assert!(can_meet(&long, &longer, ComparisonBias::Generous));
    assert!(!can_meet(&long, &longer, ComparisonBias::Strict));
}

/// Says the same by trying, character by character.
fn fits(pattern: &[PatternToken], text: &[char]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return text.is_empty() };
    let one = |ok: fn(char) -> bool| {
        text.split_first().is_some_and(|(c, after)| ok(*c) && fits(rest, after))
    };
    match first {
        PatternToken::Is(c) => {
            text.split_first().is_some_and(|(d, after)| c == d && fits(rest, after))
        }
        PatternToken::One => one(|c| c != '/'),
        PatternToken::ShyOne => one(|c| c != '/' && c != '.'),
        PatternToken::Shy => fits(&rest[1..], text) || one(|c| c != '/' && c != '.'),
        PatternToken::Run | PatternToken::Cross | PatternToken::Beneath | PatternToken::Digits => {
            let can = |c: char| match first {
                PatternToken::Run => c != '/',
                PatternToken::Digits => c.is_ascii_digit(),
                _ => true,
            };
            fits(rest, text)
                || text.split_first().is_some_and(|(c, after)| can(*c) && fits(pattern, after))
        }
    }
}

proptest! {
    #[test]
    fn a_text_meets_a_pattern_as_it_fits_it(pattern in "[ab1./*?+%!#]{0,7}", text in "[ab1./]{0,7}") {
        let chars: Vec<char> = text.chars().collect();
        let expected = fits(&toks(&pattern), &chars);
        prop_assert_eq!(can_meet(&toks(&pattern), &literal_toks(&text), ComparisonBias::Strict), expected);
        prop_assert_eq!(can_meet(&literal_toks(&text), &toks(&pattern), ComparisonBias::Strict), expected);
    }

    #[test]
    fn patterns_that_share_a_text_meet(
        one in "[ab1./*?+%!#]{0,6}", other in "[ab1./*?+%!#]{0,6}", text in "[ab1./]{0,5}",
    ) {
        let chars: Vec<char> = text.chars().collect();
        if fits(&toks(&one), &chars) && fits(&toks(&other), &chars) {
            prop_assert!(can_meet(&toks(&one), &toks(&other), ComparisonBias::Strict));
        }
    }
}
