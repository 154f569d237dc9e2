//! The lines that an MCP server writes.

use std::io::IoSlice;

use callgate_wire::mcp::{LONGEST_LINE, MODERN, meta};
use callgate_wire::raw::{Json, Members, json_string};
use callgate_wire::tools::{CallProgress, ErrorPayload, error_type};
use serde_json::json;

use super::{Catalogue, McpEra, McpRefusal};

const RESULT_TYPE: &str = "resultType";
const INPUT_REQUIRED: &str = "input_required";

/// What is needed to answer a call: its id, its progress token, and its era.
#[derive(Debug, Clone)]
pub struct CallTicket {
    id: String,
    token: Option<String>,
    era: McpEra,
}

/// The response to a call: one line, in which the tool's result is not copied.
#[derive(Debug)]
pub struct CallReply<'a> {
    head: String,
    body: &'a str,
    tail: &'static str,
}

impl CallReply<'_> {
    /// Returns the line in the pieces that are written.
    #[must_use]
    pub fn pieces(&self) -> [IoSlice<'_>; 3] {
        [&self.head, self.body, self.tail].map(|piece| IoSlice::new(piece.as_bytes()))
    }

    /// Returns the line in one piece.
    #[must_use]
    pub fn into_line(self) -> Vec<u8> {
        (self.head + self.body + self.tail).into_bytes()
    }
}

impl CallTicket {
    pub(super) fn new(id: Json<'_>, token: Option<Json<'_>>, era: McpEra) -> Self {
        let token = token.map(|token| token.get().to_owned());
        Self { id: id.get().to_owned(), token, era }
    }

    /// Returns true if this is the request with this id, given as JSON text.
    #[must_use]
    pub fn has_id(&self, id: &str) -> bool {
        self.id == id
    }

    /// Returns true if the client asked for progress notifications.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    /// Answers with the tool's result, an object on one line; or with an error if no client would
    /// accept it.
    #[must_use]
    pub fn result_reply<'a>(&self, result: Json<'a>) -> CallReply<'a> {
        let members = result.members();
        if let Err(error) = self.check_result(&members) {
            return self.error_reply(&error);
        }
        let id = &self.id;
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
        let reply = if self.era == McpEra::Modern && members.get(RESULT_TYPE).is_none() {
            with_result_type(head, result.get())
        } else {
            CallReply { head, body: result.get(), tail: "}\n" }
        };
        self.within_limit(reply)
    }

    /// Checks that a result has content, or asks something that the client can ask its user.
    fn check_result(&self, result: &Members<'_>) -> Result<(), ErrorPayload<'static>> {
        let error = |kind: &'static str, message: &'static str| {
            Err(ErrorPayload { message: message.into(), kind: kind.into() })
        };
        if result.string(RESULT_TYPE).as_deref() == Some(INPUT_REQUIRED) {
            return match self.era {
                McpEra::Modern => Ok(()),
                McpEra::Legacy => error(
                    error_type::EXECUTION,
                    "the tool asks its user something, which only clients that speak MCP \
                     2026-07-28 can pass on: use a newer one, or call it with all it needs",
                ),
            };
        }
        match result.get("content") {
            Some(content) if content.get().starts_with('[') => Ok(()),
            Some(_) => error(error_type::PROTOCOL, "the host's `result.content` is not an array"),
            None => error(error_type::PROTOCOL, "the host's `result` has no `content`"),
        }
    }

    /// Returns the reply, or an error if its line is too long. The line end does not count.
    fn within_limit<'a>(&self, reply: CallReply<'a>) -> CallReply<'a> {
        let size = reply.head.len() + reply.body.len() + reply.tail.len() - 1;
        if size <= LONGEST_LINE {
            return reply;
        }
        let message = format!(
            "the tool's answer has {size} bytes, but {LONGEST_LINE} bytes is the limit: \
             have it return less at once"
        );
        let kind = error_type::MESSAGE_SIZE.into();
        // The error is short, so this does not come here again.
        self.error_reply(&ErrorPayload { message: message.into(), kind })
    }

    /// Answers with an error that the model can read: a result with `isError`.
    #[must_use]
    pub fn error_reply(&self, error: &ErrorPayload<'_>) -> CallReply<'static> {
        // It is no error of JSON-RPC, because it is up to the client how much of that the model
        // sees.
        let text = json_string(&format!("{}: {}", error.kind, error.message));
        let content = format!(r#""content":[{{"type":"text","text":{text}}}],"isError":true"#);
        let result = match self.era {
            McpEra::Legacy => format!("{{{content}}}"),
            McpEra::Modern => format!(r#"{{"{RESULT_TYPE}":"complete",{content}}}"#),
        };
        self.within_limit(CallReply { head: result_line(&self.id, &result), body: "", tail: "" })
    }

    /// Returns the progress notification, if the client asked for one.
    #[must_use]
    pub fn progress_notification(&self, progress: &CallProgress<'_>) -> Option<Vec<u8>> {
        let token = self.token.as_ref()?;
        let progress = serde_json::to_string(progress).ok()?;
        let members = progress.strip_prefix('{')?;
        let params = format!(r#"{{"progressToken":{token},{members}"#);
        Some(notification_line("notifications/progress", &params).into_bytes())
    }
}

/// Adds the `resultType` that the modern era demands and a host of the legacy era does not know. It
/// goes in front, so that the result is not copied.
fn with_result_type(mut head: String, result: &str) -> CallReply<'_> {
    // No more than one brace is taken off: a name or the end follows the one of the object.
    let members = result.trim_start_matches('{').trim_start();
    head.push_str(r#"{"resultType":"complete""#);
    if members != "}" {
        head.push(',');
    }
    CallReply { head, body: members, tail: "}\n" }
}

pub(super) fn result_line(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n")
}

pub(super) fn error_line(id: &str, refusal: &McpRefusal) -> String {
    let McpRefusal { code, message, data } = refusal;
    let data = data.as_ref().map(|data| format!(r#","data":{data}"#)).unwrap_or_default();
    let message = json_string(message);
    let error = format!(r#"{{"code":{code},"message":{message}{data}}}"#);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
}

fn notification_line(method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n")
}

fn server_info() -> serde_json::Value {
    json!({"name": "callgate", "version": env!("CARGO_PKG_VERSION")})
}

/// Returns the result of `server/discover`. The tools never change, so no `listChanged` is
/// announced, and clients keep no subscription open for it.
pub(super) fn discover_result() -> String {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {meta::SERVER_INFO: server_info()},
    })
    .to_string()
}

pub(super) fn initialize_result(version: &str) -> String {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
    })
    .to_string()
}

pub(super) fn listed_modern(catalogue: &Catalogue) -> String {
    let meta = json!({meta::SERVER_INFO: server_info()});
    let tools = &catalogue.tools;
    format!(
        r#"{{"resultType":"complete","tools":{tools},"ttlMs":0,"cacheScope":"private","_meta":{meta}}}"#
    )
}

pub(super) fn acknowledgement_line(id: Json<'_>) -> String {
    let key = meta::SUBSCRIPTION_ID;
    let params = format!(r#"{{"_meta":{{"{key}":{id}}},"notifications":{{}}}}"#);
    notification_line("notifications/subscriptions/acknowledged", &params)
}

#[cfg(test)]
mod tests;
