//! Tool definitions and the choice among them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Outcome;
use super::shape::{self, Field, Kind, field, join, nullable, optional, refuse, refuse_at};

const NO_PARALLEL: Field = optional("disable_parallel_tool_use", Kind::Bool);

/// The forms of `tool_choice`.
pub(super) const CHOICES: [(&str, &[Field]); 4] = [
    ("auto", &[NO_PARALLEL]),
    ("any", &[NO_PARALLEL]),
    ("tool", &[field("name", Kind::Name), NO_PARALLEL]),
    ("none", &[]),
];

const CUSTOM: [Field; 10] = [
    nullable("type", Kind::OneOf(&["custom"])),
    field("name", Kind::Text),
    optional("description", Kind::Text),
    field("input_schema", Kind::Object),
    optional("allowed_callers", Kind::Texts),
    nullable("cache_control", Kind::Cache),
    optional("defer_loading", Kind::Bool),
    nullable("eager_input_streaming", Kind::Bool),
    optional("input_examples", Kind::List),
    optional("strict", Kind::Bool),
];

/// How the types of the tools begin that the service itself defines. Their own fields are not
/// checked here.
const SERVED: [&str; 11] = [
    "bash_",
    "text_editor_",
    "computer_",
    "browser_",
    "memory_",
    "web_search_",
    "web_fetch_",
    "code_execution_",
    "tool_search_tool_",
    "advisor_",
    "mcp_toolset",
];

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

/// Checks `tools` and `tool_choice`.
pub(super) fn check(body: &Map<String, Value>) -> Outcome {
    let tools = body.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, tool) in tools.iter().enumerate() {
        definition(&join("tools", index), tool)?;
    }
    let mut names = BTreeSet::new();
    let all_new = tools.iter().filter_map(|tool| tool["name"].as_str()).all(|n| names.insert(n));
    if !all_new {
        return refuse("tools: Tool names must be unique.");
    }
    choice(body.get("tool_choice"), &names, tools.is_empty())
}

fn definition(path: &str, tool: &Value) -> Outcome {
    let object = shape::object(path, tool)?;
    if let Some(kind) = tool["type"].as_str().filter(|kind| *kind != "custom") {
        if SERVED.iter().any(|start| kind.starts_with(start)) {
            return Ok(());
        }
        let message = format!("Input tag '{kind}' found using 'type' does not match any tool");
        return refuse_at(path, &message);
    }
    let path = join(path, "custom");
    shape::fields(&path, object, &CUSTOM)?;
    if !is_tool_name(tool["name"].as_str().unwrap_or_default()) {
        let message = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
        return refuse_at(&join(&path, "name"), message);
    }
    schema(&join(&path, "input_schema"), &tool["input_schema"])
}

fn schema(path: &str, schema: &Value) -> Outcome {
    match schema.get("type") {
        None => refuse_at(&join(path, "type"), "Field required"),
        Some(kind) if kind != "object" => {
            refuse_at(&join(path, "type"), "Input should be 'object'")
        }
        Some(_) => Ok(()),
    }?;
    if ["oneOf", "allOf", "anyOf"].iter().any(|name| schema.get(name).is_some()) {
        let message = "input_schema does not support oneOf, allOf, or anyOf at the top level";
        return refuse_at(path, message);
    }
    let properties = schema.get("properties");
    if properties.is_some_and(|value| !value.is_object() && !value.is_null()) {
        return refuse_at(&join(path, "properties"), "Input should be a valid dictionary");
    }
    if let Some(properties) = properties.and_then(Value::as_object)
        && !properties.keys().all(|key| is_property_key(key))
    {
        let message = "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'";
        return refuse_at(&join(path, "properties"), message);
    }
    let types = properties.and_then(Value::as_object).into_iter().flat_map(|all| all.values());
    if !types.filter_map(|property| property["type"].as_str()).all(|kind| TYPES.contains(&kind)) {
        let message = "JSON schema is invalid. It must match JSON Schema draft 2020-12";
        return refuse_at(path, message);
    }
    let required = schema.get("required");
    if required.is_some_and(|value| !value.is_array() && !value.is_null()) {
        return refuse_at(&join(path, "required"), "Input should be a valid list");
    }
    Ok(())
}

/// Returns true if the API takes this as the name of a tool.
pub(super) fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Returns true if the API takes this as the name of a property of a tool's input.
fn is_property_key(key: &str) -> bool {
    (1..=64).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn choice(choice: Option<&Value>, names: &BTreeSet<&str>, no_tools: bool) -> Outcome {
    let Some(choice) = choice else { return Ok(()) };
    if no_tools {
        return refuse("tool_choice: may only be specified while providing tools.");
    }
    match choice["name"].as_str() {
        Some(name) if !names.contains(name) => {
            refuse(&format!("Tool '{name}' not found in provided tools"))
        }
        _ => Ok(()),
    }
}
