//! The checker and a library that knows all of JSON Schema agree about generated schemas.

use proptest::collection;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::suite::address;
use crate::schema::SchemaChecker;

const SCHEMAS: u32 = 1000;
const VALUES: usize = 12;

const DRAFTS: [&str; 5] = ["2020-12", "2019-09", "7", "6", "4"];

fn scalar() -> impl Strategy<Value = Value> {
    let numbers = vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(2),
        json!(1.0),
        json!(1.5),
        json!(-0.0),
        json!(0.1),
        json!(0.3),
        json!(1e300),
        json!(9_007_199_254_740_993_u64),
        json!(9_007_199_254_740_992.0),
        json!(u64::MAX),
        json!(i64::MIN),
    ];
    let others = vec![json!(null), json!(true), json!(false), json!(""), json!("a"), json!("äö")];
    prop_oneof![select(numbers), select(others)]
}

fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(name(), inner, 3).prop_map(Value::Object),
        ]
    })
}

fn members(
    name: impl Strategy<Value = String>,
    value: impl Strategy<Value = Value>,
    most: usize,
) -> impl Strategy<Value = Map<String, Value>> {
    collection::vec((name, value), 0..=most).prop_map(|pairs| pairs.into_iter().collect())
}

fn types() -> impl Strategy<Value = Value> {
    let all = vec!["null", "boolean", "integer", "number", "string", "array", "object"];
    prop_oneof![
        3 => select(all.clone()).prop_map(Value::from),
        1 => subsequence(all, 0..4).prop_map(Value::from),
    ]
}

/// Returns one of the keywords, with a value that it may have.
fn one_of(
    keywords: &[&'static str],
    value: impl Strategy<Value = Value> + 'static,
) -> BoxedStrategy<(String, Value)> {
    let keyword = select(keywords.to_vec());
    (keyword, value).prop_map(|(keyword, value)| (keyword.to_owned(), value)).boxed()
}

/// Returns a keyword with a value that it usually has.
fn keyword(
    inner: impl Strategy<Value = Value> + Clone + 'static,
    references: &'static [&'static str],
) -> BoxedStrategy<(String, Value)> {
    let number = scalar().prop_filter("a number", Value::is_number);
    let names = || collection::vec(name(), 0..3).prop_map(Value::from);
    let limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    // With others the library rounds large numbers.
    let divisors = vec![json!(0.1), json!(0.5), json!(1), json!(1.0), json!(2)];
    let sizes = [
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ];
    let unions = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
    let single = [
        "additionalProperties",
        "items",
        "additionalItems",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    let by_name = ["properties", "dependentSchemas", "dependencies", "patternProperties"];
    let patterns = select(vec!["a+", "^[ab]$", "(?=ö)", "ä|b", "^$"]);
    let by_pattern = members(patterns.clone().prop_map(str::to_owned), inner.clone(), 2);
    let mixed = prop_oneof![inner.clone(), names().boxed()];
    let annotations = ["title", "default", "examples", "readOnly", "$comment", "unknown"];
    let reference = select(references.to_vec()).prop_map(Value::from);
    prop_oneof![
        4 => one_of(&["type"], types()),
        3 => one_of(&["properties"], members(name(), inner.clone(), 3).prop_map(Value::Object)),
        4 => one_of(&single, inner.clone()),
        1 => one_of(&by_name, members(name(), inner.clone(), 3).prop_map(Value::Object)),
        1 => one_of(&["dependencies"], members(name(), mixed, 2).prop_map(Value::Object)),
        1 => one_of(&["dependentRequired"], members(name(), names(), 2).prop_map(Value::Object)),
        1 => one_of(&["patternProperties"], by_pattern.prop_map(Value::Object)),
        1 => one_of(&["pattern"], patterns.prop_map(Value::from)),
        1 => one_of(&["required"], names()),
        1 => one_of(&limits, number),
        1 => one_of(&["multipleOf"], select(divisors)),
        1 => one_of(&["uniqueItems", "exclusiveMinimum"], any::<bool>().prop_map(Value::from)),
        2 => one_of(&sizes, (0..4_u64).prop_map(Value::from)),
        2 => one_of(&unions, collection::vec(inner, 0..3).prop_map(Value::from)),
        1 => one_of(&["enum"], collection::vec(value(), 0..4).prop_map(Value::from)),
        1 => one_of(&["const"], value()),
        1 => one_of(&["$ref"], reference),
        1 => one_of(&annotations, value()),
        1 => one_of(&["format"], select(vec!["date", "ipv4", "uint"]).prop_map(Value::from)),
    ]
    .boxed()
}

fn schema(references: &'static [&'static str]) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        8 => types().prop_map(|types| json!({"type": types})),
    ];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let keywords = collection::vec(keyword(inner, references), 0..4);
        keywords.prop_map(|keywords| Value::Object(keywords.into_iter().collect()))
    })
    .boxed()
}

