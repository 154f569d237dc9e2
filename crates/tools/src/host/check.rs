//! A tool with a checked description, which checks its arguments and results.

use callgate_wire::tools::error_type;
use serde_json::Value;
use serde_json::value::RawValue;

use super::HostError;
use super::outcome::{ToolError, ToolOutput};
use super::tool::Tool;
use crate::mcp::check_entry;
use crate::schema::{SchemaChecker, misfit_message};

/// The longest tool name that the model's API accepts.
const LONGEST_NAME: usize = 64;
/// A tool whose description real clients accept.
#[derive(Debug)]
pub(super) struct CheckedTool {
    tool: Tool,
    input: SchemaChecker,
    output: Option<SchemaChecker>,
}

impl std::ops::Deref for CheckedTool {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl CheckedTool {
    pub(super) fn new(tool: Tool) -> Result<Self, HostError> {
        let (input, output) = build_checkers(&tool)
            .map_err(|reason| HostError::Tool { name: tool.name().to_owned(), reason })?;
        Ok(Self { tool, input, output })
    }

    /// Returns the arguments if they fit the input schema; otherwise an error for the model.
    pub(super) fn check_arguments(&self, arguments: &RawValue) -> Result<Value, ToolError> {
        let refused = |reason: String| {
            ToolError::named(error_type::ARGUMENT, misfit_message(self.name(), &reason))
        };
        let arguments: Value =
            serde_json::from_str(arguments.get()).map_err(|error| refused(error.to_string()))?;
        match self.input.errors(&arguments) {
            None => Ok(arguments),
            Some(reason) => Err(refused(reason)),
        }
    }

    /// Returns the result in MCP's form, if it fits the output schema. Clients refuse one that does
    /// not, with messages that help nobody.
    pub(super) fn check_result(&self, output: ToolOutput) -> Result<Value, ToolError> {
        let is_question = output.is_question();
        let result = output.into_value()?;
        let Some(checker) = &self.output else { return Ok(result) };
        // The output schema is a promise about successful results only.
        if is_question || result["isError"] == Value::Bool(true) {
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

fn build_checkers(tool: &Tool) -> Result<(SchemaChecker, Option<SchemaChecker>), String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if tool.name().len() > LONGEST_NAME || !tool.name().chars().all(is_good) {
        return Err(format!(
            "its name has to consist of at most {LONGEST_NAME} letters, digits, `-` and `_`"
        ));
    }
    let entry = tool.entry();
    if let Some(fault) = check_entry(&entry)?.first() {
        return Err(fault.to_string());
    }
    let input = SchemaChecker::new(&entry["input_schema"], "input_schema")?;
    let output =
        entry.get("output_schema").map(|schema| SchemaChecker::new(schema, "output_schema"));
    Ok((input, output.transpose()?))
}
