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
use crate::fields::{optional_object, required_field, required_object, write_optional};
use crate::raw::{Members, from_object, json_string};

/// Declares the events. Most have one object as their data: its type, the kind of the event, and
/// what the object must be follow their name.
macro_rules! session_events {
    ($($(#[$about:meta])+ $event:ident($data:ty) $kind:literal $expected:literal,)*) => {
        /// The kinds of [`SessionReply`](super::SessionReply).
        #[derive(Debug, Clone)]
        pub enum SessionEvent {
            /// A piece of the model's text, to be appended.
            Token(String),
            /// A piece of the model's thoughts, to be appended.
            Thinking(String),
            $($(#[$about])+ $event($data),)*
            /// The request is finished. The object holds its result.
            Done(Option<Box<RawValue>>),
            /// The request could not be finished.
            Error {
                /// What could not be done, for a person.
                error: String,
                /// The error in a form for programs.
                data: Option<ErrorData>,
            },
        }

        impl SessionEvent {
            /// Returns its name in the protocol.
            pub fn kind(&self) -> &'static str {
                match self {
                    Self::Token(_) => "token",
                    Self::Thinking(_) => "thinking",
                    $(Self::$event(_) => $kind,)*
                    Self::Done(_) => "done",
                    Self::Error { .. } => "error",
                }
            }

            pub(super) fn from_members(kind: &str, members: &Members) -> Result<Self, UnreadableReason> {
                Ok(match kind {
                    "token" => Self::Token(required_field(members, "token", "a string")?),
                    "thinking" => Self::Thinking(required_field(members, "thinking", "a string")?),
                    $($kind => Self::$event(required_object(members, "data", $expected)?),)*
                    "done" => Self::Done(optional_object(members, "data")?),
                    "error" => {
                        let data = |_| required_object(members, "data", ERROR);
                        let data = members.get_non_null("data").map(data).transpose()?;
                        Self::Error { error: required_field(members, "error", "a string")?, data }
                    }
                    _ => return Err(UnreadableReason::unknown(kind)),
                })
            }

            pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    Self::Token(text) | Self::Thinking(text) => {
                        map.serialize_entry(self.kind(), text)
                    }
                    $(Self::$event(data) => map.serialize_entry("data", data),)*
                    Self::Done(data) => write_optional(map, "data", data.as_ref()),
                    Self::Error { error, data } => {
                        map.serialize_entry("error", error)?;
                        write_optional(map, "data", data.as_ref())
                    }
                }
            }
        }
    };
}

session_events! {
    /// A message of the user's, in a conversation that is loaded as events, or one that steers the
    /// turn.
    UserMessage(PastUserMessage) "user_message" "an object with message and attachments",
    /// A tool is about to run.
    ToolUse(ToolUse) "tool_use" "an object with toolId, toolName and input",
    /// A tool has succeeded, failed, or was not run.
    ToolResult(ToolResult) "tool_result" "an object with toolId, toolName and result",
    /// The front end is to run a tool that it supplies.
    ToolCall(FrontToolCall) "tool_call" "an object with call, toolId, toolName and input",
    /// A running tool has written output.
    ToolProgress(ToolProgress) "tool_progress" "an object with toolId, stream and text",
    /// A piece of a tool's input, while the model writes it.
    ToolInput(ToolInput) "tool_input" "an object with toolId, toolName and text",
    /// What the turn has taken so far.
    Usage(UsageReport) "usage" "an object with numbers of tokens",
    /// A person is asked whether a tool may run.
    PermissionRequest(PermissionRequest) "permission_request"
        "an object with question, toolId, toolName, input and title",
    /// A question was answered or withdrawn.
    PermissionResolved(PermissionResolved) "permission_resolved"
        "an object with question, decision and text",
    /// A person is asked something by the model or by a tool server.
    Question(AgentQuestion) "question" "an object with question, toolId, text and fields",
    /// Such a question was answered or withdrawn.
    QuestionResolved(QuestionResolved) "question_resolved"
        "an object with question, outcome and text",
    /// How many files the turn has changed.
    TurnChanges(TurnChanges) "turn_changes" "an object with files",
    /// Something that the user may want to know.
    Notice(Notice) "notice" "an object with kind and text",
    /// The answer to `get_status`. It is boxed, because otherwise every event would be as large.
    Status(Box<RuntimeStatus>) "status" "an object with state, conversationLength and uptime",
}

const ERROR: &str = "an object with kind, status and retryable";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its kind in one word, such as `retry`. A reader accepts other words.
    pub kind: String,
    pub text: String,
}

impl SessionEvent {
    pub fn done(data: &impl Serialize) -> Self {
        Self::Done(to_raw_value(data).ok())
    }

    /// Adds the kind of the request to the data of a `done`, so that a reader knows how to read it.
    /// Every other event stays unchanged.
    pub fn with_kind(self, kind: &str) -> Self {
        match RawValue::from_string(json_string(kind)) {
            Ok(kind) => self.with_member("kind", &kind),
            Err(_) => self,
        }
    }

    /// Adds a member to the data of a `done`. Every other event stays unchanged.
    pub fn with_member(self, name: &str, value: &RawValue) -> Self {
        let Self::Done(Some(data)) = &self else { return self };
        let Some(rest) = data.get().strip_prefix('{') else { return self };
        // An empty object gets no comma after the member, or it would not be JSON any more.
        let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
        // Put in as text, so that the rest of the data keeps its bytes.
        let whole = format!("{{{}:{value}{comma}{rest}", json_string(name));
        RawValue::from_string(whole).map_or(self, |whole| Self::Done(Some(whole)))
    }

    pub fn notice(kind: &str, text: impl Into<String>) -> Self {
        Self::Notice(Notice { kind: kind.to_owned(), text: text.into() })
    }

    /// Creates an error without data.
    pub fn error(error: impl Into<String>) -> Self {
        Self::Error { error: error.into(), data: None }
    }

    pub fn done_data<T: DeserializeOwned>(&self) -> Option<T> {
        match self {
            Self::Done(Some(data)) => from_object(data.get()).ok(),
            _ => None,
        }
    }

    /// Returns true if this is the last reply to its request.
    pub fn is_end(&self) -> bool {
        // No `done` follows the answer to `get_status`.
        matches!(self, Self::Done(_) | Self::Error { .. } | Self::Status(_))
    }
}
