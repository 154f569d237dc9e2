//! The conversation: the question, the tool, the answer, and the messages of the CLI around them.

use callgate_testkit::messages::Turn;
use serde_json::{Value, json};

pub(crate) const PROMPT: &str = "Say hello with the tool";
pub(crate) const ANSWER: &str = "It said hello.";
/// The MCP server of both contenders, and its tool.
pub(crate) const SERVER: &str = "callgate";
pub(crate) const TOOL: &str = "echo";
pub(crate) const DESCRIPTION: &str = "Says it again.";
const WORD: &str = "hello";

/// Returns the answers of the service: first a tool call, then a text.
pub(crate) fn turns() -> [Turn; 2] {
    let tool = format!("mcp__{SERVER}__{TOOL}");
    [Turn::tool_use(tool, json!({"text": WORD})), Turn::text(ANSWER)]
}

/// The meaning of a line of the CLI.
pub(crate) enum Said {
    /// It answers the `initialize` with this id.
    Initialized(String),
    /// It contains a message for the MCP server, and waits for an answer to this id.
    ForServer { id: String, message: Value },
    /// It begins to work on the prompt.
    Began,
    /// Everything is answered.
    Answered,
    /// Anything else.
    Other,
}

impl Said {
    pub(crate) fn read(line: &str) -> Self {
        let mut line: Value = serde_json::from_str(line).expect("the CLI writes JSON");
        match line["type"].as_str().unwrap_or_default() {
            "control_response" => Self::Initialized(text(&line["response"]["request_id"])),
            "control_request" => {
                let request = &mut line["request"];
                assert_eq!(request["subtype"], "mcp_message", "the CLI asks something else");
                let message = request["message"].take();
                Self::ForServer { id: text(&line["request_id"]), message }
            }
            "system" if line["subtype"] == "init" => Self::Began,
            "result" => Self::Answered,
            _ => Self::Other,
        }
    }
}

/// Returns a string unchanged.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("this is a string").to_owned()
}

/// Returns a server's answer to a message of the CLI, composed with as little work as possible.
pub(crate) fn server_says(message: &Value) -> Value {
    let id = &message["id"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SERVER, "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": TOOL,
            "description": DESCRIPTION,
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
            },
        }]}),
        "tools/call" => json!({"content": [{"type": "text", "text": WORD}]}),
        _ => return json!({"jsonrpc": "2.0", "result": {}}),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
