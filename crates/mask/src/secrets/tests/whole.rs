//! What is shown, edited and put back as a whole.

use super::{check, check_json, mask_json, mask_text, shown};
use callgate_testkit::secrets::{SAMPLES, leak_in};

use crate::secrets::MOST_SPANS;

const INPUT: &str = "PASSWORD=hunter2 PGPASSWORD=hunter2 API_KEY=other1";

#[test]
fn the_same_secret_has_the_same_number() {
    let masked = mask_text(INPUT);
    let expected = "PASSWORD=[hidden 1: password] PGPASSWORD=[hidden 1: password] API_KEY=[hidden 2: password]";
    assert_eq!(shown(&masked), expected);
    assert_eq!(masked.hidden_count(), 3);
    assert_eq!(masked.into_shown(), expected);
}

#[test]
fn text_around_placeholders_may_be_edited() {
    let masked = mask_text(INPUT);
    let edited = shown(&masked).replace("PGPASSWORD", "MYSQL_PWD") + "; echo [done]";
    let restored = masked.restore(&edited).unwrap();
    assert_eq!(restored, "PASSWORD=hunter2 MYSQL_PWD=hunter2 API_KEY=other1; echo [done]");
}

#[test]
fn placeholders_cannot_be_edited() {
    let masked = mask_text(INPUT);
    let all = shown(&masked);
    for (edited, why) in [
        (all.replace("[hidden 2: password]", ""), "[hidden 2: password] was changed or removed"),
        (all.replace("[hidden 2", "[hidden 02"), "[hidden 02: password] is not one of them"),
        (
            all.replacen("[hidden 1: password]", "", 1),
            "[hidden 1: password] was changed or removed",
        ),
        (format!("{all} [hidden 2: password]"), "[hidden 2: password] occurs more often"),
        (format!("{all} [hidden 3: password]"), "[hidden 3: password] is not one of them"),
        (all.replace("2: password", "2: token"), "[hidden 2: token] is not one of them"),
        (
            all.replace("2: password", "2: pass word!"),
            "[hidden 2: password] was changed or removed",
        ),
    ] {
        let error = masked.restore(&edited).unwrap_err();
        assert!(error.to_string().starts_with("masked spans cannot be edited: "), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[test]
fn what_looks_like_a_placeholder_is_hidden_behind_one() {
    check(
        "PASSWORD=hunter2 [hidden 1: password]",
        "PASSWORD=[hidden 1: password] [hidden 2: password]",
    );
    check("[hidden 7: x] [hidden 7: x]", "[hidden 1: x] [hidden 1: x]");
    check("[hidden 7: x", "[hidden 7: x");
    check("[hidden 1: [hidden 1: a]]", "[hidden 1: [hidden 1: a]]");
    check_json(r#"["[hidden 4: \u0061]"]"#, r#"["[hidden 1: a]"]"#);
}

#[test]
fn originals_are_not_printed() {
    let masked = mask_text(INPUT);
    assert!(!format!("{masked:?} {masked:#?}").contains("hunter2"));
}

#[test]
fn json_strings_are_searched_and_stay_strings() {
    check_json(
        r#"{"command":"mysql -phunter2 \"x\"","timeout":5}"#,
        r#"{"command":"mysql -p[hidden 1: password] \"x\"","timeout":5}"#,
    );
    check_json(
        "{\"content\":\"A=1\\nDB_PASSWORD=\\\"hun\\\\\\\"ter2\\\"\\n\"}",
        "{\"content\":\"A=1\\nDB_PASSWORD=\\\"[hidden 1: password]\\\"\\n\"}",
    );
    check_json(
        r#"{"a":"\ud83d\ude00 PASSWORD=h\u00e9\u0069r9 \u00e9"}"#,
        r#"{"a":"\ud83d\ude00 PASSWORD=[hidden 1: password] \u00e9"}"#,
    );
    check_json(
        r#"{"body":"{\"password\":\"hunter2\"}"}"#,
        r#"{"body":"{\"password\":\"[hidden 1: password]\"}"}"#,
    );
    check_json(
        r#"{"passwords":["a","b"],"secrets":{"x":{"y":"c"}},"token":{"type":"t","value":"d"}}"#,
        r#"{"passwords":["[hidden 1: password]","[hidden 2: password]"],"secrets":{"x":{"y":"[hidden 3: password]"}},"token":{"type":"t","value":"[hidden 4: token]"}}"#,
    );
    check_json(
        r#"{"env":[{"name":"DB_PASSWORD","value":"x y"},{"name":"A","value":"b"}]}"#,
        r#"{"env":[{"name":"DB_PASSWORD","value":"[hidden 1: secret of several words]"},{"name":"A","value":"b"}]}"#,
    );
    check_json(
        r#"{"args":["tool","--password","x y","z"]}"#,
        r#"{"args":["tool","--password","[hidden 1: secret of several words]","z"]}"#,
    );
}

#[test]
fn what_is_not_json_is_masked_as_text() {
    let masked = mask_json("{\"password\": \"hunter2\",");
    assert_eq!(shown(&masked), "{\"password\": \"[hidden 1: password]\",");
}

#[test]
fn a_text_of_nothing_but_secrets_does_not_grow() {
    let lines: Vec<String> = (0..50_000).map(|n| format!("password=x{n}\n")).collect();
    let input = lines.concat();
    let masked = mask_text(&input);
    assert_eq!(masked.hidden_count(), MOST_SPANS + 1);
    assert!(shown(&masked).len() < input.len());
    assert!(
        shown(&masked).ends_with("password=[hidden 1001: the rest, with too many secrets to show]")
    );
    assert_eq!(masked.restore(shown(&masked)).unwrap(), input);

    let values: Vec<String> = (0..50_000).map(|n| format!("{{\"password\":\"x{n}\"}}")).collect();
    let input = format!("[{}]", values.join(","));
    let masked = mask_json(&input);
    assert_eq!(shown(&masked), "\"[hidden 1: the rest, with too many secrets to show]\"");
    assert_eq!(masked.restore(shown(&masked)).unwrap(), input);
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(mask_json(&deep).hidden_count(), 1);
}

#[test]
fn what_comes_after_too_many_of_one_kind_is_hidden_even_if_they_are_one_span() {
    let token = |n: usize| format!("ghp_{n:05}aB3dE6gH9jK2mN5pQ8sT1v");
    let tokens: Vec<String> = (0..MOST_SPANS + 100).map(token).collect();
    let masked = mask_text(&format!("PASSWORD={} and {}", tokens.join(","), token(99_999)));
    assert!(!shown(&masked).contains("99999"), "{masked:?}");
}

/// A longer secret around those that are too many must not pass for one that ends where the text
/// ends: whatever follows it would be hidden, and nobody would be told that it could run.
#[test]
fn what_hides_the_rest_of_a_text_is_called_so() {
    let token = |n: usize| format!("ghp_{n:05}aB3dE6gH9jK2mN5pQ8sT1v.");
    let tokens: String = (0..=MOST_SPANS).map(token).collect();
    let masked = mask_text(&format!("echo password={tokens}; rm -rf ~"));
    assert!(
        shown(&masked).ends_with("[hidden 1: the rest, with too many secrets to show]"),
        "{}",
        shown(&masked)
    );
}

#[test]
fn a_leak_of_a_sample_is_seen() {
    let sample = &SAMPLES[0];
    assert_eq!(leak_in(b"nothing here").map(|sample| sample.name), None);
    let leak = format!("…{}…", &sample.random[3..11]);
    assert_eq!(leak_in(leak.as_bytes()).map(|sample| sample.name), Some(sample.name));
}
