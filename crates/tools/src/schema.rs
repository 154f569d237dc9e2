//! Validates values against a JSON Schema: a tool's arguments and results.

mod shape;

use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use shape::SchemaShape;

/// How many errors are reported; more do not help a model to correct its call.
const MOST_ERRORS: usize = 5;
/// The longest error, in characters. Longer ones repeat what was sent.
const LONGEST_REASON: usize = 200;
/// In arguments with more values than this only the first error is reported.
const MOST_VALUES: usize = 1000;

/// How far a pattern may backtrack before it counts as not matching; real ones need a few hundred
/// steps.
const MOST_BACKTRACKING: usize = 100_000;

/// A schema that values are validated against.
#[derive(Debug)]
pub(crate) struct SchemaChecker {
    schema: Value,
    /// The schema in its simple form, if it has one.
    shape: Option<SchemaShape>,
    /// The schema as the library compiles it: at once if there is no simple form, otherwise for the
    /// first value that the simple form does not accept.
    whole: OnceLock<Result<Validator, String>>,
}

impl SchemaChecker {
    pub(crate) fn new(schema: &Value, member: &str) -> Result<Self, String> {
        let (shape, whole) = (SchemaShape::read(schema), OnceLock::new());
        if shape.is_none() {
            let validator = validator(schema);
            let validator =
                validator.map_err(|error| format!("`{member}` is no JSON Schema: {error}"))?;
            whole.set(Ok(validator)).ok();
        }
        Ok(Self { schema: schema.clone(), shape, whole })
    }

    /// Returns what is wrong with a value, in one line.
    pub(crate) fn errors(&self, value: &Value) -> Option<String> {
        if self.shape.as_ref().is_some_and(|shape| shape.fits(value) == Some(true)) {
            return None;
        }
        // The library words the error for a value that does not fit, and judges one that is
        // uncertain.
        match self.whole.get_or_init(|| validator(&self.schema)) {
            Ok(validator) => errors(validator, value),
            Err(error) => Some(format!("it cannot be checked: {error}")),
        }
    }
}

/// Returns the error for arguments that do not fit the schema of a tool.
pub(crate) fn misfit(tool: &str, reason: &str) -> String {
    format!("the arguments of {tool:?} do not fit: {reason}")
}

/// Returns true if every object fits the schema, so that there is nothing to check.
pub(crate) fn takes_any_object(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return false };
    members.iter().all(|(name, value)| match name.as_str() {
        "type" => value == "object",
        "title" | "description" | "$schema" | "$id" => true,
        "properties" => value.as_object().is_some_and(serde_json::Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == Value::Bool(true),
        _ => false,
    })
}

fn validator(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKING);
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| error.to_string())
}

/// Returns what is wrong with a value, in one line.
fn errors(validator: &Validator, value: &Value) -> Option<String> {
    if validator.is_valid(value) {
        return None;
    }
    // The library finds all errors before it returns the first, and each one takes memory.
    let errors: Vec<String> = if size(value, MOST_VALUES) < MOST_VALUES {
        validator.iter_errors(value).take(MOST_ERRORS).map(|error| reason(&error)).collect()
    } else {
        validator.validate(value).err().iter().map(reason).collect()
    };
    Some(errors.join("; "))
}

fn reason(error: &jsonschema::ValidationError<'_>) -> String {
    let words = match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("{path}: {error}"),
    };
    match words.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Returns how many values there are in a value, counted up to `most`.
fn size(value: &Value, most: usize) -> usize {
    let mut waiting = vec![value];
    let mut count = 0;
    while let Some(value) = waiting.pop() {
        count += 1;
        if count + waiting.len() >= most {
            return most;
        }
        match value {
            Value::Array(values) => waiting.extend(values.iter().take(most)),
            Value::Object(values) => waiting.extend(values.values().take(most)),
            _ => {}
        }
    }
    count
}
