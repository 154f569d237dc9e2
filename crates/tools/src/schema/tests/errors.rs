//! What is said of values that do not fit, and of schemas that cannot be used.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::schema::SchemaChecker;

fn checker(schema: &Value) -> SchemaChecker {
    SchemaChecker::new(schema, "schema").unwrap_or_else(|reason| panic!("{reason}"))
}

fn check(schema: &Value, value: &Value, expected: &Expect) {
    expected.assert_eq(&checker(schema).errors(value).unwrap_or_default());
}

fn refusal(schema: &Value) -> String {
    let reason = SchemaChecker::new(schema, "schema").expect_err("a refusal");
    reason.strip_prefix("`schema` is no JSON Schema: ").expect("the member").to_owned()
}

#[test]
fn each_rule_has_its_words() {
    for (schema, value, expected) in [
        (json!(false), json!(1), "1 is not allowed here"),
        (json!({"type": "integer"}), json!("7; rm"), r#""7; rm" is not of type "integer""#),
        (
            json!({"type": ["null", "string"]}),
            json!([1]),
            r#"[1] is not of types "null", "string""#,
        ),
        (json!({"enum": ["a", 1]}), json!("b"), r#""b" is not one of "a", 1"#),
        (json!({"const": {"a": 1}}), json!(2), r#"2 is not {"a":1}"#),
        (json!({"minimum": 1}), json!(0.5), "0.5 is less than the minimum of 1"),
        (json!({"maximum": 1}), json!(2), "2 is greater than the maximum of 1"),
        (json!({"exclusiveMinimum": 1}), json!(1), "1 is not greater than 1"),
        (json!({"exclusiveMaximum": 1}), json!(1.0), "1.0 is not less than 1"),
        (json!({"multipleOf": 0.1}), json!(0.25), "0.25 is not a multiple of 0.1"),
        (json!({"minLength": 2}), json!("ü"), r#""ü" needs at least 2 characters"#),
        (json!({"maxLength": 1}), json!("ab"), r#""ab" needs at most 1 character"#),
        (json!({"minItems": 2, "maxItems": 2}), json!([]), "[] needs 2 items"),
        (json!({"minItems": 1, "maxItems": 2}), json!([]), "[] needs 1 to 2 items"),
        (json!({"minProperties": 1}), json!({}), "{} needs at least 1 property"),
        (json!({"pattern": "^a"}), json!("b"), r#""b" does not match "^a""#),
        (json!({"uniqueItems": true}), json!([1, 1.0]), "[1,1.0] has equal items"),
        (
            json!({"contains": {"type": "null"}}),
            json!([1]),
            "[1] needs at least 1 item of a certain kind",
        ),
        (json!({"items": {"type": "null"}}), json!([null, 1]), r#"/1: 1 is not of type "null""#),
        (
            json!({"prefixItems": [true], "items": false}),
            json!([1, 2]),
            "/1: 2 is not allowed here",
        ),
        (
            json!({"properties": {"a/~b": {"type": "null"}}}),
            json!({"a/~b": 1}),
            r#"/a~1~0b: 1 is not of type "null""#,
        ),
        (json!({"required": ["a"]}), json!({}), r#""a" is a required property"#),
        (
            json!({"additionalProperties": false}),
            json!({"a": 1, "b": 2}),
            r#""a", "b" are not allowed here"#,
        ),
        (
            json!({"properties": {"a": true}, "unevaluatedProperties": false}),
            json!({"a": 1, "b": 2}),
            r#""b" is not allowed here"#,
        ),
        (
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"ab": 1}),
            r#"{"ab":1} has a property whose name is not allowed"#,
        ),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"a": 1}),
            r#"{"a":1} lacks a property that another one of it requires"#,
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({"a": 1}),
            r#""b" is a required property"#,
        ),
        (json!({"not": {"type": "null"}}), json!(null), "null is of a form that is not allowed"),
        (
            json!({"if": {"type": "null"}, "else": {"type": "string"}}),
            json!(1),
            r#"1 is not of type "string""#,
        ),
        (
            json!({"anyOf": [{"minimum": 2}, {"const": 0}]}),
            json!(1),
            "1 is less than the minimum of 2",
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            json!(1),
            "1 fits none of the allowed forms",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"maximum": 1}]}),
            json!(1),
            "1 does not fit exactly one of the allowed forms",
        ),
        (json!({"unevaluatedItems": false}), json!([1]), "[1] has an item that is not allowed"),
    ] {
        assert_eq!(checker(&schema).errors(&value).as_deref(), Some(expected), "{schema}");
    }
}

