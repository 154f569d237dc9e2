//! An MCP server on HTTP that answers some requests with far more than anybody asked for.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::http::{Incoming, Outgoing, Server, Service};

/// How much is sent where an answer is flooded: more than any client should keep, and little
/// enough for a machine whose client keeps it.
const FLOOD: usize = 256 * 1024 * 1024;
const CHUNK: usize = 64 * 1024;

/// A running server. Its tools `json`, `refusal`, `event` and `lines` are flooded in the form that
/// their name says; `echo` returns its `text`. At the path `/list` the list of tools is flooded,
/// at `/initialize` the first answer.
#[derive(Debug)]
pub struct McpFlood {
    server: Server,
}

impl McpFlood {
    /// Starts it on loopback.
    #[must_use]
    pub fn start() -> Self {
        Self { server: Server::start(Arc::new(FloodService)) }
    }

    /// Returns its address with a path, such as `/mcp`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }
}

struct FloodService;

impl Service for FloodService {
    fn answer(&self, request: Incoming, out: &mut Outgoing<'_>) -> io::Result<()> {
        if request.method != "POST" {
            return out.whole(405, &[], b"");
        }
        let message: Value = serde_json::from_slice(&request.body)?;
        let Some(id) = message.get("id") else { return out.whole(202, &[], b"") };
        let method = message["method"].as_str().unwrap_or_default();
        let is_flooded = request.path.strip_prefix('/').is_some_and(|path| match path {
            "list" => method == "tools/list",
            path => path == method,
        });
        if is_flooded {
            return flood(out, "json");
        }
        match method {
            "initialize" => result(
                out,
                id,
                &json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "flood", "version": "1"},
                }),
            ),
            "tools/list" => {
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
                let names = ["echo", "json", "refusal", "event", "lines"];
                result(out, id, &json!({"tools": names.map(tool)}))
            }
            "tools/call" => match message["params"]["name"].as_str().unwrap_or_default() {
                "echo" => {
                    let text = &message["params"]["arguments"]["text"];
                    result(out, id, &json!({"content": [{"type": "text", "text": text}]}))
                }
                way => flood(out, way),
            },
            _ => {
                let error = json!({"code": -32601, "message": "no such method"});
                let answer = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
                out.whole(200, &[("content-type", "application/json")], answer.as_bytes())
            }
        }
    }

    fn max_body(&self) -> usize {
        1024 * 1024
    }
}

fn result(out: &mut Outgoing<'_>, id: &Value, result: &Value) -> io::Result<()> {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    out.whole(200, &[("content-type", "application/json")], answer.as_bytes())
}

/// Sends an answer that is far too long. Its end is an error for a client that hangs up early.
fn flood(out: &mut Outgoing<'_>, way: &str) -> io::Result<()> {
    let (status, kind, first) = match way {
        "refusal" => (400, "text/plain", "no"),
        "event" | "lines" => (200, "text/event-stream", "data: "),
        _ => (200, "application/json", "{\"jsonrpc\": \"2.0\", \"x\": \""),
    };
    out.begin(status, &[("content-type", kind)])?;
    out.chunk(first.as_bytes())?;
    let chunk = match way {
        "lines" => "data: x\n".repeat(CHUNK / 8).into_bytes(),
        _ => vec![b'x'; CHUNK],
    };
    for _ in 0..FLOOD / CHUNK {
        out.chunk(&chunk)?;
    }
    out.end()
}
