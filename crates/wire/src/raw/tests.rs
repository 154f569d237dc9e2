//! The cutter against a parser: what one takes the other takes, and they find the same.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Both have to agree on whether `text` is JSON, and on its members.
fn check(text: &str) {
    let parsed = serde_json::from_str::<&RawValue>(text);
    let cut = Json::from_text(text);
    assert_eq!(cut.is_ok(), parsed.is_ok(), "{text:?}: {cut:?}, {parsed:?}");
    let (Ok(cut), Ok(parsed)) = (cut, parsed) else { return };
    assert_eq!(cut.get(), parsed.get());
    assert_eq!(cut.to_string(), parsed.get());
    assert_eq!(cut, Json::from(parsed));
    assert_eq!(cut.to_boxed().map(|value| value.get().to_owned()).as_deref(), Some(cut.get()));
    if let Ok(Value::Object(values)) = serde_json::from_str(text) {
        let members = Members::from_text(text).expect("the members of an object");
        assert!(values.iter().all(|(name, _)| members.get(name).is_some()), "{text:?}");
        assert!(members.0.iter().all(|(name, _)| values.contains_key(&**name)), "{text:?}");
    }
}

#[test]
fn well_formed_values_are_taken_whole() {
    for text in [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "10",
        "-1.5e+10",
        "1E5",
        "2e-3",
        "\"\"",
        "\"a\"",
        r#""\"\\\/\b\f\n\r\t\u00e9\ud83c""#,
        r#""\\""#,
        r#""\\\"""#,
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,[2,{}],{\"a\":[]}]",
        " { \"a\" : 1 , \"b\" : [ true , null ] } ",
        "\t\r\n[1]\n",
        "{\"a\":{\"b\":{\"c\":\"}\"}}}",
        "{\"\":\"\",\"a\":\"\\\"\"}",
        "\"é🎈\u{7f}\u{2028}\"",
    ] {
        assert!(Json::from_text(text).is_ok(), "{text}");
        check(text);
    }
}

#[test]
fn everything_else_is_refused() {
    for text in [
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "--1",
        "NaN",
        "Infinity",
        "-Infinity",
        "\"",
        "\"\\\"",
        "\"\\q\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"\t\"",
        "\"\u{0}\"",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        "{",
        "}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1]",
        "1 2",
        "{}{}",
        "[]]",
        "'a'",
        "\u{feff}1",
        "\u{a0}1",
        "{\"a\":1,\"b\"}",
        "{,}",
        "tru\u{0}",
    ] {
        assert!(Json::from_text(text).is_err(), "{text:?}");
        check(text);
    }
}

#[test]
fn a_key_may_be_escaped_and_the_first_of_two_counts() {
    let members = Members::from_text(r#"{"\u0061\n":1,"b":2,"b":3,"n":null,"s":"x\ty"}"#).unwrap();
    assert_eq!(members.get("a\n").map(Json::get), Some("1"));
    assert_eq!(members.get("b").map(Json::get), Some("2"));
    assert_eq!(members.get("c"), None);
    assert!(members.get("n").is_some_and(Json::is_null) && members.get_non_null("n").is_none());
    assert_eq!(members.string("s").as_deref(), Some("x\ty"));
    assert_eq!(members.string("b"), None);
    let half = Members::from_text(r#"{"\udc00":1}"#).unwrap();
    assert_eq!(half.get(r"\udc00").map(Json::get), Some("1"));
}

#[test]
fn an_inner_object_is_cut_too() {
    let text = r#"{"p":{"a":1},"q":{"p":{"x":1}},"p":{"b":2}}"#;
    let (members, inner) = Members::read_with(text, "p").unwrap();
    assert_eq!(members.get("p").map(Json::get), Some(r#"{"a":1}"#));
    assert_eq!(inner.unwrap().get("a").map(Json::get), Some("1"));
    for other in [r#"{"p":5,"p":{}}"#, r#"{"p":[1]}"#, r#"{"p":null}"#, r#"{"q":1}"#] {
        assert!(Members::read_with(other, "p").unwrap().1.is_none(), "{other}");
    }
    assert!(Members::read_with(r#"{"p":{"a":}}"#, "p").is_err());
}

#[test]
fn what_could_be_read_of_the_rest_is_told() {
    assert_eq!(Members::from_text("{\"a\":1 x").unwrap_err().bytes_read, 7);
    assert_eq!(Members::from_text("[]").unwrap_err().bytes_read, 0);
    let error = Members::from_text("{} x").unwrap_err();
    assert_eq!(error.bytes_read, 3);
    assert_eq!(error.to_string(), "it is not a JSON object (read 3 bytes of it)");
}

#[test]
fn any_depth_will_do() {
    let deep = format!("{}{}", "[{\"a\":".repeat(200_000), "1");
    assert!(Json::from_text(&deep).is_err());
    let deep = format!("{deep}{}", "}]".repeat(200_000));
    assert_eq!(Json::from_text(&deep).unwrap().get(), deep);
}

#[test]
fn kinds_are_told_by_their_first_letter() {
    let json = |text| Json::from_text(text).unwrap();
    assert!(json("{}").is_object() && !json("[]").is_object());
    assert!(json("\"a\"").is_id() && json("-1").is_id() && json("7").is_id());
    assert!(!json("null").is_id() && !json("[]").is_id() && !json("true").is_id());
}

#[test]
fn a_value_is_put_on_one_line() {
    let mut space = String::new();
    assert_eq!(Json::from_text("[1, 2]").unwrap().on_one_line(&mut space).get(), "[1, 2]");
    assert_eq!(space, "");
    let two = Json::from_text("[1,\r\n\"\\n\"]").unwrap();
    assert_eq!(two.on_one_line(&mut space).get(), "[1,  \"\\n\"]");
}

#[test]
fn only_an_object_has_members() {
    for (text, expected) in [
        ("{}", &[][..]),
        (r#"{"a":1,"b":[2]}"#, &[("a", "1"), ("b", "[2]")]),
        ("[1]", &[]),
        ("\"a\"", &[]),
        ("null", &[]),
    ] {
        let members = Json::from_text(text).unwrap().members();
        let members: Vec<_> =
            members.0.iter().map(|(name, value)| (&**name, value.get())).collect();
        assert_eq!(members, expected, "{text}");
    }
}

#[test]
fn quoting_escapes_what_a_string_must_not_hold() {
    for (text, expected) in [("", r#""""#), ("é", r#""é""#), ("a\"\\\n", r#""a\"\\\n""#)] {
        assert_eq!(json_string(text), expected);
    }
}

#[test]
fn flattening_changes_only_line_ends() {
    let mut text = b"\n{\r\n\"a\": \"b\\n\"\n}".to_vec();
    flatten_json(&mut text);
    assert_eq!(text, b" {  \"a\": \"b\\n\" }");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_byte_that_no_string_contains_is_found_anywhere(
        text in prop::collection::vec(prop_oneof![0x20..0x23_u8, 0x7e..0xa2_u8], 0..200),
        control in prop::option::of((any::<prop::sample::Index>(), 0..0x20_u8)),
    ) {
        let mut text = text;
        if let Some((at, byte)) = control {
            text.insert(at.index(text.len() + 1), byte);
        }
        prop_assert_eq!(cut::has_control(&text), control.is_some());
    }

    #[test]
    fn the_cutter_agrees_with_the_parser_on_near_json(
        text in r#"[\[\]{},: "\\untrue0123.eE+\-a\n\t]{0,24}"#,
    ) {
        check(&text);
    }

    #[test]
    fn the_cutter_agrees_with_the_parser_on_mutated_json(
        keys in prop::collection::vec("[a-c\"\\\\é\n]{0,4}", 0..4),
        numbers in prop::collection::vec(any::<f64>(), 0..3),
        at in any::<prop::sample::Index>(),
        byte in r#"[\[\]{},:"\\ 0-9a-z\n]"#,
    ) {
        let value = serde_json::json!({"k": keys, "n": numbers, "o": {keys.concat(): [null, true]}});
        let mut text = value.to_string();
        check(&text);
        let at = at.index(text.len());
        if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
            text.replace_range(at..=at, &byte);
        }
        check(&text);
    }
}
