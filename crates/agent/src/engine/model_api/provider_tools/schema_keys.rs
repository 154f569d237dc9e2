//! The names of properties in the schema of a tool's input. Pure.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::plain_name::{is_plain, plain_name_for};

/// Keywords with one schema.
const WITH_SCHEMA: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords with a list of schemas.
const WITH_LIST: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords with schemas by name.
const WITH_NAMES: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    // In older drafts, with schemas and lists of properties.
    "dependencies",
];

/// Keywords with a schema, or a list of properties, by the name of a property.
const BY_PROPERTY: [&str; 4] =
    ["properties", "dependentSchemas", "dependentRequired", "dependencies"];

/// Returns the replacement of every name of a property that providers refuse.
pub(super) fn key_replacements(schema: &Value) -> HashMap<String, String> {
    let mut names = HashSet::new();
    collect_names(schema, &mut names);
    let is_taken = |name: &str| names.contains(name);
    let odd = names.iter().filter(|name| !is_plain(name));
    odd.map(|name| (name.clone(), plain_name_for(name, is_taken))).collect()
}

fn collect_names(schema: &Value, names: &mut HashSet<String>) {
    let Value::Object(members) = schema else { return };
    if let Some(Value::Object(properties)) = members.get("properties") {
        names.extend(properties.keys().cloned());
    }
    for (keyword, value) in members {
        each_schema(keyword, value, &mut |schema| collect_names(schema, names));
    }
}

fn each_schema(keyword: &str, value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(members) if WITH_NAMES.contains(&keyword) => {
            members.values().for_each(visit);
        }
        // In older drafts `items` may be a list as well.
        Value::Array(list) if WITH_LIST.contains(&keyword) || keyword == "items" => {
            list.iter().for_each(visit);
        }
        Value::Object(_) if WITH_SCHEMA.contains(&keyword) => visit(value),
        _ => {}
    }
}

/// Returns the schema with the names of its properties replaced.
pub(super) fn replaced_schema(schema: &Value, names: &HashMap<String, String>) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let new = |name: &str| names.get(name).cloned().unwrap_or_else(|| name.to_owned());
    let new_list = |list: &[Value]| -> Value {
        list.iter()
            .map(|name| name.as_str().map_or(name.clone(), |name| new(name).into()))
            .collect()
    };
    let written = members.iter().map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            (keyword, Value::Object(properties)) if BY_PROPERTY.contains(&keyword) => {
                let renamed = properties.iter().map(|(name, value)| match value {
                    Value::Array(properties) => (new(name), new_list(properties)),
                    schema => (new(name), replaced_schema(schema, names)),
                });
                Value::Object(renamed.collect())
            }
            ("required", Value::Array(required)) => new_list(required),
            ("$ref", Value::String(path)) => replaced_reference(path, names).into(),
            // Definitions are not properties: the model never writes their names.
            (name, Value::Object(schemas)) if WITH_NAMES.contains(&name) => {
                let each = schemas.iter();
                let inner =
                    each.map(|(name, schema)| (name.clone(), replaced_schema(schema, names)));
                Value::Object(inner.collect())
            }
            (name, Value::Array(list)) if WITH_LIST.contains(&name) || name == "items" => {
                list.iter().map(|schema| replaced_schema(schema, names)).collect()
            }
            (name, Value::Object(_)) if WITH_SCHEMA.contains(&name) => {
                replaced_schema(value, names)
            }
            _ => value.clone(),
        };
        (keyword.clone(), value)
    });
    Value::Object(written.collect::<Map<String, Value>>())
}

/// Returns a reference to a part of the schema, such as `#/properties/$filter`.
fn replaced_reference(path: &str, names: &HashMap<String, String>) -> String {
    let mut is_property = false;
    let step = |step: &str| {
        let new = names.get(step).filter(|_| is_property);
        // Behind `properties` comes a name, even if that is `properties` again.
        is_property = !is_property && step == "properties";
        new.cloned().unwrap_or_else(|| step.to_owned())
    };
    path.split('/').map(step).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_depends_on_a_property_is_named_like_it() {
        let schema = json!({
            "properties": {"a b": {}, "c d": {}},
            "dependentRequired": {"a b": ["c d", "e"]},
            "dependentSchemas": {"c d": {"required": ["a b"], "properties": {"f g": {}}}},
            "dependencies": {"a b": ["c d"], "c d": {"required": ["a b"]}},
        });
        let names = key_replacements(&schema);
        let [a_b, c_d, f_g] = ["a b", "c d", "f g"].map(|name| names[name].as_str());
        let expected = json!({
            "properties": {a_b: {}, c_d: {}},
            "dependentRequired": {a_b: [c_d, "e"]},
            "dependentSchemas": {c_d: {"required": [a_b], "properties": {f_g: {}}}},
            "dependencies": {a_b: [c_d], c_d: {"required": [a_b]}},
        });
        assert_eq!(replaced_schema(&schema, &names), expected);
    }

    #[test]
    fn names_of_properties_are_replaced_and_keywords_are_not() {
        let schema = json!({
            "$schema": "x",
            "type": "object",
            "properties": {
                "$filter": {"type": "string", "default": {"$filter": 1}},
                "plain": {"items": {"properties": {"a b": {}}, "required": ["a b", "c"]}},
                "properties": {"$ref": "#/properties/$filter"},
                "$ref": {"anyOf": [{"$ref": "#/$defs/$d"}]},
            },
            "required": ["$filter", "plain"],
            "$defs": {"$d": {"properties": {"é": {}}, "additionalProperties": false}},
        });
        let names = key_replacements(&schema);
        let mut odd: Vec<&str> = names.keys().map(String::as_str).collect();
        odd.sort_unstable();
        assert_eq!(odd, ["$filter", "$ref", "a b", "é"]);
        let [filter, reference, a_b, e] = ["$filter", "$ref", "a b", "é"].map(|name| &names[name]);
        assert!(names.values().all(|name| is_plain(name)), "{names:?}");
        let mut expected = json!({
            "$schema": "x",
            "type": "object",
            "properties": {
                filter: {"type": "string", "default": {"$filter": 1}},
                "plain": {"items": {"properties": {a_b: {}}, "required": [a_b, "c"]}},
                "properties": {"$ref": format!("#/properties/{filter}")},
                reference: {"anyOf": [{"$ref": "#/$defs/$d"}]},
            },
            "required": [filter, "plain"],
        });
        expected["$defs"] = json!({"$d": {"properties": {e: {}}, "additionalProperties": false}});
        assert_eq!(replaced_schema(&schema, &names), expected);
        assert_eq!(key_replacements(&replaced_schema(&schema, &names)), HashMap::new());
    }
}
