//! What is said: the question, the tool, the answer, and the CLI's words around them.

use callgate_testkit::messages::Turn;
use serde_json::{Value, json};

pub(crate) const PROMPT: &str = "Say hello with the tool";
pub(crate) const ANSWER: &str = "It said hello.";
/// The MCP server of both contenders, and its tool.
pub(crate) const SERVER: &str = "callgate";
pub(crate) const TOOL: &str = "echo";
pub(crate) const DESCRIPTION: &str = "Says it again.";
const WORD: &str = "hello";

/// What the service answers: first a use of the tool, then a text.
pub(crate) fn turns() -> [Turn; 2] {
    let tool = format!("mcp__{SERVER}__{TOOL}");
    [Turn::tool_use(tool, json!({"text": WORD})), Turn::text(ANSWER)]
}

/// What a line of the CLI is about.
pub(crate) enum Said {
    /// It answers the `initialize` with this id.
    Initialized(String),
    /// It has a message for the MCP server, and waits for an answer under this id.
    ForServer { id: String, message: Value },
    /// It has begun to work on what the user said.
    Began,
    /// All is answered.
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

/// A string as it is.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("this is a string").to_owned()
}

/// What a server says to a message of the CLI, made with as little work as possible.
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
