//! The official test suite of JSON Schema.

use serde_json::{Value, json};

use crate::schema::SchemaChecker;

/// See the README beside it.
const GROUPS: &str = include_str!("../../../tests/schema_suite/groups.json");

pub(super) fn address(draft: &str) -> String {
    match draft.len() {
        1 => format!("http://json-schema.org/draft-0{draft}/schema#"),
        _ => format!("https://json-schema.org/draft/{draft}/schema"),
    }
}

#[test]
fn every_draft_passes_its_suite() {
    let groups: Vec<Value> = serde_json::from_str(GROUPS).expect("groups of tests");
    let (mut passed, mut wrong) = (0, Vec::new());
    for group in &groups {
        for draft in group["drafts"].as_array().expect("drafts") {
            let mut schema = group["schema"].clone();
            if schema.is_object() && schema.get("$schema").is_none() {
                schema["$schema"] = json!(address(draft.as_str().expect("a draft")));
            }
            let title = format!("{draft} {} {}", group["file"], group["description"]);
            let checker = SchemaChecker::new(&schema, "schema")
                .unwrap_or_else(|reason| panic!("{title}: {reason}"));
            for test in group["tests"].as_array().expect("tests") {
                let errors = checker.errors(&test["data"]);
                if errors.is_none() == (test["valid"] == true) {
                    passed += 1;
                } else {
                    wrong.push(format!("{title} {}: {errors:?}", test["description"]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(passed, 5284);
}
