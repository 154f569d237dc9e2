//! A tool whose description has been checked, and which checks what goes in and out.

use std::sync::OnceLock;

use callgate_wire::tools::error_type;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use serde_json::value::RawValue;

use super::HostError;
use super::outcome::{Output, ToolError};
use super::shape::Shape;
use super::tool::Tool;
use crate::mcp::check_entry;

/// The longest name the model's API takes.
const LONGEST_NAME: usize = 64;
/// More errors than this do not help a model to correct its call.
const MOST_ERRORS: usize = 5;
/// Nor do longer ones, which repeat what was sent.
const LONGEST_REASON: usize = 200;
/// In larger arguments only the first error is looked for.
const MOST_VALUES: usize = 1000;

/// How long a pattern may try before it counts as not matching; real ones need a few hundred.
const MOST_BACKTRACKING: usize = 100_000;

/// A tool that real clients accept.
#[derive(Debug)]
pub(super) struct CheckedTool {
    tool: Tool,
    input: Checker,
    output: Option<Checker>,
}

/// A schema that values are held against.
#[derive(Debug)]
struct Checker {
    schema: Value,
    /// The schema in short, if it is of the common kind.
    shape: Option<Shape>,
    /// The schema as the library has it: made at once where there is no shape, or else for the
    /// first value of which the shape does not say that it fits.
    whole: OnceLock<Result<Validator, String>>,
}

impl std::ops::Deref for CheckedTool {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl CheckedTool {
    pub(super) fn new(tool: Tool) -> Result<Self, HostError> {
        let (input, output) = checkers(&tool)
            .map_err(|reason| HostError::Tool { name: tool.name().to_owned(), reason })?;
        Ok(Self { tool, input, output })
    }

    /// The arguments, if they fit the input schema; a message for the model otherwise.
    pub(super) fn check_arguments(&self, arguments: &RawValue) -> Result<Value, ToolError> {
        let refused = |reason: String| {
            let message = format!("the arguments of {:?} do not fit: {reason}", self.name());
            ToolError::named(error_type::ARGUMENT, message)
        };
        let arguments: Value =
            serde_json::from_str(arguments.get()).map_err(|error| refused(error.to_string()))?;
        match self.input.errors(&arguments) {
            None => Ok(arguments),
            Some(reason) => Err(refused(reason)),
        }
    }

    /// The result in MCP's shape, if it keeps the promise of the output schema: clients refuse
    /// one that does not, with words that help nobody.
    pub(super) fn check_result(&self, output: Output) -> Result<Value, ToolError> {
        let result = output.into_value()?;
        let Some(checker) = &self.output else { return Ok(result) };
        if result["isError"] == Value::Bool(true) {
            return Ok(result);
        }
        let reason = match result.get("structuredContent") {
            None => Some("it has no structured value".to_owned()),
            Some(value) => checker.errors(value),
        };
        match reason {
            None => Ok(result),
            Some(reason) => Err(ToolError::new(format!(
                "the result of {:?} does not fit its output schema: {reason}",
                self.name()
            ))),
        }
    }
}

impl Checker {
    fn new(schema: &Value, member: &str) -> Result<Self, String> {
        let (shape, whole) = (Shape::read(schema), OnceLock::new());
        if shape.is_none() {
            let validator = validator(schema);
            let validator =
                validator.map_err(|error| format!("`{member}` is no JSON Schema: {error}"))?;
            whole.set(Ok(validator)).ok();
        }
        Ok(Self { schema: schema.clone(), shape, whole })
    }

    /// What is wrong with a value, in one line.
    fn errors(&self, value: &Value) -> Option<String> {
        if self.shape.as_ref().is_some_and(|shape| shape.fits(value) == Some(true)) {
            return None;
        }
        // What does not fit is told in the library's words, and what is uncertain is its to judge.
        match self.whole.get_or_init(|| validator(&self.schema)) {
            Ok(validator) => errors(validator, value),
            Err(error) => Some(format!("it cannot be checked: {error}")),
        }
    }
}

fn checkers(tool: &Tool) -> Result<(Checker, Option<Checker>), String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if tool.name().len() > LONGEST_NAME || !tool.name().chars().all(is_good) {
        return Err(format!(
            "its name needs letters, digits, `-` and `_`, {LONGEST_NAME} of them at most"
        ));
    }
    let entry = tool.entry();
    if let Some(fault) = check_entry(&entry)?.first() {
        return Err(fault.to_string());
    }
    let input = Checker::new(&entry["input_schema"], "input_schema")?;
    let output = entry.get("output_schema").map(|schema| Checker::new(schema, "output_schema"));
    Ok((input, output.transpose()?))
}

fn validator(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKING);
    jsonschema::options()
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| error.to_string())
}

/// What is wrong with a value, in one line.
fn errors(validator: &Validator, value: &Value) -> Option<String> {
    if validator.is_valid(value) {
        return None;
    }
    // All errors are found before the first is given, and each one takes memory.
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

/// How many values there are in a value, counted up to `most`.
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
