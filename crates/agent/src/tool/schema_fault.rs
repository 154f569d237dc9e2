//! Checks the input of a tool against its schema.

use callgate_tools::{SchemaChecker, misfit_message};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ToolSpec;

/// Returns why an input does not fit the schema of its tool, or `None` if it fits or the schema
/// cannot be checked. A member that is `null` may also count as absent: some models write out every
/// member.
pub(crate) fn schema_fault(spec: &ToolSpec, input: &RawValue) -> Option<String> {
    let schema: Value = serde_json::from_str(spec.input_schema.get()).ok()?;
    let checker = SchemaChecker::new(&schema, "input_schema").ok()?;
    let mut value: Value = serde_json::from_str(input.get()).ok()?;
    checker.errors(&value)?;
    if let Value::Object(members) = &mut value {
        members.retain(|_, member| !member.is_null());
    }
    checker.errors(&value).map(|reason| misfit_message(&spec.name, &reason))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::raw_json;

    #[test]
    fn an_input_that_does_not_fit_is_found_and_null_may_mean_absent() {
        let check = |schema: Value, input: Value, expected: Option<&str>| {
            let spec = ToolSpec {
                name: "add".into(),
                description: "".into(),
                input_schema: raw_json(&schema),
                is_read_only: false,
                kind: "other",
            };
            let fault = schema_fault(&spec, &raw_json(&input));
            assert_eq!(fault.as_deref(), expected, "{input}");
        };
        let schema = || {
            let members = json!({"a": {"type": "integer"}, "b": {"type": "string"}});
            json!({"type": "object", "properties": members, "required": ["a"]})
        };
        check(schema(), json!({"a": 1}), None);
        check(schema(), json!({"a": 1.0, "b": null}), None);
        check(
            schema(),
            json!({"b": "x"}),
            Some(r#"the arguments of "add" do not fit: "a" is a required property"#),
        );
        check(
            schema(),
            json!({"a": null}),
            Some(r#"the arguments of "add" do not fit: "a" is a required property"#),
        );
        check(
            schema(),
            json!({"a": "one"}),
            Some(r#"the arguments of "add" do not fit: /a: "one" is not of type "integer""#),
        );
        // What cannot be checked is left to the tool.
        check(json!({"$ref": "https://example.com/x"}), json!({}), None);
    }
}
