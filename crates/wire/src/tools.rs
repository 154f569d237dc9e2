//! The tools protocol between bridge and host: length-prefixed JSON on a Unix socket.
//!
//! `docs/protocol/tools.md` is the normative text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::raw::{Json, Members, from_object, json_string};

/// The largest message either side may send, in bytes of payload.
pub const MAX_MESSAGE: usize = 10_485_760;
/// The prefix of a session's socket file, before its id.
pub const SOCKET_PREFIX: &str = "claudecode_ipc_";
/// The suffix of a session's socket file, after its id.
pub const SOCKET_SUFFIX: &str = ".sock";
/// The prefix of a session's schema file, before its id.
pub const SCHEMA_PREFIX: &str = "claudecode_ipc_schema_";
/// The suffix of a session's schema file, after its id.
pub const SCHEMA_SUFFIX: &str = ".json";
/// The only method.
pub const CALL_TOOL: &str = "call_tool";

/// The error names that callgate uses. A host may send others: the class name of whatever its tool
/// raised.
pub mod error_type {
    pub const NOT_FOUND: &str = "ToolNotFoundError";
    /// The arguments do not fit the tool's input schema.
    pub const ARGUMENT: &str = "ToolArgumentError";
    /// The tool exceeded its time limit.
    pub const TIMEOUT: &str = "ToolTimeoutError";
    pub const CANCELLED: &str = "ToolCancelledError";
    /// The tool failed or panicked without naming the error.
    pub const EXECUTION: &str = "IPCToolExecutionError";
    /// A message was over [`MAX_MESSAGE`](super::MAX_MESSAGE).
    pub const MESSAGE_SIZE: &str = "IPCMessageSizeError";
    /// The other side cannot be reached, or went away.
    pub const CONNECTION: &str = "IPCConnectionError";
    /// The other side broke the protocol.
    pub const PROTOCOL: &str = "IPCError";
}

#[derive(Debug)]
pub struct CallRequest<'a> {
    pub name: Cow<'a, str>,
    /// The tool's arguments, an object.
    pub arguments: Json<'a>,
    /// The agent CLI's `_meta` of the call: its ids, a progress token. Optional.
    pub meta: Option<Json<'a>>,
    /// What the client adds to a call that it repeats after a question. Optional.
    pub retry: RetryFields<'a>,
}

/// What a client adds to a call that it repeats because the tool had asked its user something (MCP
/// 2026-07-28).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryFields<'a> {
    /// The user's answers, MCP's `inputResponses`.
    pub input_responses: Option<Json<'a>>,
    /// The state that the tool returned with its questions, MCP's `requestState`.
    pub request_state: Option<Json<'a>>,
}

impl<'a> RetryFields<'a> {
    /// Reads both from the parameters of a call.
    pub fn from_params(params: &Members<'a>) -> Self {
        Self {
            input_responses: params.get_non_null("inputResponses"),
            request_state: params.get_non_null("requestState"),
        }
    }
}

/// The answer of the host: exactly one of `result` and `error`, or a `progress` before them.
#[derive(Debug)]
pub enum HostResponse<'a> {
    /// The tool's result, an MCP `CallToolResult`, untouched.
    Result(Json<'a>),
    Error(ErrorPayload<'a>),
    /// The call is still running. Sent only for a call whose `_meta` has a `progressToken`.
    Progress(CallProgress<'a>),
}

#[derive(Debug, Deserialize, Serialize)]
pub struct ErrorPayload<'a> {
    /// What could not be done, and what to do next.
    #[serde(borrow)]
    pub message: Cow<'a, str>,
    /// The class of the error, see [`error_type`].
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
}

#[derive(Debug, Deserialize, Serialize)]
pub struct CallProgress<'a> {
    /// Must grow from one report to the next. The bridge drops a report that is not higher than the
    /// one before.
    pub progress: f64,
    /// The final value, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub message: Option<Cow<'a, str>>,
}

