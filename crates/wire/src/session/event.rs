//! The events that a request can have.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    AgentQuestion, ErrorData, FrontToolCall, PastUserMessage, PermissionRequest,
    PermissionResolved, QuestionResolved, RuntimeStatus, ToolInput, ToolProgress, ToolResult,
    ToolUse, TurnChanges, UnreadableReason, UsageReport,
};
use crate::fields::{Malformed, optional_object, required, write_optional};
use crate::raw::{Members, from_object, quoted};

/// The kinds of [`SessionReply`](super::SessionReply).
#[derive(Debug, Clone)]
pub enum SessionEvent {
    /// A message of the user's, in a conversation that is loaded as events, or one that steers the
    /// turn.
    UserMessage(PastUserMessage),
    /// A piece of the model's text, to be appended.
    Token(String),
    /// A piece of the model's thoughts, to be appended.
    Thinking(String),
    /// A tool is about to run.
    ToolUse(ToolUse),
    /// A tool has succeeded, failed, or was not run.
    ToolResult(ToolResult),
    /// The front end is to run a tool that it supplies.
    ToolCall(FrontToolCall),
    /// A running tool has written output.
    ToolProgress(ToolProgress),
    /// A piece of a tool's input, while the model writes it.
    ToolInput(ToolInput),
    /// What the turn has taken so far.
    Usage(UsageReport),
    /// A person is asked whether a tool may run.
    PermissionRequest(PermissionRequest),
    /// A question was answered or withdrawn.
    PermissionResolved(PermissionResolved),
    /// A person is asked something by the model or by a tool server.
    Question(AgentQuestion),
    /// Such a question was answered or withdrawn.
    QuestionResolved(QuestionResolved),
    /// How many files the turn has changed.
    TurnChanges(TurnChanges),
    /// Something that the user may want to know.
    Notice(Notice),
    /// The request is finished. The object holds its result.
    Done(Option<Box<RawValue>>),
    /// The request could not be finished.
    Error {
        /// What could not be done, for a person.
        error: String,
        /// The error in a form for programs.
        data: Option<ErrorData>,
    },
    /// The answer to `get_status`.
    Status(Box<RuntimeStatus>),
}

/// Something that the user may want to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its kind in one word, such as `retry`. A reader accepts other words.
    pub kind: String,
    /// The text for a person.
    pub text: String,
}

impl SessionEvent {
    /// Creates a `done` with data.
    #[must_use]
    pub fn done(data: &impl Serialize) -> Self {
        Self::Done(to_raw_value(data).ok())
    }

    /// Adds the kind of the request to the data of a `done`, so that a reader knows how to read it.
    /// Every other event stays unchanged.
    #[must_use]
    pub fn tagged(self, kind: &str) -> Self {
        match RawValue::from_string(quoted(kind)) {
            Ok(kind) => self.with_member("kind", &kind),
            Err(_) => self,
        }
    }

    /// Adds a member to the data of a `done`. Every other event stays unchanged.
    #[must_use]
    pub fn with_member(self, name: &str, value: &RawValue) -> Self {
        let Self::Done(Some(data)) = &self else { return self };
        let Some(rest) = data.get().strip_prefix('{') else { return self };
        let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
        let whole = format!("{{{}:{value}{comma}{rest}", quoted(name));
        RawValue::from_string(whole).map_or(self, |whole| Self::Done(Some(whole)))
    }

    /// Returns a notice of this kind.
    #[must_use]
    pub fn notice(kind: &str, text: impl Into<String>) -> Self {
        Self::Notice(Notice { kind: kind.to_owned(), text: text.into() })
    }

    /// Creates an error without data.
    #[must_use]
    pub fn error(error: impl Into<String>) -> Self {
        Self::Error { error: error.into(), data: None }
    }

    /// Returns the data of a `done`, if it has data of this type.
    #[must_use]
    pub fn done_data<T: DeserializeOwned>(&self) -> Option<T> {
        match self {
            Self::Done(Some(data)) => from_object(data.get()).ok(),
            _ => None,
        }
    }

