//! What a schema file must be, and what is left out of it.

use expect_test::{Expect, expect};

use super::Catalogue;

fn check(file: &str, expected: &Expect) {
    expected.assert_eq(&match Catalogue::from_schema_file(file.as_bytes()) {
        Ok((catalogue, left_out)) => {
            serde_json::from_str::<serde_json::Value>(&catalogue.tools).expect("JSON");
            assert!(!catalogue.tools.contains('\n'));
            let mut lines = vec![catalogue.tools.clone()];
            lines.extend(left_out);
            lines.join("\n")
        }
        Err(reason) => format!("error: {reason}"),
    });
}

#[test]
fn a_file_that_is_of_no_use_is_an_error() {
    check(
        "",
        &expect![
            "error: it is not a JSON array of tools: EOF while parsing a value at line 1 column 0"
        ],
    );
    check(
        "[{]",
        &expect!["error: it is not a JSON array of tools: key must be a string at line 1 column 3"],
    );
    check(
        r#"{"name":"a"}"#,
        &expect![
            "error: it is not a JSON array of tools: invalid type: map, expected a sequence at line 1 column 0"
        ],
    );
    let twice = r#"{"name":"a","input_schema":{"type":"object"}}"#;
    check(&format!("[{twice},{twice}]"), &expect![[r#"error: two tools are called "a""#]]);
    check("[]", &expect!["[]"]);
    let blank = |length: usize| format!("[{}]", " ".repeat(length - 2));
    check(&blank(8 * 1024 * 1024), &expect!["[]"]);
    check(&blank(8 * 1024 * 1024 + 1), &expect!["error: it is over the limit of 8388608 bytes"]);
}

#[test]
fn a_bad_tool_is_left_out_alone() {
    let good = r#"{"name":"good","input_schema":{"type":"object"}}"#;
    let check_bad = |bad: &str, expected: &Expect| {
        check(&format!("[{bad},{good}]"), expected);
    };
    let kept = r#"[{"name":"good","inputSchema":{"type":"object"}}]"#;
    for (bad, reason) in [
        ("null", "it is not an object"),
        ("\"x\"", "it is not an object"),
        ("{}", "its `name` is not a string"),
        (r#"{"name":null}"#, "its `name` is not a string"),
        (r#"{"name":""}"#, "its `name` is empty"),
    ] {
        let (catalogue, left_out) =
            Catalogue::from_schema_file(format!("[{bad},{good}]").as_bytes()).unwrap();
        assert_eq!(catalogue.tools, kept, "{bad}");
        assert_eq!(left_out, [format!("tool 1 is left out: {reason}")], "{bad}");
        assert!(catalogue.has("good") && !catalogue.has(""));
    }
    check_bad(
        r#"{"name":"bad","description":5,"input_schema":{"type":"object"}}"#,
        &expect![[r#"
            [{"name":"good","inputSchema":{"type":"object"}}]
            tool 1 is left out: "bad" has a `description` that is not a string"#]],
    );
    for schema in [
        "",
        r#","input_schema":null"#,
        r#","input_schema":{"type":"string"}"#,
        r#","input_schema":{"type":["object"]}"#,
    ] {
        check_bad(
            &format!(r#"{{"name":"bad"{schema}}}"#),
            &expect![[r#"
                [{"name":"good","inputSchema":{"type":"object"}}]
                tool 1 is left out: "bad" has an `input_schema` without `"type": "object"`"#]],
        );
    }
    for required in [r#""a""#, "[1]", "null", "true"] {
        check_bad(
            &format!(
                r#"{{"name":"bad","input_schema":{{"type":"object","required":{required}}}}}"#
            ),
            &expect![[r#"
                [{"name":"good","inputSchema":{"type":"object"}}]
                tool 1 is left out: "bad" has an `input_schema` whose `required` is not a list of names"#]],
        );
    }
    for properties in ["null", "[]", r#"{"a":"string"}"#, r#"{"a":null}"#] {
        check_bad(
            &format!(
                r#"{{"name":"bad","input_schema":{{"type":"object","properties":{properties}}}}}"#
            ),
            &expect![[r#"
                [{"name":"good","inputSchema":{"type":"object"}}]
                tool 1 is left out: "bad" has an `input_schema` whose `properties` are not an object of schemas"#]],
        );
    }
    check_bad(
        r#"{"name":"bad","input_schema":{"type":"object","$schema":4}}"#,
        &expect![[r#"
            [{"name":"good","inputSchema":{"type":"object"}}]
            tool 1 is left out: "bad" has an `input_schema` whose `$schema` is not a string"#]],
    );
}

#[test]
fn a_bad_optional_member_is_left_off_and_null_is_nothing() {
    let member = |member: &str| {
        format!(r#"[{{"name":"t","input_schema":{{"type":"object"}},{member},"own":[1]}}]"#)
    };
    let kept = r#"[{"name":"t","inputSchema":{"type":"object"},"own":[1]}]"#;
    for (bad, reason) in [
        (r#""title":5"#, "`title` is left off: it is not a string"),
        (r#""annotations":[]"#, "`annotations` is left off: it is not an object of hints"),
        (
            r#""annotations":{"readOnlyHint":"yes"}"#,
            "`annotations` is left off: it is not an object of hints",
        ),
        (
            r#""annotations":{"readOnlyHint":null}"#,
            "`annotations` is left off: it is not an object of hints",
        ),
        (r#""annotations":{"title":1}"#, "`annotations` is left off: it is not an object of hints"),
        (
            r#""output_schema":true"#,
            "`output_schema` is left off: it is not the schema of an object",
        ),
        (
            r#""output_schema":{"type":"array"}"#,
            "`output_schema` is left off: it is not the schema of an object",
        ),
        (r#""icons":"x""#, "`icons` is left off: it is not a list of icons"),
        (r#""icons":[{}]"#, "`icons` is left off: it is not a list of icons"),
        (
            r#""icons":[{"src":"a","sizes":"4x4"}]"#,
            "`icons` is left off: it is not a list of icons",
        ),
        (r#""icons":[{"src":"a","sizes":[4]}]"#, "`icons` is left off: it is not a list of icons"),
        (
            r#""icons":[{"src":"a","theme":"blue"}]"#,
            "`icons` is left off: it is not a list of icons",
        ),
        (r#""icons":[{"src":"a","mimeType":1}]"#, "`icons` is left off: it is not a list of icons"),
        (r#""_meta":[]"#, "`_meta` is left off: it is not an object"),
    ] {
        let (catalogue, left_out) = Catalogue::from_schema_file(member(bad).as_bytes()).unwrap();
        assert_eq!(catalogue.tools, kept, "{bad}");
        assert_eq!(left_out, [format!("tool \"t\": {reason}")], "{bad}");
    }
    for nothing in ["title", "annotations", "output_schema", "icons", "_meta", "description"] {
        let file = member(&format!(r#""{nothing}":null"#));
        let (catalogue, left_out) = Catalogue::from_schema_file(file.as_bytes()).unwrap();
        assert_eq!((catalogue.tools.as_str(), left_out.len()), (kept, 0), "{nothing}");
    }
    check(
        &member(r#""inputSchema":1,"name":"second","own":2"#),
        &expect![[r#"[{"name":"t","inputSchema":{"type":"object"},"own":2}]"#]],
    );
    check(
        &member(r#""execution":{"taskSupport":"maybe"}"#),
        &expect![[r#"[{"name":"t","inputSchema":{"type":"object"},"own":[1]}]"#]],
    );
}

#[test]
fn good_optional_members_are_passed_on() {
    check(
        r#"[{"name":"t","input_schema":{"type":"object","properties":{"z":true,"a":{}},"required":["z"],"$schema":"s"},
            "title":"T","output_schema":{"type":"object",
            "required":[]},"annotations":{"title":"x","readOnlyHint":false,"own":5},
            "icons":[{"src":"a","mimeType":"image/png","sizes":["4x4"],"theme":"light"},{"src":"b","theme":"dark"}],"_meta":{"k":null}}]"#,
        &expect![[
            r#"[{"name":"t","inputSchema":{"type":"object","properties":{"z":true,"a":{}},"required":["z"],"$schema":"s"},"title":"T","outputSchema":{"type":"object",             "required":[]},"annotations":{"title":"x","readOnlyHint":false,"own":5},"icons":[{"src":"a","mimeType":"image/png","sizes":["4x4"],"theme":"light"},{"src":"b","theme":"dark"}],"_meta":{"k":null}}]"#
        ]],
    );
}

#[test]
fn a_schema_of_arguments_is_that_of_an_object() {
    check(
        r#"[{"name":"a","input_schema":{ }},{"name":"b","input_schema":{ "required":["x"]}}]"#,
        &expect![[
            r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object","required":["x"]}}]"#
        ]],
    );
}

#[test]
fn nothing_left_of_some_tools_is_an_error() {
    check(
        "[{}]",
        &expect![
            "error: none of its tools can be offered: tool 1 is left out: its `name` is not a string"
        ],
    );
}

#[test]
fn arguments_are_checked_where_there_is_something_to_check() {
    let file = r#"[
        {"name":"add","input_schema":{"properties":{"a":{"type":"integer"}},"required":["a"]}},
        {"name":"open","input_schema":{"type":"object"}},
        {"name":"hard","input_schema":{"type":"object","patternProperties":{"^x":{"type":"string"}}}},
        {"name":"odd","input_schema":{"type":"object","$ref":"https://example.com/schema"}}
    ]"#;
    let (catalogue, _) = Catalogue::from_schema_file(file.as_bytes()).expect("a catalogue");
    let deep = format!(r#"{{"a":1,"b":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for (name, arguments, is_good) in [
        ("add", r#"{"a":7}"#, true),
        ("add", r#"{"a":"7; rm"}"#, false),
        ("add", "{}", false),
        ("add", &deep, false),
        ("open", &deep, true),
        ("hard", r#"{"x1":"a"}"#, true),
        ("hard", r#"{"x1":1}"#, false),
        // What cannot be checked here is left to the host.
        ("odd", r#"{"a":1}"#, true),
    ] {
        let checked = catalogue.check_arguments(name, arguments);
        assert_eq!(checked.is_ok(), is_good, "{name} {checked:?}");
    }
    let reason = catalogue.check_arguments("add", r#"{"a":"7; rm"}"#).expect_err("no integer");
    assert!(reason.starts_with("the arguments of \"add\" do not fit: /a: "), "{reason}");
}
