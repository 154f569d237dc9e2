//! Texts that everybody reads alike, and texts that they do not.

use super::*;

fn check(text: &str) -> Result<(), InexactJson> {
    check_exact(text, MOST_LEVELS)
}

/// Checks a text in every place of a JSON value.
fn everywhere(value: &str, expected: Result<(), InexactJson>) {
    let places = [
        value.to_owned(),
        format!(" [ {value} ] "),
        format!("{{\"a\":1,\"b\":{value}}}"),
        format!("{{\"a\":[{{\"b\":{value}}},2],\n\t\"c\":{value}}}"),
    ];
    for text in places {
        serde_json::from_str::<&serde_json::value::RawValue>(&text).unwrap();
        assert_eq!(check(&text), expected, "{text}");
    }
}

#[test]
fn half_of_a_surrogate_pair_is_refused() {
    for text in [
        r#""\ud800""#,
        r#""\uDFFF""#,
        r#""a \udbff b""#,
        r#""\ud83d\ud83d""#,
        r#""\ude00\ud83d""#,
        r#""\ud83d \ude00""#,
        r#""\ud83d\\ude00""#,
        r#""\\\ud800""#,
        r#""\ud83d\ude00\ude00""#,
        r#""\n\"\ud800""#,
        r#""\ud83d\u0041""#,
    ] {
        everywhere(text, Err(InexactJson::LoneSurrogate));
        assert_eq!(check(&format!("{{{text}:1}}")), Err(InexactJson::LoneSurrogate), "{text}");
    }
    for text in [
        r#""\ud83d\ude00""#,
        r#""\uD83D\uDE00\ud83d\ude00""#,
        r#""\\ud800""#,
        r#""\\\\udc00""#,
        r#""\\\u0041ud800""#,
        r#""\u0000\ufffd\ue000""#,
        r#""a path\\users\\dc00""#,
        "\"😀\"",
    ] {
        everywhere(text, Ok(()));
    }
}

#[test]
fn a_key_twice_in_one_object_is_refused() {
    let many: Vec<String> = (0..20).map(|at| format!("\"k{at}\":0")).collect();
    let many = many.join(",");
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"b":2,"a":3}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"":1,"":2}"#,
        r#"{"a":{"b":1},"c":[{"a":"a"}],"a":1}"#,
        r#"{ "a" : 1 , "a" : 2 }"#,
        &format!("{{{many},\"k7\":1}}"),
        &format!("{{\"z\":{{{many}}},\"y\":1,\"z\":1}}"),
    ] {
        everywhere(text, Err(InexactJson::RepeatedKey));
    }
    for text in [
        r#"{"a":1,"A":1,"b":{"a":1,"b":{"a":"a"}},"c":["a","a",{"a":1},{"a":1}]}"#,
        r#"["a","a"]"#,
        r#"{"a":"b","b":"a"}"#,
        &format!("{{\"a\":{{{many}}},\"b\":{{{many}}}}}"),
        "{}",
    ] {
        everywhere(text, Ok(()));
    }
}

#[test]
fn a_number_that_a_reader_would_round_is_refused() {
    for text in [
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0.1000000000000000055511151231257827",
        "12345678901234567890123",
        "-12345678901234567890123",
        "18446744073709551617",
        "3.14159265358979323846",
        "9007199254740993.0",
        "9007199254740993e0",
        "1.00000000000000001",
    ] {
        everywhere(text, Err(InexactJson::InexactNumber));
    }
    for text in [
        "0",
        "-0",
        "-0.0",
        "0.000",
        "0e99999999999999999999",
        "1.0",
        "1e3",
        "1E+3",
        "100.0e-2",
        "1.10",
        "0.1",
        "0.30000000000000004",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "123456789012345680000",
        "1e21",
        "1e+21",
        "5e-324",
        "1.7976931348623157e308",
        "123456.789",
        "1000000000000000000000000000000",
        "0.00000000000000000000000000000000000000001",
    ] {
        everywhere(text, Ok(()));
    }
}

#[test]
fn more_levels_than_are_read_are_refused() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(check(&nested(128)), Ok(()));
    assert_eq!(check(&nested(129)), Err(InexactJson::TooDeep(128)));
    assert_eq!(check(&nested(1_000_000)), Err(InexactJson::TooDeep(128)));
    let wide = format!("[{}[]]", "[],".repeat(1_000));
    assert_eq!(check(&wide), Ok(()));
    assert_eq!(check(&format!("\"{}\"", "[".repeat(1_000))), Ok(()));
    assert_eq!(check_exact(&nested(2), 1), Err(InexactJson::TooDeep(1)));
}

#[test]
fn text_that_is_not_json_does_no_harm() {
    for text in ["", "\"", "\"\\", "\"\\u", "\"\\ud8", "{\"a", "]}", "-", "1e", "\"😀\\ud83d\\u"]
    {
        for end in 0..=text.len() {
            if text.is_char_boundary(end) {
                let _ = check(&text[..end]);
            }
        }
    }
}

#[test]
fn long_texts_take_no_longer_than_their_length() {
    let keys: Vec<String> = (0..50_000).map(|at| format!("\"{at}\":0")).collect();
    assert_eq!(check(&format!("{{{}}}", keys.join(","))), Ok(()));
    assert_eq!(check(&format!("\"{}\"", "\\\\u".repeat(200_000))), Ok(()));
    let digits = "1234567890".repeat(100_000);
    assert_eq!(check(&digits), Err(InexactJson::InexactNumber));
}
