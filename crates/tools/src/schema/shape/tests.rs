//! A shape never contradicts the library: neither about schemas nor about values.

use std::collections::HashMap;

use proptest::prelude::{BoxedStrategy, Strategy};
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use proptest::{collection, prop_oneof};
use schemars::JsonSchema;
use serde_json::json;

use super::*;

/// How many schemas are made up, and how many values are held against each.
const SCHEMAS: u32 = 1000;
const VALUES: usize = 12;

/// A schema as a shape and as the library has it.
struct Both {
    shape: SchemaShape,
    library: jsonschema::Validator,
}

impl Both {
    /// Nothing if it is no shape; what is one is also a schema to the library.
    fn read(schema: &Value) -> Option<Self> {
        let shape = SchemaShape::read(schema)?;
        let library = jsonschema::options().build(schema);
        let library = library.unwrap_or_else(|error| panic!("{schema} is no schema: {error}"));
        Some(Self { shape, library })
    }

    /// Returns what the shape says of a value, which is what the library says.
    fn check(&self, value: &Value) -> FitVerdict {
        let (verdict, truth) = (self.shape.fits(value), self.library.is_valid(value));
        assert!(
            verdict.is_none_or(|fits| fits == truth),
            "{:?} {value}: {verdict:?} is wrong",
            self.shape
        );
        verdict
    }
}

fn check(schema: &Value, value: &Value) -> FitVerdict {
    Both::read(schema).unwrap_or_else(|| panic!("no shape: {schema}")).check(value)
}

fn scalar() -> impl Strategy<Value = Value> {
    let numbers = vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(2),
        json!(1.0),
        json!(1.5),
        json!(-0.0),
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

/// Returns a keyword with a value that it usually has.
fn keyword(
    inner: impl Strategy<Value = Value> + Clone + 'static,
) -> BoxedStrategy<(String, Value)> {
    let number = || scalar().prop_filter("a number", Value::is_number);
    let schemas = || collection::vec(inner.clone(), 0..3).prop_map(Value::from);
    let size = || (0..4_u64).prop_map(Value::from);
    let limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let sizes =
        ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
    let unions = ["allOf", "anyOf", "oneOf", "prefixItems"];
    let named = |name: &'static str, value: BoxedStrategy<Value>| {
        value.prop_map(move |value| (name.to_owned(), value))
    };
    let one_of = |names: Vec<&'static str>, value: BoxedStrategy<Value>| {
        (select(names), value).prop_map(|(name, value)| (name.to_owned(), value))
    };
    prop_oneof![
        4 => named("type", types().boxed()),
        2 => named("properties", members(name(), inner.clone(), 3).prop_map(Value::Object).boxed()),
        1 => one_of(vec!["additionalProperties", "items"], inner.clone().boxed()),
        1 => named("required", collection::vec(name(), 0..3).prop_map(Value::from).boxed()),
        1 => one_of(limits.to_vec(), number().boxed()),
        1 => one_of(sizes.to_vec(), size().boxed()),
        1 => one_of(unions.to_vec(), schemas().boxed()),
        1 => named("enum", collection::vec(value(), 0..4).prop_map(Value::from).boxed()),
        1 => named("const", value().boxed()),
        1 => one_of(vec!["$ref"], select(vec!["#/$defs/a", "#/$defs/b"]).prop_map(Value::from).boxed()),
        1 => one_of(vec!["title", "default", "format", "examples", "readOnly"], value().boxed()),
        1 => named("format", select(vec!["date", "ipv4", "uint"]).prop_map(Value::from).boxed()),
    ]
    .boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => proptest::bool::ANY.prop_map(Value::from),
        8 => types().prop_map(|types| json!({"type": types})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let keywords = collection::vec(keyword(inner), 0..4);
        keywords.prop_map(|keywords| Value::Object(keywords.into_iter().collect()))
    })
}

/// Returns a whole schema; what it defines refers to nothing but a leaf, since a library may follow
/// a circle for ever.
fn whole() -> impl Strategy<Value = Value> {
    let definition = prop_oneof![
        types().prop_map(|t| json!({"type": t})),
        proptest::bool::ANY.prop_map(Value::from)
    ];
    let definitions = (definition.clone(), definition).prop_map(|(a, b)| json!({"a": a, "b": b}));
    let keywords = collection::vec(keyword(schema().boxed()), 0..5);
    (keywords, definitions).prop_map(|(keywords, definitions)| {
        let mut schema: Map<String, Value> = keywords.into_iter().collect();
        schema.insert("$defs".to_owned(), definitions);
        Value::Object(schema)
    })
}

