//! The drafts of JSON Schema that are supported, and what a keyword has to look like in each.

use serde_json::{Map, Value};

use super::number::integer_value;

/// A draft of JSON Schema, in the order of publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SchemaDraft {
    V4,
    V6,
    V7,
    V2019,
    V2020,
}

use SchemaDraft::{V4, V6, V7, V2019, V2020};

impl SchemaDraft {
    /// Returns the draft that a `$schema` names.
    pub(super) fn from_uri(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match uri.strip_prefix("json-schema.org/")?.strip_suffix("/schema")? {
            "draft-04" => Some(V4),
            "draft-06" => Some(V6),
            "draft-07" => Some(V7),
            "draft/2019-09" => Some(V2019),
            "draft/2020-12" => Some(V2020),
            _ => None,
        }
    }

    /// The keyword that names a schema.
    pub(super) fn id_keyword(self) -> &'static str {
        if self == V4 { "id" } else { "$id" }
    }

    /// Returns true if `$ref` makes all keywords beside it meaningless.
    pub(super) fn lets_ref_stand_alone(self) -> bool {
        self <= V7
    }

    /// Returns the form of a keyword in this draft; `None` if it does not know the keyword.
    pub(super) fn keyword_form(self, keyword: &str) -> Option<KeywordForm> {
        let known = KEYWORDS.iter().find(|(names, since, until, _)| {
            (*since..=*until).contains(&self) && names.contains(&keyword)
        });
        known.map(|(.., form)| *form)
    }
}

/// What the value of a keyword has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordForm {
    Text,
    Flag,
    Number,
    /// A number greater than zero.
    Divisor,
    /// A whole number that is not negative.
    Count,
    /// The name of a type, or several.
    Types,
    /// An array.
    Values,
    /// Different strings.
    Names,
    /// An object of arrays of different strings.
    NamesByName,
    Schema,
    /// A schema or a boolean, in the draft that has no boolean schemas.
    SchemaOrFlag,
    /// At least one schema.
    Schemas,
    /// An object of schemas.
    SchemasByName,
    /// A schema, or an array of schemas.
    SchemaOrSchemas,
    /// An object of schemas and of arrays of different strings.
    SchemaOrNamesByName,
}

use KeywordForm::{
    Count, Divisor, Flag, Names, NamesByName, Number, Schema, SchemaOrFlag, SchemaOrNamesByName,
    SchemaOrSchemas, Schemas, SchemasByName, Text, Types, Values,
};

/// Keywords, the first and the last draft that has them, and their form there.
type KeywordRow = (&'static [&'static str], SchemaDraft, SchemaDraft, KeywordForm);

const KEYWORDS: &[KeywordRow] = &[
    (&["$ref", "$schema", "title", "description", "format", "pattern"], V4, V2020, Text),
    (&["type"], V4, V2020, Types),
    (&["enum"], V4, V2020, Values),
    (&["properties", "patternProperties", "definitions"], V4, V2020, SchemasByName),
    (&["required"], V4, V2020, Names),
    (&["allOf", "anyOf", "oneOf"], V4, V2020, Schemas),
    (&["not"], V4, V2020, Schema),
    (&["items"], V4, V2019, SchemaOrSchemas),
    (&["items"], V2020, V2020, Schema),
    (&["additionalProperties", "additionalItems"], V4, V4, SchemaOrFlag),
    (&["additionalProperties"], V6, V2020, Schema),
    (&["additionalItems"], V6, V2019, Schema),
    (&["minimum", "maximum"], V4, V2020, Number),
    (&["exclusiveMinimum", "exclusiveMaximum"], V4, V4, Flag),
    (&["exclusiveMinimum", "exclusiveMaximum"], V6, V2020, Number),
    (&["multipleOf"], V4, V2020, Divisor),
    (&["minLength", "maxLength", "minItems", "maxItems"], V4, V2020, Count),
    (&["minProperties", "maxProperties"], V4, V2020, Count),
    (&["uniqueItems"], V4, V2020, Flag),
    (&["dependencies"], V4, V2020, SchemaOrNamesByName),
    (&["id"], V4, V4, Text),
    (&["$id"], V6, V2020, Text),
    (&["contains", "propertyNames"], V6, V2020, Schema),
    (&["examples"], V6, V2020, Values),
    (&["if", "then", "else"], V7, V2020, Schema),
    (&["$comment", "contentEncoding", "contentMediaType"], V7, V2020, Text),
    (&["readOnly"], V7, V2020, Flag),
    (&["writeOnly", "deprecated", "$recursiveAnchor"], V2019, V2020, Flag),
    (&["$anchor", "$recursiveRef"], V2019, V2020, Text),
    (&["$defs", "dependentSchemas"], V2019, V2020, SchemasByName),
    (&["dependentRequired"], V2019, V2020, NamesByName),
    (&["minContains", "maxContains"], V2019, V2020, Count),
    (&["unevaluatedItems", "unevaluatedProperties", "contentSchema"], V2019, V2020, Schema),
    (&["prefixItems"], V2020, V2020, Schemas),
    (&["$dynamicRef", "$dynamicAnchor"], V2020, V2020, Text),
];

