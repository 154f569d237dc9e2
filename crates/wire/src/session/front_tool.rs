//! Tools that the front end supplies.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::bounded_id;
use crate::fields::{Malformed, required_field};
use crate::raw::Members;

pub const MOST_FRONT_TOOLS: usize = 64;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrontTool {
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its input, unchanged.
    pub input_schema: Box<RawValue>,
    /// Whether it changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrontToolCall {
    /// Identifies the call, for its answer.
    pub call: String,
    /// The id of the call's [`ToolUse`](super::ToolUse).
    pub tool_id: String,
    /// The tool, as the front end has named it.
    pub tool_name: String,
    /// The arguments, unchanged.
    pub input: Box<RawValue>,
}

message_structs! {
    pub struct FrontToolAnswer {
        call: String = bounded_id,
        /// The result, unchanged: any JSON.
        result: Box<RawValue> = "any JSON",
        is_error optional "isError": bool = "true or false",
    }
}

pub(super) fn decode_tools(
    members: &Members,
    name: &'static str,
) -> Result<Vec<FrontTool>, Malformed> {
    const TOOLS: &str = "an array of at most 64 objects with name, description and inputSchema";
    let tools: Vec<FrontTool> = required_field(members, name, TOOLS)?;
    if tools.len() <= MOST_FRONT_TOOLS {
        Ok(tools)
    } else {
        Err(Malformed::wrong_field(name, TOOLS))
    }
}
