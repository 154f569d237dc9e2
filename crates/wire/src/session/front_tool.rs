//! Tools that the front end supplies.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::bounded_id;
use crate::fields::{Malformed, optional_field};
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

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrontToolAnswer {
    pub call: String,
    /// The result, unchanged: any JSON.
    pub result: Box<RawValue>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl FrontToolAnswer {
    pub(super) fn from_members(members: &Members) -> Result<Self, Malformed> {
        let result = members
            .get("result")
            .and_then(|result| RawValue::from_string(result.get().to_owned()).ok());
        Ok(Self {
            call: bounded_id(members, "call")?,
            result: result.ok_or(Malformed::wrong_field("result", "any JSON"))?,
            is_error: optional_field(members, "isError", "true or false")?.unwrap_or_default(),
        })
    }
}

pub(super) fn decode_tools(members: &Members) -> Result<Vec<FrontTool>, Malformed> {
    const TOOLS: &str = "an array of at most 64 objects with name, description and inputSchema";
    let tools: Vec<FrontTool> = optional_field(members, "tools", TOOLS)?.unwrap_or_default();
    if tools.len() <= MOST_FRONT_TOOLS {
        Ok(tools)
    } else {
        Err(Malformed::wrong_field("tools", TOOLS))
    }
}
