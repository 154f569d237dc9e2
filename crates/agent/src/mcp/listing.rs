//! Lists the tools of a server, whatever the server sends as their list.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, JsonObject, ListToolsRequest, ListToolsResult, PaginatedRequestParams,
    ServerResult, Tool,
};
use rmcp::service::{Peer, ServiceError};
use serde_json::Value;

use crate::tool::input_schema;

/// The most pages of a list that are read. A list may have no end.
const MOST_PAGES: usize = 64;

/// The tools of a server that can be used, and what is wrong with the others.
#[derive(Debug, Default)]
pub(super) struct ToolListing {
    pub(super) tools: Vec<Tool>,
    pub(super) problems: Vec<String>,
}

/// Asks for the tools, page by page. Tools that cannot be used are left out: a model service would
/// refuse every message because of one of them.
pub(super) async fn list_tools(
    peer: &Peer<RoleClient>,
    most: usize,
) -> Result<ToolListing, ServiceError> {
    let mut listed = ToolListing::default();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        cursor = match peer.send_request(request).await? {
            ServerResult::ListToolsResult(ListToolsResult { tools, next_cursor, .. }) => {
                for tool in tools {
                    listed.add_tool(tool);
                }
                next_cursor
            }
            // A single malformed tool makes the whole page invalid.
            ServerResult::CustomResult(page) => listed.add_page(&page.0)?,
            _ => return Err(ServiceError::UnexpectedResponse),
        };
        // In the loop, so that of an endless list no more is read than is used.
        if listed.tools.len() > most {
            listed.tools.truncate(most);
            listed.problems.push(format!("it has more than {most} tools, and no more are used"));
            return Ok(listed);
        }
        if cursor.is_none() {
            return Ok(listed);
        }
    }
    listed.problems.push(format!("its list of tools has more than {MOST_PAGES} pages"));
    Ok(listed)
}

impl ToolListing {
    fn add_tool(&mut self, mut tool: Tool) {
        if tool.name.is_empty() {
            return self.problems.push("a tool has no name, and is not used".to_owned());
        }
        match input_schema(JsonObject::clone(&tool.input_schema)) {
            Ok(schema) => {
                tool.input_schema = Arc::new(schema);
                self.tools.push(tool);
            }
            Err(why) => self.problems.push(format!("the tool `{}` is not used: {why}", tool.name)),
        }
    }

    /// Adds the tools of a page that was not understood as a whole. Returns the next cursor.
    fn add_page(&mut self, page: &Value) -> Result<Option<String>, ServiceError> {
        let tools = page.get("tools").and_then(Value::as_array);
        for tool in tools.ok_or(ServiceError::UnexpectedResponse)? {
            match serde_json::from_value::<Tool>(tool.clone()) {
                Ok(tool) => self.add_tool(tool),
                Err(error) => {
                    let name = tool.get("name").and_then(Value::as_str).unwrap_or("(no name)");
                    self.problems.push(format!("the tool `{name}` is not used: {error}"));
                }
            }
        }
        Ok(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
    }
}