    /// Returns true if this is the last reply to its request.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Error { .. } | Self::Status(_))
    }

    /// Returns its name in the protocol.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UserMessage(_) => "user_message",
            Self::Token(_) => "token",
            Self::Thinking(_) => "thinking",
            Self::ToolUse(_) => "tool_use",
            Self::ToolResult(_) => "tool_result",
            Self::ToolCall(_) => "tool_call",
            Self::ToolProgress(_) => "tool_progress",
            Self::ToolInput(_) => "tool_input",
            Self::Usage(_) => "usage",
            Self::PermissionRequest(_) => "permission_request",
            Self::PermissionResolved(_) => "permission_resolved",
            Self::Question(_) => "question",
            Self::QuestionResolved(_) => "question_resolved",
            Self::TurnChanges(_) => "turn_changes",
            Self::Notice(_) => "notice",
            Self::Done(_) => "done",
            Self::Error { .. } => "error",
            Self::Status(_) => "status",
        }
    }

    pub(super) fn read(kind: &str, members: &Members) -> Result<Self, UnreadableReason> {
        Ok(match kind {
            "user_message" => Self::UserMessage(data(members, USER_MESSAGE)?),
            "token" => Self::Token(required(members, "token", "a string")?),
            "thinking" => Self::Thinking(required(members, "thinking", "a string")?),
            "tool_use" => Self::ToolUse(data(members, TOOL_USE)?),
            "tool_result" => Self::ToolResult(data(members, TOOL_RESULT)?),
            "tool_call" => Self::ToolCall(data(members, TOOL_CALL)?),
            "tool_progress" => Self::ToolProgress(data(members, TOOL_PROGRESS)?),
            "tool_input" => Self::ToolInput(data(members, TOOL_INPUT)?),
            "usage" => Self::Usage(data(members, USAGE)?),
            "permission_request" => Self::PermissionRequest(data(members, REQUEST)?),
            "permission_resolved" => Self::PermissionResolved(data(members, RESOLVED)?),
            "question" => Self::Question(data(members, QUESTION)?),
            "question_resolved" => Self::QuestionResolved(data(members, ANSWERED)?),
            "turn_changes" => Self::TurnChanges(data(members, CHANGES)?),
            "notice" => Self::Notice(data(members, NOTICE)?),
            "done" => Self::Done(optional_object(members, "data")?),
            "error" => Self::Error {
                error: required(members, "error", "a string")?,
                data: members.some("data").map(|_| data(members, ERROR)).transpose()?,
            },
            "status" => Self::Status(Box::new(data(members, STATUS)?)),
            _ => return Err(UnreadableReason::unknown(kind)),
        })
    }

    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::UserMessage(data) => map.serialize_entry("data", data),
            Self::Token(token) => map.serialize_entry("token", token),
            Self::Thinking(thinking) => map.serialize_entry("thinking", thinking),
            Self::ToolUse(data) => map.serialize_entry("data", data),
            Self::ToolResult(data) => map.serialize_entry("data", data),
            Self::ToolCall(data) => map.serialize_entry("data", data),
            Self::ToolProgress(data) => map.serialize_entry("data", data),
            Self::ToolInput(data) => map.serialize_entry("data", data),
            Self::Usage(data) => map.serialize_entry("data", data),
            Self::PermissionRequest(data) => map.serialize_entry("data", data),
            Self::PermissionResolved(data) => map.serialize_entry("data", data),
            Self::Question(data) => map.serialize_entry("data", data),
            Self::QuestionResolved(data) => map.serialize_entry("data", data),
            Self::TurnChanges(data) => map.serialize_entry("data", data),
            Self::Notice(data) => map.serialize_entry("data", data),
            Self::Done(data) => write_optional(map, "data", data.as_ref()),
            Self::Error { error, data } => {
                map.serialize_entry("error", error)?;
                write_optional(map, "data", data.as_ref())
            }
            Self::Status(data) => map.serialize_entry("data", data),
        }
    }
}

const USER_MESSAGE: &str = "an object with message and attachments";
const TOOL_USE: &str = "an object with toolId, toolName and input";
const TOOL_RESULT: &str = "an object with toolId, toolName and result";
const TOOL_CALL: &str = "an object with call, toolId, toolName and input";
const TOOL_PROGRESS: &str = "an object with toolId, stream and text";
const TOOL_INPUT: &str = "an object with toolId, toolName and text";
const USAGE: &str = "an object with numbers of tokens";
const REQUEST: &str = "an object with question, toolId, toolName, input and title";
const RESOLVED: &str = "an object with question, decision and text";
const QUESTION: &str = "an object with question, toolId, text and fields";
const ANSWERED: &str = "an object with question, outcome and text";
const CHANGES: &str = "an object with a number of files";
const NOTICE: &str = "an object with kind and text";
const ERROR: &str = "an object with kind, status and retryable";
const STATUS: &str = "an object with state, conversationLength and uptime";

fn data<T: DeserializeOwned>(members: &Members, expected: &'static str) -> Result<T, Malformed> {
    let data = members.get("data").and_then(|data| from_object(data.get()).ok());
    data.ok_or(Malformed::wrong("data", expected))
}