/// Returns a whole schema. Its definitions do not refer to themselves, since a library may follow a
/// circle for ever.
fn whole() -> impl Strategy<Value = Value> {
    const TO_LEAF: &[&str] = &["#/$defs/leaf", "#/definitions/leaf", "#/$defs/none"];
    const TO_ALL: &[&str] = &["#/$defs/leaf", "#/$defs/a", "#/definitions/a", "#/definitions/%61"];
    let definition = || prop_oneof![3 => schema(TO_LEAF), 1 => any::<bool>().prop_map(Value::from)];
    let definitions = (types(), definition())
        .prop_map(|(types, a)| json!({"leaf": {"type": types}, "a": a}))
        .boxed();
    let keywords = collection::vec(keyword(schema(TO_ALL), TO_ALL), 0..5);
    (keywords, definitions.clone(), definitions, select(&DRAFTS[..])).prop_map(
        |(keywords, old, new, draft)| {
            let mut schema: Map<String, Value> = keywords.into_iter().collect();
            schema.insert("$schema".to_owned(), address(draft).into());
            schema.insert("definitions".to_owned(), old);
            // The old drafts do not know the new keyword, and so do not check what is in it.
            if draft.len() > 1 {
                schema.insert("$defs".to_owned(), new);
            }
            Value::Object(schema)
        },
    )
}

#[test]
fn the_checker_agrees_with_the_library() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let (mut accepted, mut verdicts, mut fitting, mut wrong) = (0, 0, 0, Vec::new());
    for _ in 0..SCHEMAS {
        let schema = whole().new_tree(&mut runner).expect("a schema").current();
        // In this draft `contains` does not evaluate items; the library says that it does.
        let text = schema.to_string();
        if text.contains("2019-09") && text.contains("contains") && text.contains("unevaluatedI") {
            continue;
        }
        let library = jsonschema::options().should_validate_formats(false).build(&schema);
        let (checker, library) = match (SchemaChecker::new(&schema, "schema"), library) {
            (Ok(checker), Ok(library)) => (checker, library),
            (Err(_), Err(_)) => continue,
            (Ok(_), Err(error)) => {
                wrong.push(format!("{schema} is no schema: {error}"));
                continue;
            }
            // The library does not look at what cannot change a verdict.
            (Err(error), Ok(_)) if error.contains("leads to nothing") => continue,
            (Err(error), Ok(_)) => {
                wrong.push(format!("{schema} is a schema: {error}"));
                continue;
            }
        };
        accepted += 1;
        for _ in 0..VALUES {
            let value = value().new_tree(&mut runner).expect("a value").current();
            let (errors, fits) = (checker.errors(&value), library.is_valid(&value));
            if errors.is_none() != fits {
                wrong.push(format!("{schema} {value}: {errors:?}"));
            }
            verdicts += 1;
            fitting += usize::from(fits);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The test means nothing if it never gets there.
    assert!(accepted > SCHEMAS / 4, "{accepted} schemas");
    assert!((verdicts / 10..verdicts * 9 / 10).contains(&fitting), "{fitting} of {verdicts} fit");
}
