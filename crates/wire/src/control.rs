//! Claude Code's stream-json: the messages between the CLI and the program that drives it, on
//! stdio.
//!
//! Each line is one JSON object. Besides the messages of a conversation there are control requests,
//! which either side may send and the other answers. Only what has to be understood is modelled.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::raw::{Json, Members, NotJson, json_string};

#[derive(Debug)]
pub enum CliMessage<'a> {
    /// A control request, which waits for [`success_line`] or [`failure_line`] with this id.
    Request {
        id: Cow<'a, str>,
        /// What is requested, such as `can_use_tool`.
        subtype: Cow<'a, str>,
        request: Members<'a>,
    },
    /// The answer to a control request of ours, or why there is none.
    Answer { id: Cow<'a, str>, outcome: Result<Json<'a>, String> },
    /// The answer to one of the CLI's control requests is not wanted any more.
    Cancel { id: Cow<'a, str> },
    /// Anything else: the conversation.
    Message {
        /// The message's type, such as `assistant`.
        kind: Cow<'a, str>,
        message: Members<'a>,
    },
}

impl<'a> CliMessage<'a> {
    pub fn decode(line: &'a [u8]) -> Result<Self, NotJson> {
        let line = std::str::from_utf8(line)
            .map_err(|error| NotJson { bytes_read: error.valid_up_to() })?;
        let message = Members::from_text(line)?;
        let kind = message.string("type").unwrap_or_default();
        let id = message.string("request_id").unwrap_or_default();
        Ok(match &*kind {
            "control_request" => {
                let request = message.get("request").map(Json::members).unwrap_or_default();
                let subtype = request.string("subtype").unwrap_or_default();
                Self::Request { id, subtype, request }
            }
            "control_response" => {
                Self::from_response(&message.get("response").map(Json::members).unwrap_or_default())
            }
            "control_cancel_request" => Self::Cancel { id },
            _ => Self::Message { kind, message },
        })
    }

    fn from_response(response: &Members<'a>) -> Self {
        let id = response.string("request_id").unwrap_or_default();
        let outcome = match response.string("subtype").as_deref() {
            Some("success") => Ok(response.get("response").unwrap_or(Json::EMPTY)),
            // Whatever is not plainly a success counts as a failure, so that no caller waits for an
            // answer.
            _ => Err(response.string("error").unwrap_or_default().into_owned()),
        };
        Self::Answer { id, outcome }
    }
}

/// Returns a control request as a line. `request` has a `subtype` and what belongs to it.
pub fn request_line(id: &str, request: &Value) -> String {
    let line = json!({"type": "control_request", "request_id": id, "request": request});
    format!("{line}\n")
}

/// Writes what the user says: a string, or a list of content blocks. A verbatim message reaches
/// the model as it is (CLI 2.1.248 and later); in any other the CLI reads the files behind `@path`
/// and runs what begins with a slash.
pub fn user_message(content: &Value, id: &str, is_verbatim: bool) -> String {
    let mut line = json!({
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": null,
        "session_id": "default",
        "uuid": id,
    });
    if is_verbatim {
        line["client_composed"] = json!(true);
    }
    format!("{line}\n")
}

/// Answers a control request of the CLI; `response` is JSON text on one line.
pub fn success_line(id: &str, response: &str) -> String {
    // Put together as text, because the response is only relayed and keeps its bytes.
    let id = json_string(id);
    format!(
        "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":{id},\"response\":{response}}}}}\n"
    )
}

/// Refuses a control request of the CLI.
pub fn failure_line(id: &str, error: &str) -> String {
    let response = json!({"subtype": "error", "request_id": id, "error": error});
    format!("{}\n", json!({"type": "control_response", "response": response}))
}

#[cfg(test)]
mod tests;