#[test]
fn a_shape_agrees_with_the_library() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let (mut shapes, mut verdicts, mut certain, mut fitting) = (0, 0, 0, 0);
    for _ in 0..SCHEMAS {
        let schema = whole().new_tree(&mut runner).expect("a schema").current();
        let Some(both) = Both::read(&schema) else { continue };
        shapes += 1;
        for _ in 0..VALUES {
            let value = value().new_tree(&mut runner).expect("a value").current();
            let verdict = both.check(&value);
            verdicts += 1;
            certain += usize::from(verdict.is_some());
            fitting += usize::from(verdict == Some(true));
        }
    }
    // The test means nothing if it never gets there.
    assert!(shapes > 250, "{shapes} shapes");
    assert!(certain > verdicts * 3 / 4, "{certain} of {verdicts} are certain");
    assert!(fitting > verdicts / 10, "{fitting} of {verdicts} fit");
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is of interest")]
struct Order {
    name: String,
    count: Option<u32>,
    tags: Vec<String>,
    prices: HashMap<String, f64>,
    place: (i32, i32),
    size: Size,
    payment: Payment,
    parts: Vec<Order>,
    #[schemars(range(min = 1, max = 5), description = "From 1 to 5.")]
    stars: u8,
    #[schemars(length(min = 2))]
    code: String,
    anything: Value,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is of interest")]
enum Size {
    /// Fits into a pocket.
    Small,
    Large,
}

#[derive(JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema is of interest")]
enum Payment {
    Cash { amount: f64 },
    Card { number: String, pin: Option<u16> },
}

fn order() -> Value {
    json!({
        "name": "chair",
        "count": null,
        "tags": ["new"],
        "prices": {"leg": 1.5, "seat": 4},
        "place": [1, -2],
        "size": "Large",
        "payment": {"by": "card", "number": "4711"},
        "parts": [],
        "stars": 3,
        "code": "ab",
        "anything": {"goes": [1, 2.5]},
    })
}

/// Returns an order that has this in place of a member.
fn with(member: &str, value: Value) -> Value {
    let mut order = order();
    order[member] = value;
    order
}

#[test]
fn the_schemas_of_types_are_shapes() {
    let schema = schemars::schema_for!(Order).to_value();
    assert_eq!(check(&schema, &order()), Some(true));
    assert_eq!(
        check(&schema, &with("parts", json!([order(), with("parts", json!([order()]))]))),
        Some(true)
    );
    for (member, wrong) in [
        ("name", json!(1)),
        ("count", json!(-1)),
        ("tags", json!(["a", 1])),
        ("prices", json!({"leg": "dear"})),
        ("place", json!([1])),
        ("place", json!([1, 2, 3])),
        ("size", json!("Medium")),
        ("payment", json!({"by": "card"})),
        ("payment", json!({"by": "cash", "amount": 1, "pin": 1})),
        ("parts", json!([{}])),
        ("stars", json!(6)),
        ("code", json!("ü")),
    ] {
        assert_eq!(check(&schema, &with(member, wrong.clone())), Some(false), "{member} {wrong}");
    }
    let mut incomplete = order();
    incomplete.as_object_mut().expect("an object").remove("tags");
    assert_eq!(check(&schema, &incomplete), Some(false));
}

#[test]
fn what_is_unusual_is_left_to_the_library() {
    for schema in [
        json!(true),
        json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
        json!({"$id": "https://example.com/a"}),
        json!({"pattern": "a+"}),
        json!({"patternProperties": {"a": true}}),
        json!({"if": true}),
        json!({"not": {}}),
        json!({"uniqueItems": true}),
        json!({"multipleOf": 0.1}),
        json!({"unevaluatedProperties": false}),
        json!({"properties": {"a": {"$defs": {}}}}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "#/properties/a", "properties": {"a": {}}}),
        json!({"$ref": "#/$defs/a~0b", "$defs": {"a~0b": {"type": "null"}, "a~b": true}}),
        json!({"$ref": "#/$defs/%41", "$defs": {"%41": {"type": "null"}, "A": true}}),
        json!({"$defs": {"a": {"pattern": "a"}}}),
        // And what is wrong, so that the library says why.
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"type": ["null", "null"]}),
        json!({"required": ["a", "a"]}),
        json!({"required": [1]}),
        json!({"minLength": -1}),
        json!({"minItems": 1.5}),
        json!({"minimum": "0"}),
        json!({"anyOf": []}),
        json!({"items": [{}]}),
        json!({"properties": {"a": 1}}),
        json!({"title": 1}),
        json!({"$defs": {"a": 1}}),
    ] {
        assert!(SchemaShape::read(&schema).is_none(), "{schema}");
    }
}

#[test]
fn what_is_not_certain_is_not_said() {
    let far = json!(9_007_199_254_740_993_u64);
    for (schema, value) in [
        (json!({"type": "integer"}), json!(1.0)),
        (json!({"minimum": 1}), json!(1.0)),
        (json!({"minimum": 9_007_199_254_740_992.0}), far.clone()),
        (json!({"const": 1}), json!(1.0)),
        (json!({"enum": [[1.0]]}), json!([1])),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "integer"}}}),
            json!(2.0),
        ),
    ] {
        assert_eq!(check(&schema, &value), None, "{schema} {value}");
    }
    assert_eq!(check(&json!({"minimum": 1.5}), &far), Some(true));
    assert_eq!(check(&json!({"exclusiveMaximum": 9_007_199_254_740_992_u64}), &far), Some(false));
}

/// Circles end, whether they are narrow or wide.
#[test]
fn a_circle_is_not_followed_for_ever() {
    for circle in [
        json!({"$ref": "#/$defs/a"}),
        json!({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}),
        json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}, {"type": "null"}]}),
    ] {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": circle}});
        let shape = SchemaShape::read(&schema).expect("a shape");
        assert!(shape.fits(&json!(1)) != Some(true), "{schema}");
    }
}
