//! What patterns match, what they cost, and which are refused.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::EcmaPattern;
use crate::schema::budget::StepBudget;

fn is_match(pattern: &str, text: &str) -> bool {
    let pattern =
        EcmaPattern::from_source(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    pattern.is_match(text, &StepBudget::for_value(&json!(text))).expect("a match within the budget")
}

#[test]
fn patterns_match_as_in_ecmascript() {
    for (pattern, matching, others) in [
        ("", vec!["", "a"], vec![]),
        ("a", vec!["a", "bab"], vec!["", "b", "A"]),
        ("^a$", vec!["a"], vec!["a\n", "ba"]),
        (".", vec!["a", "ö", "\u{85}"], vec!["\n", "\r", "\u{2028}", ""]),
        ("^[^]$", vec!["\n", "a"], vec!["", "ab"]),
        ("[]", vec![], vec!["", "a", "]"]),
        (r"^\d+$", vec!["12"], vec!["١", "a"]),
        (r"^\w$", vec!["a", "_"], vec!["é", "-"]),
        (r"^\s$", vec![" ", "\u{feff}", "\u{2003}", "\n"], vec!["a", "\u{200b}"]),
        (r"^\S$", vec!["a"], vec![" "]),
        (r"\bfoo\b", vec!["a foo b", "foo"], vec!["food", "éfoo1"]),
        (r"^a\B", vec!["ab"], vec!["a", "a b"]),
        ("^a{2,3}$", vec!["aa", "aaa"], vec!["a", "aaaa"]),
        ("^a{2}$", vec!["aa"], vec!["a", "aaa"]),
        ("^a{2,}$", vec!["aa", "aaaaa"], vec!["a"]),
        ("^(ab){2}$", vec!["abab"], vec!["ab", "ababab"]),
        ("^a{,2}$", vec!["a{,2}"], vec!["aa"]),
        ("^{}$", vec!["{}"], vec![""]),
        ("^(a|bc)*?$", vec!["", "abca"], vec!["b"]),
        ("^(a*)*$", vec!["", "aaa"], vec!["b"]),
        ("^(|a)+b$", vec!["b", "aab"], vec!["a"]),
        (r"^(a|b)\1$", vec!["aa", "bb"], vec!["ab"]),
        (r"^(?<x>.)(?<y>.)\k<y>\k<x>$", vec!["abba"], vec!["abab"]),
        (r"^\1(a)$", vec!["a"], vec!["aa"]),
        ("^(?!ab)a", vec!["ac", "a"], vec!["ab"]),
        ("^(?=.*[0-9])(?=.*[a-z]).{3,}$", vec!["a1b"], vec!["abc", "123", "a1"]),
        ("(?<=a)b", vec!["ab"], vec!["cb", "b"]),
        ("(?<!a)b", vec!["cb", "b"], vec!["ab"]),
        ("(?<=^a{1,3})b", vec!["aab"], vec!["aaaab", "b"]),
        (r"^(?=(a+))\1b$", vec!["aab"], vec!["aa"]),
        ("[a-c-e]", vec!["b", "-", "e"], vec!["d"]),
        (r"^[\w-]+$", vec!["a-b"], vec!["a.b"]),
        (r"^[\d-x]$", vec!["1", "-", "x"], vec!["a"]),
        (r"^[\b]$", vec!["\u{8}"], vec!["b"]),
        ("^[[a]$", vec!["[", "a"], vec!["]"]),
        ("^[a&&b]$", vec!["a", "&", "b"], vec!["c"]),
        (r"^\u0061\x62\cJ\t\0$", vec!["ab\n\t\0"], vec!["ab"]),
        (r"^\uD83D\uDC32$", vec!["🐲"], vec!["a"]),
        (r"^\u{1F432}*$", vec!["", "🐲🐲"], vec!["a"]),
        (r"^\p{L}+$", vec!["äß字"], vec!["a1"]),
        (r"^\p{Script=Greek}$", vec!["λ"], vec!["l"]),
        (r"^[^\P{Lu}]$", vec!["Ä"], vec!["ä"]),
        (r"^(\p{Extended_Pictographic}|\p{Emoji_Component})+$", vec!["😀"], vec!["a"]),
        (r"^\/\-\.\@\ $", vec!["/-.@ "], vec![""]),
        // What schemas made in other languages have.
        (r"\Aa\z", vec!["a"], vec!["ab", "ba"]),
        ("^(?i)aÄ[x-z]$", vec!["AäY", "aÄx"], vec!["bäy"]),
        ("^(?i:a)b$", vec!["Ab"], vec!["AB"]),
        ("(?P<year>[0-9]{4})", vec!["2026"], vec!["26"]),
        ("(?s)^.$", vec!["\n"], vec![""]),
        ("(?m)^b$", vec!["a\nb"], vec!["ab"]),
        (r"(?i)^(a)\1$", vec!["aA"], vec!["ab"]),
    ] {
        for text in matching {
            assert!(is_match(pattern, text), "{pattern} {text:?}");
        }
        for text in others {
            assert!(!is_match(pattern, text), "{pattern} {text:?}");
        }
    }
}

/// The patterns that a popular generator of schemas writes for its formats.
#[test]
fn patterns_of_generated_schemas_match() {
    let email = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
    let date = r"^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))$";
    let base64 = r"^$|^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$";
    for (pattern, good, bad) in [
        (email, "a.b+c@example.org", "a..b@example.org"),
        (date, "2024-02-29", "2023-02-29"),
        (base64, "aGk=", "aGk"),
    ] {
        assert!(is_match(pattern, good) && !is_match(pattern, bad), "{pattern}");
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    for (pattern, reason) in [
        ("(", "a `)` is missing"),
        (")", "closes no group"),
        ("[a", "a `]` is missing"),
        ("[b-a]", "ends before it begins"),
        ("a{2,1}", "ends before it begins"),
        ("*a", "nothing that `*` could repeat"),
        ("a**", "cannot be repeated"),
        ("^*", "cannot be repeated"),
        (r"\", "ends with a backslash"),
        (r"\y", r"the escape `\y` is unknown"),
        (r"\2(a)", "there is no group 2"),
        (r"\k<b>(?<a>)", "there is no group \"b\""),
        (r"\p{Nothing}", "the property \"Nothing\" is unknown"),
        (r"\p{L}}(?x)", "something unknown"),
        (r"\u12", "not a hexadecimal number"),
        (r"\u{110000}", "there is no character"),
        ("a{9999999}", "repetitions"),
        ("(((a{50}b){50}c){50}d){50}", "too large"),
        (&"(".repeat(1000), "nested deeper"),
    ] {
        let error = EcmaPattern::from_source(pattern).expect_err(pattern);
        assert!(error.contains(reason), "{pattern}: {error}");
    }
}

/// A backtracking engine would need more than the age of the universe for each of these.
#[test]
fn a_hopeless_text_costs_little() {
    let text = format!("{}!", "a".repeat(20_000));
    for pattern in ["^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(?=(a|aa)+$)", "(?:a?){50}a{50}b", "(.*)*x"]
    {
        let pattern = EcmaPattern::from_source(pattern).expect("a pattern");
        assert_eq!(pattern.is_match(&text, &StepBudget::for_value(&json!(text))), Ok(false));
    }
}

#[test]
fn what_costs_too_much_is_given_up() {
    let pattern = EcmaPattern::from_source(r"^(a+)+\1$").expect("a pattern");
    let text = format!("{}!", "a".repeat(200));
    assert!(pattern.is_match(&text, &StepBudget::for_value(&json!(text))).is_err());
}

/// Returns patterns that the library reads, too, and reads in the same way.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "a", "b", ".", "[ab]", "[^a]", r"\d", r"\W", r"\s", "^", "$", r"\b", "", "[a-c1]", "ö",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 12, 3, |inner| {
        let group = inner.clone().prop_map(|it| format!("({it})"));
        let repeat = (inner.clone(), select(vec!["*", "+", "?", "*?", "{2}", "{1,3}", "{2,}"]))
            .prop_map(|(it, count)| format!("(?:{it}){count}"));
        let look = (inner.clone(), select(vec!["?=", "?!", "?<!", "?<="]))
            .prop_map(|(it, kind)| format!("({kind}{it})"));
        prop_oneof![
            2 => (inner.clone(), inner.clone()).prop_map(|(one, other)| one + &other),
            1 => (inner.clone(), inner).prop_map(|(one, other)| format!("{one}|{other}")),
            1 => group,
            2 => repeat,
            1 => look,
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patterns_agree_with_the_library(pattern in pattern(), texts in prop::collection::vec("[ab1 ]{0,6}", 8)) {
        let Ok(library) = jsonschema::options().build(&json!({"pattern": pattern})) else {
            return Ok(());
        };
        for text in texts {
            prop_assert_eq!(is_match(&pattern, &text), library.is_valid(&json!(text)), "{} {:?}", pattern, text);
        }
    }
}
