//! The schemas of Rust types are checked like any other.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::schema::SchemaChecker;

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
fn the_schemas_of_types_are_checked() {
    let schema = schemars::schema_for!(Order).to_value();
    let checker = SchemaChecker::new(&schema, "schema").expect("a schema");
    assert_eq!(checker.errors(&order()), None);
    let parts = json!([order(), with("parts", json!([order()]))]);
    assert_eq!(checker.errors(&with("parts", parts)), None);
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
        let errors = checker.errors(&with(member, wrong.clone()));
        let place = format!("/{member}");
        assert!(errors.is_some_and(|errors| errors.starts_with(&place)), "{member} {wrong}");
    }
    let mut incomplete = order();
    incomplete.as_object_mut().expect("an object").remove("tags");
    let missing = Some(r#""tags" is a required property"#);
    assert_eq!(checker.errors(&incomplete).as_deref(), missing);
}