impl KeywordForm {
    /// Returns what the value of a keyword should have been, if it is something else. Schemas
    /// inside it are not looked at.
    pub(super) fn expected_instead(
        self,
        value: &Value,
        draft: SchemaDraft,
    ) -> Option<&'static str> {
        let (is_good, expected) = match self {
            Text => (value.is_string(), "a string"),
            Flag => (value.is_boolean(), "a boolean"),
            Number => (value.is_number(), "a number"),
            Divisor => (value.as_f64().is_some_and(|it| it > 0.0), "a number greater than zero"),
            Count => (is_count(value), "a whole number that is not negative"),
            Types => (is_types(value), "a type of JSON, or several"),
            Values => (value.is_array(), "an array"),
            Names => (is_names(value, draft), "an array of different strings"),
            NamesByName => (
                all_members_are(value, |names| is_names(names, V2020)),
                "an object of arrays of different strings",
            ),
            Schema => (is_schema(value, draft), "a schema"),
            SchemaOrFlag => (is_schema(value, V2020), "a schema or a boolean"),
            Schemas => (is_schemas(value, draft), "an array of schemas"),
            SchemasByName => {
                (all_members_are(value, |schema| is_schema(schema, draft)), "an object of schemas")
            }
            SchemaOrSchemas => (
                is_schema(value, draft) || is_schemas(value, draft),
                "a schema or an array of schemas",
            ),
            SchemaOrNamesByName => (
                all_members_are(value, |it| is_schema(it, draft) || is_names(it, draft)),
                "an object of schemas and arrays of strings",
            ),
        };
        (!is_good).then_some(expected)
    }

    /// Returns the schemas in the value of a keyword, each with the JSON pointer to it from there.
    pub(super) fn inner_schemas(self, value: &Value) -> Vec<(String, &Value)> {
        match (self, value) {
            (SchemaOrSchemas | Schemas, Value::Array(schemas)) => {
                let schemas = schemas.iter().enumerate();
                schemas.map(|(at, schema)| (format!("/{at}"), schema)).collect()
            }
            (Schema | SchemaOrFlag | SchemaOrSchemas, _) => vec![(String::new(), value)],
            (SchemasByName | SchemaOrNamesByName, Value::Object(members)) => {
                let schemas = members.iter().filter(|(_, member)| !member.is_array());
                schemas.map(|(name, schema)| (format!("/{name}"), schema)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn all_members_are(value: &Value, is_good: impl Fn(&Value) -> bool) -> bool {
    value.as_object().is_some_and(|members: &Map<_, _>| members.values().all(is_good))
}

fn is_schema(value: &Value, draft: SchemaDraft) -> bool {
    value.is_object() || (value.is_boolean() && draft > V4)
}

fn is_schemas(value: &Value, draft: SchemaDraft) -> bool {
    let is_good = |schemas: &Vec<Value>| {
        !schemas.is_empty() && schemas.iter().all(|schema| is_schema(schema, draft))
    };
    value.as_array().is_some_and(is_good)
}

fn is_count(value: &Value) -> bool {
    value.as_number().and_then(integer_value).is_some_and(|count| count >= 0)
}

fn is_names(value: &Value, draft: SchemaDraft) -> bool {
    let Some(names) = value.as_array() else { return false };
    let mut texts: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.len() == names.len() && (draft > V4 || !names.is_empty())
}

fn is_types(value: &Value) -> bool {
    let is_type = |name: &Value| {
        let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
        name.as_str().is_some_and(|name| types.contains(&name))
    };
    match value {
        // The list must not be empty in any draft; of names in general only draft 4 demands that.
        Value::Array(names) => is_names(value, V4) && names.iter().all(is_type),
        name => is_type(name),
    }
}
