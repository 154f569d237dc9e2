//! The body of a request, serialised directly from the call.
//!
//! Our messages are those of the Messages API. The results of tools become messages of their own,
//! and come before anything else that the user says. Pictures in results follow as a message of the
//! user's, because a result can only be text here. Thoughts are not sent back.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::engine::{EngineCall, EngineError};
use crate::message::{Block, ChatMessage, MediaSource, Role};
use crate::tool::ToolSpec;

/// The text for a tool that has no output.
const NO_WORDS: &str = "(nothing)";

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionTool<'a>>,
    messages: Vec<WrittenMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FunctionTool<'a> {
    Function { function: FunctionSpec<'a> },
}

#[derive(Serialize)]
struct FunctionSpec<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

/// A message in the form of Chat Completions.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WrittenMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: UserContent<'a>,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WrittenCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

/// Most servers accept parts, but all of them accept a string.
#[derive(Serialize)]
#[serde(untagged)]
enum UserContent<'a> {
    Text(&'a str),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageAddress },
    File { file: InlineFile<'a> },
}

#[derive(Serialize)]
struct ImageAddress {
    url: String,
}

#[derive(Serialize)]
struct InlineFile<'a> {
    filename: &'a str,
    file_data: String,
}

#[derive(Serialize)]
struct WrittenCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    /// JSON in a string.
    arguments: &'a str,
}

/// How a server is sent the limit of the answer's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerLimit {
    /// As `max_tokens`, which nearly all servers understand.
    MaxTokens,
    /// As `max_completion_tokens`, which the newest models of the cloud require.
    MaxCompletionTokens,
    /// Not at all: a server on this machine has a small context, and refuses a limit beyond it.
    Unlimited,
}

pub(super) fn encode_body(call: &EngineCall, limit: AnswerLimit) -> Result<Vec<u8>, EngineError> {
    let mut messages = Vec::with_capacity(call.messages.len() + 1);
    if !call.system.trim().is_empty() {
        messages.push(WrittenMessage::System { content: &call.system });
    }
    let asked = messages.len();
    for message in call.messages.iter() {
        write_message(message, &mut messages);
    }
    if messages.len() == asked {
        return Err(EngineError::refused("There is nothing to answer: the message is empty"));
    }
    let most = Some(call.max_tokens.max(1));
    let body = ChatBody {
        model: &call.model,
        stream: true,
        // Without it a stream does not tell the tokens that it took.
        stream_options: StreamOptions { include_usage: true },
        max_tokens: most.filter(|_| limit == AnswerLimit::MaxTokens),
        max_completion_tokens: most.filter(|_| limit == AnswerLimit::MaxCompletionTokens),
        tools: call.tools.iter().map(function_tool).collect(),
        messages,
    };
    serde_json::to_vec(&body)
        .map_err(|error| EngineError::refused(format!("The request cannot be serialised: {error}")))
}

fn function_tool(spec: &ToolSpec) -> FunctionTool<'_> {
    let parameters = &spec.input_schema;
    let (name, description) = (&*spec.name, &*spec.description);
    FunctionTool::Function { function: FunctionSpec { name, description, parameters } }
}

fn write_message<'a>(message: &'a ChatMessage, into: &mut Vec<WrittenMessage<'a>>) {
    match message.role {
        Role::User => write_user(&message.content, into),
        Role::Assistant => write_assistant(&message.content, into),
    }
}

fn write_assistant<'a>(blocks: &'a [Block], into: &mut Vec<WrittenMessage<'a>>) {
    let (mut text, mut tool_calls) = (String::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text { text: piece } if !piece.trim().is_empty() => {
                let gap = if text.is_empty() { "" } else { "\n\n" };
                // Writing to a string cannot fail.
                write!(text, "{gap}{piece}").ok();
            }
            Block::ToolUse { id, name, input } => tool_calls.push(WrittenCall {
                id,
                r#type: "function",
                function: CalledFunction { name, arguments: input.get() },
            }),
            _ => {}
        }
    }
    let content = Some(text).filter(|text| !text.is_empty());
    if content.is_some() || !tool_calls.is_empty() {
        into.push(WrittenMessage::Assistant { content, tool_calls });
    }
}

fn write_user<'a>(blocks: &'a [Block], into: &mut Vec<WrittenMessage<'a>>) {
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            Block::ToolResult { tool_use_id, content, .. } => {
                let text = &content.text;
                let content = if text.is_empty() { NO_WORDS } else { text.as_str() };
                into.push(WrittenMessage::Tool { tool_call_id: tool_use_id, content });
            }
            Block::Text { text } if !text.trim().is_empty() => {
                parts.push(ContentPart::Text { text });
            }
            Block::Image { source } => parts.push(picture_part(source)),
            Block::Document { source, title } => {
                let (filename, file_data) =
                    (title.as_deref().unwrap_or("document"), data_url(source));
                parts.push(ContentPart::File { file: InlineFile { filename, file_data } });
            }
            _ => {}
        }
    }
    for block in blocks {
        if let Block::ToolResult { content, .. } = block {
            parts.extend(content.images.iter().map(picture_part));
        }
    }
    match parts.as_slice() {
        [] => {}
        [ContentPart::Text { text }] => {
            into.push(WrittenMessage::User { content: UserContent::Text(text) });
        }
        _ => into.push(WrittenMessage::User { content: UserContent::Parts(parts) }),
    }
}

fn picture_part(source: &MediaSource) -> ContentPart<'_> {
    ContentPart::ImageUrl { image_url: ImageAddress { url: data_url(source) } }
}

fn data_url(source: &MediaSource) -> String {
    let MediaSource::Base64 { media_type, data } = source;
    format!("data:{media_type};base64,{data}")
}

#[cfg(test)]
mod tests;
