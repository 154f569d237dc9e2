//! Reads a schema as a shape. Anything unknown, wrong or of another draft of JSON Schema makes it
//! unreadable.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::{DEEPEST, JsonType, SchemaShape, ShapeNode, ShapeRule};

/// The draft that applies if a schema names none.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The members that hold referenced schemas, each with the prefix of such a reference.
const DEFINITIONS: [(&str, &str); 2] = [("$defs", "#/$defs/"), ("definitions", "#/definitions/")];

pub(super) fn shape(schema: &Value) -> Option<SchemaShape> {
    let members = schema.as_object()?;
    if members.get("$schema").is_some_and(|draft| draft != DRAFT) {
        return None;
    }
    let mut reader = ShapeReader { places: BTreeMap::from([("#".to_owned(), 0)]) };
    let mut definitions = Vec::new();
    for (keyword, prefix) in DEFINITIONS {
        let Some(schemas) = members.get(keyword) else { continue };
        for (name, schema) in schemas.as_object()? {
            // Other names are escaped in references.
            if name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
                reader.places.insert(format!("{prefix}{name}"), 1 + definitions.len());
            }
            definitions.push(schema);
        }
    }
    let root = std::iter::once_with(|| reader.rules(members, 0));
    let nodes = root.chain(definitions.into_iter().map(|schema| reader.node(schema, 1)));
    Some(SchemaShape { nodes: nodes.collect::<Option<_>>()? })
}

/// Returns true if a keyword is allowed only at the root.
fn is_of_root(keyword: &str) -> bool {
    keyword == "$schema" || DEFINITIONS.iter().any(|(definitions, _)| *definitions == keyword)
}

struct ShapeReader {
    /// The indices of schemas, by the references to them.
    places: BTreeMap<String, usize>,
}

impl ShapeReader {
    fn node(&self, schema: &Value, depth: usize) -> Option<ShapeNode> {
        match schema {
            Value::Bool(true) => Some(Vec::new()),
            Value::Bool(false) => Some(vec![ShapeRule::Never]),
            Value::Object(members) if depth < DEEPEST => self.rules(members, depth),
            _ => None,
        }
    }

    fn rules(&self, members: &Map<String, Value>, depth: usize) -> Option<ShapeNode> {
        let mut rules = Vec::new();
        for (keyword, value) in members {
            let is_read = depth == 0 && is_of_root(keyword) || is_part(keyword, members);
            if !is_read && !is_comment(keyword, value)? {
                rules.push(self.rule(keyword, value, members, depth + 1)?);
            }
        }
        Some(rules)
    }

    /// Returns the rule for a keyword, together with the keywords that belong to it.
    fn rule(
        &self,
        keyword: &str,
        value: &Value,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Option<ShapeRule> {
        Some(match keyword {
            "type" => ShapeRule::Types(types(value)?),
            "enum" => ShapeRule::Among(value.as_array()?.clone()),
            "const" => ShapeRule::Among(vec![value.clone()]),
            "minimum" => number(value, Ordering::is_ge)?,
            "maximum" => number(value, Ordering::is_le)?,
            "exclusiveMinimum" => number(value, Ordering::is_gt)?,
            "exclusiveMaximum" => number(value, Ordering::is_lt)?,
            "minLength" => ShapeRule::Letters(size(value)?, usize::MAX),
            "maxLength" => ShapeRule::Letters(0, size(value)?),
            "minItems" => ShapeRule::Count(size(value)?, usize::MAX),
            "maxItems" => ShapeRule::Count(0, size(value)?),
            "minProperties" => ShapeRule::Size(size(value)?, usize::MAX),
            "maxProperties" => ShapeRule::Size(0, size(value)?),
            "required" => ShapeRule::Required(names(value)?),
            "$ref" => ShapeRule::At(*self.places.get(value.as_str()?)?),
            "allOf" => ShapeRule::All(self.nodes(value, depth)?),
            "anyOf" => ShapeRule::Any(self.nodes(value, depth)?),
            "oneOf" => ShapeRule::One(self.nodes(value, depth)?),
            "properties" | "additionalProperties" => {
                self.members(members.get("properties"), members.get("additionalProperties"), depth)?
            }
            "prefixItems" | "items" => {
                self.items(members.get("prefixItems"), members.get("items"), depth)?
            }
            _ => return None,
        })
    }

    fn members(
        &self,
        named: Option<&Value>,
        rest: Option<&Value>,
        depth: usize,
    ) -> Option<ShapeRule> {
        let mut nodes = BTreeMap::new();
        if let Some(named) = named {
            for (name, schema) in named.as_object()? {
                nodes.insert(name.clone(), self.node(schema, depth)?);
            }
        }
        Some(ShapeRule::Members { named: nodes, rest: self.optional(rest, depth)? })
    }

    fn items(
        &self,
        first: Option<&Value>,
        rest: Option<&Value>,
        depth: usize,
    ) -> Option<ShapeRule> {
        let first = first.map_or(Some(Vec::new()), |first| self.nodes(first, depth))?;
        Some(ShapeRule::Items { first, rest: self.optional(rest, depth)? })
    }

    /// Reads a schema that may be absent: without it everything is allowed.
    fn optional(&self, schema: Option<&Value>, depth: usize) -> Option<ShapeNode> {
        schema.map_or(Some(Vec::new()), |schema| self.node(schema, depth))
    }

    /// Reads a list of at least one schema.
    fn nodes(&self, schemas: &Value, depth: usize) -> Option<Vec<ShapeNode>> {
        let schemas = schemas.as_array().filter(|schemas| !schemas.is_empty())?;
        schemas.iter().map(|schema| self.node(schema, depth)).collect()
    }
}

/// Returns true if the keyword is read together with another one that is present.
fn is_part(keyword: &str, members: &Map<String, Value>) -> bool {
    match keyword {
        "additionalProperties" => members.contains_key("properties"),
        "items" => members.contains_key("prefixItems"),
        _ => false,
    }
}

/// Returns true if the keyword is only an annotation; `None` if its value is invalid.
fn is_comment(keyword: &str, value: &Value) -> Option<bool> {
    let is_right = match keyword {
        "title" | "description" | "$comment" | "format" => value.is_string(),
        "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "examples" => value.is_array(),
        "default" => true,
        _ => return Some(false),
    };
    is_right.then_some(true)
}

fn types(value: &Value) -> Option<Vec<JsonType>> {
    let one = |value: &Value| match value.as_str()? {
        "null" => Some(JsonType::Null),
        "boolean" => Some(JsonType::Boolean),
        "integer" => Some(JsonType::Integer),
        "number" => Some(JsonType::Number),
        "string" => Some(JsonType::String),
        "array" => Some(JsonType::Array),
        "object" => Some(JsonType::Object),
        _ => None,
    };
    let types: Vec<JsonType> = match value {
        Value::Array(types) => types.iter().map(one).collect::<Option<_>>()?,
        _ => vec![one(value)?],
    };
    (!types.is_empty() && are_unique(&types)).then_some(types)
}

fn number(value: &Value, is_kept: fn(Ordering) -> bool) -> Option<ShapeRule> {
    let limit: Number = value.as_number()?.clone();
    Some(ShapeRule::Number { limit, is_kept })
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|size| usize::try_from(size).ok())
}

fn names(value: &Value) -> Option<Vec<String>> {
    let names = value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
    let names: Vec<String> = names.collect::<Option<_>>()?;
    are_unique(&names).then_some(names)
}

fn are_unique<T: PartialEq>(values: &[T]) -> bool {
    values.iter().enumerate().all(|(place, value)| !values[..place].contains(value))
}
