//! A tool of a server.

use std::collections::HashSet;
use std::sync::Arc;

use callgate_mask::text::shortened_text;
use callgate_store::Sha256Hash;
use callgate_wire::session::tool_kind;
use rmcp::model::{CallToolResult, JsonObject, Tool};

use super::connection::CallRoute;
use super::result::outcome_of_result;
use crate::BoxFuture;
use crate::tool::{
    AgentTool, CallOutcome, ToolInvocation, ToolSpec, function_tool, is_name_character, raw_json,
};

/// The longest name that all providers of models accept.
const LONGEST_NAME: usize = 64;
/// The longest description that is given to the model, in characters.
const LONGEST_DESCRIPTION: usize = 4_000;
/// How many digits of a digest are added to a name that would not be unique otherwise.
const DIGITS: usize = 8;

/// Calls a tool by its name at the server. Dropping the future cancels the call.
pub(super) type CallFunction = Arc<
    dyn Fn(String, JsonObject, CallRoute) -> BoxFuture<'static, Result<CallToolResult, String>>
        + Send
        + Sync,
>;

/// Returns the tools of a server, each under a name of its own. Hints are believed if the server
/// `is_trusted`.
pub(super) fn server_tools(
    server: &str,
    is_trusted: bool,
    call: &CallFunction,
    tools: impl IntoIterator<Item = Tool>,
) -> Vec<Arc<dyn AgentTool>> {
    let mut taken = HashSet::new();
    let tool = |tool: Tool| {
        let name = full_name(server, &tool.name, &taken);
        taken.insert(name.clone());
        let hints = tool.annotations.as_ref();
        let is_read_only = hints.and_then(|hints| hints.read_only_hint).unwrap_or(false);
        let description = tool.description.as_deref().unwrap_or_default();
        let spec = ToolSpec {
            name: name.into(),
            description: shortened_text(description, LONGEST_DESCRIPTION).into(),
            input_schema: raw_json(&tool.input_schema),
            // A project's server must not say of itself that it changes nothing.
            is_read_only: is_read_only && is_trusted,
            kind: tool_kind::OTHER,
        };
        let (name, call) = (tool.name.into_owned(), Arc::clone(call));
        function_tool(spec, move |invocation| {
            call_tool(name.clone(), Arc::clone(&call), invocation)
        })
    };
    tools.into_iter().map(tool).collect()
}

async fn call_tool(
    name: String,
    call: CallFunction,
    invocation: ToolInvocation,
) -> Result<CallOutcome, String> {
    let arguments = serde_json::from_str(invocation.input.get())
        .map_err(|error| format!("the input is not an object: {error}"))?;
    let route = CallRoute { progress: invocation.progress, asker: invocation.asker };
    Ok(outcome_of_result(&call(name, arguments, route).await?))
}

/// Returns the name of a tool for the model and for rules: `mcp__SERVER__TOOL`. Characters that
/// models do not accept are replaced; a name that is too long or taken ends with a digest.
fn full_name(server: &str, tool: &str, taken: &HashSet<String>) -> String {
    let tool_word = tool.replace(|letter: char| !is_name_character(letter), "_");
    let mut name = format!("mcp__{server}__{tool_word}");
    // Two names of a server may differ only in characters that are replaced.
    if name.len() <= LONGEST_NAME && !taken.contains(&name) {
        return name;
    }
    // It has nothing but ASCII by now, so that it can be cut anywhere.
    name.truncate(LONGEST_NAME - DIGITS - 1);
    name.push('_');
    name + &Sha256Hash::hash_bytes(tool.as_bytes()).to_string()[..DIGITS]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_tool_it_is_and_are_unique() {
        let mut taken = HashSet::new();
        let mut name = |tool: &str| {
            let name = full_name("files", tool, &taken);
            assert!(name.len() <= LONGEST_NAME);
            assert!(taken.insert(name.clone()), "{name} is taken");
            name
        };
        assert_eq!(name("read_file"), "mcp__files__read_file");
        assert_eq!(name("a.b/c"), "mcp__files__a_b_c");
        assert_eq!(name("a b c"), "mcp__files__a_b_c_0e9f6403");
        let long = name(&"x".repeat(100));
        assert!(long.starts_with("mcp__files__xxx") && long.len() == 64, "{long}");
        assert_ne!(name(&"x".repeat(101)), long);
    }
}