impl<'a> CallRequest<'a> {
    /// Reads a bridge's message. The error is a sentence.
    pub fn decode(payload: &'a [u8]) -> Result<Self, String> {
        let payload = std::str::from_utf8(payload)
            .map_err(|error| format!("the request is not UTF-8: {error}"))?;
        let (request, params) = Members::read_with(payload, "params")
            .map_err(|error| format!("the request cannot be read: {error}"))?;
        match request.string("method").as_deref() {
            Some(CALL_TOOL) => {}
            Some(other) => {
                return Err(format!("unknown method {other:?}: there is only {CALL_TOOL:?}"));
            }
            None => return Err("the request has no `method`".to_owned()),
        }
        let params = params.ok_or("the request's `params` are not an object")?;
        Ok(Self {
            name: params.string("name").ok_or("the request's `name` is not a string")?,
            arguments: params
                .get("arguments")
                .filter(|arguments| arguments.is_object())
                .ok_or("the request's `arguments` are not an object")?,
            meta: params.get_non_null("_meta"),
            retry: RetryFields::from_params(&params),
        })
    }
}

impl<'a> HostResponse<'a> {
    /// Reads a host's message. The error is a sentence.
    pub fn decode(payload: &'a [u8]) -> Result<Self, String> {
        let payload = std::str::from_utf8(payload)
            .map_err(|error| format!("the host's answer is not UTF-8: {error}"))?;
        let answer = Members::from_text(payload)
            .map_err(|error| format!("the host's answer cannot be read: {error}"))?;
        match (answer.get("result"), answer.get("error"), answer.get("progress")) {
            (Some(result), None, None) if result.is_object() => Ok(Self::Result(result)),
            (Some(_), None, None) => Err("the host's `result` is not an object".to_owned()),
            (None, Some(error), None) => from_object(error.get())
                .map(Self::Error)
                .map_err(|error| format!("the host's `error` cannot be read: {error}")),
            (None, None, Some(progress)) => from_object(progress.get())
                .map(Self::Progress)
                .map_err(|error| format!("the host's `progress` cannot be read: {error}")),
            // With two of them the call would have two outcomes, and the bridge would have to
            // choose.
            _ => Err("the host's answer needs exactly one of `result` and `error`".to_owned()),
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Result(result) => format!(r#"{{"result":{result}}}"#).into_bytes(),
            Self::Error(error) => format!(
                r#"{{"error":{{"message":{},"type":{}}}}}"#,
                json_string(&error.message),
                json_string(&error.kind)
            )
            .into_bytes(),
            Self::Progress(progress) => {
                let progress = serde_json::to_string(progress).unwrap_or_default();
                format!(r#"{{"progress":{progress}}}"#).into_bytes()
            }
        }
    }
}

/// The parts of a `call_tool` request before and after the arguments, which are thus written
/// without being copied.
#[derive(Debug)]
pub struct CallFrame {
    /// The part before the arguments.
    pub head: String,
    /// The part after them.
    pub tail: String,
}

impl CallFrame {
    /// Creates a request for the tool `name`; `meta` and `retry` are passed on unchanged.
    pub fn new(name: &str, meta: Option<Json<'_>>, retry: RetryFields<'_>) -> Self {
        let head = format!(
            r#"{{"method":"{CALL_TOOL}","params":{{"name":{},"arguments":"#,
            json_string(name)
        );
        let more = [
            ("_meta", meta),
            ("inputResponses", retry.input_responses),
            ("requestState", retry.request_state),
        ];
        let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let members: Vec<String> =
            more.map(|(name, value)| format!(r#","{name}":{value}"#)).collect();
        let tail = format!("{}}}}}", members.concat());
        Self { head, tail }
    }

    /// Returns the size of the whole request with arguments of `arguments` bytes.
    pub fn size(&self, arguments: usize) -> usize {
        self.head.len() + arguments + self.tail.len()
    }
}