/// Of an optional value, and of variants that differ in a tag, only the one that is meant counts.
#[test]
fn errors_are_those_of_the_form_that_is_meant() {
    let schema = json!({
        "oneOf": [
            {"$ref": "#/$defs/cash"},
            {"type": "object", "properties": {"by": {"const": "card"}, "number": {"type": "string"}},
             "required": ["by", "number"]},
        ],
        "$defs": {"cash": {"type": "object", "properties": {"by": {"const": "cash"}}}},
    });
    check(&schema, &json!({"by": "card"}), &expect![[r#""number" is a required property"#]]);
    check(
        &schema,
        &json!({"by": "card", "number": 1}),
        &expect![[r#"/number: 1 is not of type "string""#]],
    );
    let optional =
        json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "integer"}}]});
    check(&optional, &json!([1, "2"]), &expect![[r#"/1: "2" is not of type "integer""#]]);
}

#[test]
fn errors_are_few_and_short() {
    let schema = json!({"items": {"type": "string"}});
    check(
        &schema,
        &json!(vec![1; 100_000]),
        &expect![[
            r#"/0: 1 is not of type "string"; /1: 1 is not of type "string"; /2: 1 is not of type "string"; /3: 1 is not of type "string"; /4: 1 is not of type "string""#
        ]],
    );
    let error = checker(&json!({"type": "null"})).errors(&json!("ä".repeat(1000)));
    let error = error.expect("an error");
    assert!(error.ends_with(r#"ä… is not of type "null""#) && error.len() < 100, "{error}");
    let values: Vec<String> = (0..10).map(|at| format!("{at}{}", "x".repeat(100))).collect();
    let error = checker(&json!({"enum": values})).errors(&json!(1)).expect("an error");
    assert_eq!(error.chars().count(), 201, "{error}");
}

#[test]
fn a_wrong_type_is_the_only_error_of_its_value() {
    let schema = json!({"type": "string", "enum": ["a"], "not": {"type": "integer"}});
    check(&schema, &json!(1), &expect![[r#"1 is not of type "string""#]]);
}

#[test]
fn what_is_no_schema_is_refused() {
    for (schema, reason) in [
        (json!(1), " is not a schema: 1"),
        (
            json!({"properties": {"a": {"type": "strin"}}}),
            r#"/properties/a/type: "strin" is not a type of JSON, or several"#,
        ),
        (
            json!({"type": ["null", "null"]}),
            r#"/type: ["null","null"] is not a type of JSON, or several"#,
        ),
        (json!({"required": [1]}), "/required: [1] is not an array of different strings"),
        (json!({"minLength": -1}), "/minLength: -1 is not a whole number that is not negative"),
        (json!({"minItems": 1.5}), "/minItems: 1.5 is not a whole number that is not negative"),
        (json!({"minimum": "0"}), r#"/minimum: "0" is not a number"#),
        (json!({"multipleOf": 0}), "/multipleOf: 0 is not a number greater than zero"),
        (json!({"allOf": [true, {"anyOf": []}]}), "/allOf/1/anyOf: [] is not an array of schemas"),
        (json!({"items": [{}]}), "/items: [{}] is not a schema"),
        (json!({"$defs": {"a": 1}}), r#"/$defs: {"a":1} is not an object of schemas"#),
        (json!({"title": 1}), "/title: 1 is not a string"),
        (json!({"uniqueItems": 1}), "/uniqueItems: 1 is not a boolean"),
        (json!({"enum": 1}), "/enum: 1 is not an array"),
        (json!({"pattern": "("}), r#"/pattern: "(" cannot be used: a `)` is missing"#),
        (
            json!({"$ref": "https://example.com/a"}),
            r#"/$ref: "https://example.com/a" leads out of the schema, and nothing is fetched"#,
        ),
        (json!({"$ref": "#/$defs/a"}), r##"/$ref: "#/$defs/a" leads to nothing"##),
        (json!({"$ref": "#a"}), r##"/$ref: "#a" leads to nothing"##),
        (
            json!({"$schema": "https://example.com/draft"}),
            r#"/$schema: "https://example.com/draft" is not a draft from 4 to 2020-12"#,
        ),
        (json!({"$id": "a#b"}), "/$id: it has a fragment"),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true}),
            "/exclusiveMinimum: there is no `minimum`",
        ),
    ] {
        assert_eq!(refusal(&schema), reason);
    }
}

#[test]
fn a_circle_is_refused() {
    for circle in [
        json!({"$ref": "#/$defs/a"}),
        json!({"anyOf": [{"$ref": "#/$defs/a"}, true]}),
        json!({"not": {"if": {"$ref": "#"}}}),
    ] {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": circle}});
        assert_eq!(refusal(&schema), "it refers to itself without end");
    }
    let tree = json!({"properties": {"left": {"$ref": "#"}}, "items": {"$ref": "#"}});
    assert_eq!(checker(&tree).errors(&json!({"left": {"left": [{}]}})), None);
}

/// The smallest stack of a thread that Rust starts is enough.
#[test]
fn deep_schemas_and_values_are_given_up_in_time() {
    let deep_schema = (0..300).fold(json!({}), |inner, _| json!({"not": inner}));
    assert_eq!(refusal(&deep_schema), "it is nested deeper than 200 levels");
    let chain: serde_json::Map<String, Value> = (0..3000)
        .map(|at| (at.to_string(), json!({"$ref": format!("#/$defs/{}", at + 1)})))
        .chain([("3000".to_owned(), json!({"type": "null"}))])
        .collect();
    let long = checker(&json!({"$ref": "#/$defs/0", "$defs": chain}));
    let given_up = Some("it is too large or nested too deeply to be checked");
    assert_eq!(long.errors(&json!(null)).as_deref(), given_up);
    let lists = checker(&json!({"$ref": "#/$defs/a", "$defs": {"a": {
        "type": ["array", "integer"], "items": {"$ref": "#/$defs/a"}}}}));
    let objects = checker(&json!({
        "type": ["object", "integer"], "patternProperties": {"a": {"allOf": [{"$ref": "#"}]}},
        "anyOf": [{"unevaluatedProperties": {"$ref": "#"}}]}));
    let list = |depth: usize, end| (0..depth).fold(end, |inner, _| Value::Array(vec![inner]));
    let object = |depth: usize, end| {
        (0..depth).fold(end, |inner, _| Value::from_iter([("a".to_owned(), inner)]))
    };
    assert_eq!(lists.errors(&list(500, json!(1))), None);
    assert!(lists.errors(&list(500, json!("x"))).expect("an error").starts_with("/0/0/0"));
    assert_eq!(lists.errors(&list(3000, json!(1))).as_deref(), given_up);
    assert_eq!(objects.errors(&object(3000, json!(1))).as_deref(), given_up);
}

/// Every level asks twice, so each one doubles the work.
#[test]
fn a_check_that_grows_without_measure_is_given_up() {
    let schema = json!({"anyOf": [
        {"items": {"$ref": "#"}, "minItems": 1, "maxItems": 1},
        {"items": {"$ref": "#"}, "minItems": 1},
    ]});
    let value = (0..60).fold(json!([]), |inner, _| json!([inner]));
    let error = checker(&schema).errors(&value).expect("an error");
    assert!(error.contains("too large"), "{error}");
}

#[test]
fn arguments_without_demands_need_no_check() {
    for schema in [
        json!({}),
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": true}),
        json!({"title": "T", "description": "d", "additionalProperties": {}}),
    ] {
        assert!(checker(&schema).takes_any_object(), "{schema}");
    }
    for schema in [
        json!(false),
        json!({"type": "array"}),
        json!({"properties": {"a": {"type": "null"}}}),
        json!({"additionalProperties": false}),
    ] {
        assert!(!checker(&schema).takes_any_object(), "{schema}");
    }
}
