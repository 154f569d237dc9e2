//! What the agent does, as it happens: the CLI's messages as events.

use callgate_wire::raw::{Json, Members};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{content_text, member_text, member_value, value_text};
use crate::{ClaudeAnswer, ClaudeUsage};

/// The model's name in messages that the CLI has written itself.
const SYNTHETIC: &str = "<synthetic>";

/// Something that has happened during a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClaudeEvent {
    /// The agent is ready. This comes with each turn of a conversation.
    Started(SessionSetup),
    /// The model wrote a text, reported as a whole.
    Text(String),
    /// The model thought something, reported as a whole.
    Thinking(String),
    /// The model wants to run a tool.
    ToolUse(ClaudeToolUse),
    /// A tool call has ended.
    ToolResult(ClaudeToolResult),
    /// A piece of something that follows as a whole. Only with
    /// [`partial`](crate::ClaudeSettings::partial).
    Partial(PartialContent),
    /// The agent asked for permission to use a tool, and this was the answer.
    Permission {
        /// The tool's full name: `Bash`, or `mcp__callgate__moon` for a tool of yours.
        tool_name: String,
        /// Whether it may.
        is_allowed: bool,
    },
    /// An event of a subagent.
    Subagent {
        /// The tool call that started the subagent.
        parent: String,
        /// What the subagent did.
        event: Box<ClaudeEvent>,
    },
    /// The call is over: the agent has answered, and so have the agents that it started in the
    /// background.
    Finished(ClaudeAnswer),
    /// After the call, the agent took another turn by itself, because a command in the background
    /// had ended. Its words are no part of the answer; its cost is paid with it.
    FinishedLater(ClaudeAnswer),
    /// A message that this version does not know, as the CLI wrote it.
    Other {
        /// The CLI's name of it.
        kind: String,
        /// The whole of it, unchanged.
        message: Box<RawValue>,
    },
}

/// The setup of the agent.
#[derive(Debug, Clone)]
pub struct SessionSetup {
    /// The conversation's id, to resume it by.
    pub session_id: String,
    /// The model's name.
    pub model: String,
    /// The names of all tools.
    pub tools: Vec<String>,
    /// The MCP servers, with the one that has your tools.
    pub servers: Vec<McpServer>,
}

/// An MCP server, as the CLI sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name, which is part of the names of its tools.
    pub name: String,
    /// Its state: `connected`, `failed`, `pending`.
    pub status: String,
}

/// A tool call of the model.
#[derive(Debug, Clone)]
pub struct ClaudeToolUse {
    /// The id of the call; its result repeats it.
    pub id: String,
    /// The tool's full name: `Bash`, or `mcp__callgate__moon` for a tool of yours.
    pub name: String,
    /// Its arguments, as the model gave them.
    pub input: Box<RawValue>,
}

/// A tool call that has ended.
#[derive(Debug, Clone)]
pub struct ClaudeToolResult {
    /// The id of the call that has ended.
    pub id: String,
    /// Whether it failed.
    pub is_error: bool,
    /// What the model receives: a string, or a list of items.
    pub content: Value,
    /// What the CLI reports about the call for front ends, such as the changed lines of a file.
    pub details: Option<Box<RawValue>>,
}

impl ClaudeToolResult {
    /// Returns the texts of what the model receives.
    #[must_use]
    pub fn text(&self) -> String {
        content_text(&self.content)
    }
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartialContent {
    /// A piece of a text.
    Text(String),
    /// A piece of a thought.
    Thinking(String),
    /// The model begins to write the arguments of a tool call.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The tool's full name, as in [`ClaudeToolUse::name`].
        name: String,
    },
    /// A piece of the arguments of the tool call that was begun last, as JSON text.
    Input(String),
    /// The tokens of the model's current response so far.
    Tokens {
        /// The tokens. Those of the input may be reported with the first piece only.
        usage: ClaudeUsage,
        /// Whether the response begins with this piece.
        is_first: bool,
    },
}

/// Returns whether the CLI is idle, if the message reports that.
pub(crate) fn is_idle(kind: &str, message: &Members<'_>) -> Option<bool> {
    let is_state =
        kind == "system" && message.string("subtype").as_deref() == Some("session_state_changed");
    is_state.then(|| message.string("state").as_deref() == Some("idle"))
}

/// Returns the events in a message of the CLI. An unknown message is an event too.
pub(crate) fn events_in_message(kind: &str, message: &Members<'_>) -> Vec<ClaudeEvent> {
    let known = match kind {
        "system" if message.string("subtype").as_deref() == Some("init") => {
            Some(vec![ClaudeEvent::Started(session_setup(message))])
        }
        "assistant" | "user" => content_events(kind, message),
        "stream_event" => {
            partial_content(message).map(|partial| vec![ClaudeEvent::Partial(partial)])
        }
        "result" => Some(vec![ClaudeEvent::Finished(ClaudeAnswer::from_message(message))]),
        _ => None,
    };
    let events = known.unwrap_or_else(|| other_event(kind, message).into_iter().collect());
    match message.string("parent_tool_use_id") {
        Some(parent) => events.into_iter().map(|event| subagent_event(&parent, event)).collect(),
        None => events,
    }
}

fn subagent_event(parent: &str, event: ClaudeEvent) -> ClaudeEvent {
    ClaudeEvent::Subagent { parent: parent.to_owned(), event: Box::new(event) }
}

fn other_event(kind: &str, message: &Members<'_>) -> Option<ClaudeEvent> {
    let pairs: Vec<String> = message
        .0
        .iter()
        .map(|(key, value)| format!("{}:{value}", callgate_wire::raw::json_string(key)))
        .collect();
    let message = RawValue::from_string(format!("{{{}}}", pairs.join(","))).ok()?;
    Some(ClaudeEvent::Other { kind: kind.to_owned(), message })
}

fn session_setup(message: &Members<'_>) -> SessionSetup {
    let servers: Vec<Value> = member_value(message, "mcp_servers").unwrap_or_default();
    SessionSetup {
        session_id: member_text(message, "session_id"),
        model: member_text(message, "model"),
        tools: member_value(message, "tools").unwrap_or_default(),
        servers: servers
            .iter()
            .map(|server| McpServer {
                name: value_text(server, "name"),
                status: value_text(server, "status"),
            })
            .collect(),
    }
}

/// Returns the blocks of an assistant's or user's message; `None` if one of them is unknown, so
/// that nothing is lost.
fn content_events(kind: &str, message: &Members<'_>) -> Option<Vec<ClaudeEvent>> {
    let inner = message.get("message")?.members();
    let blocks: Vec<&RawValue> = serde_json::from_str(inner.get("content")?.get()).ok()?;
    // Text that the CLI inserts in the user's name, as after an interrupt, or in place of an answer
    // that the service did not give: the model has not written it.
    let is_inserted = kind == "user"
        || member_value(message, "is_api_error_message").unwrap_or_default()
        || inner.string("model").as_deref() == Some(SYNTHETIC);
    // A message has the details once, so with several results it is unknown whose they are.
    let details = message.get_non_null("tool_use_result").filter(|_| blocks.len() == 1);
    let event = |block: &RawValue| match block_event(&Json::from(block).members())? {
        ClaudeEvent::Text(_) if is_inserted => {
            Some(ClaudeEvent::Other { kind: kind.to_owned(), message: block.to_owned() })
        }
        ClaudeEvent::ToolResult(result) => {
            let details = details.and_then(Json::to_boxed);
            Some(ClaudeEvent::ToolResult(ClaudeToolResult { details, ..result }))
        }
        event => Some(event),
    };
    blocks.into_iter().map(event).collect()
}

fn block_event(block: &Members<'_>) -> Option<ClaudeEvent> {
    match &*block.string("type")? {
        "text" => Some(ClaudeEvent::Text(member_text(block, "text"))),
        "thinking" => Some(ClaudeEvent::Thinking(member_text(block, "thinking"))),
        "tool_use" => Some(ClaudeEvent::ToolUse(ClaudeToolUse {
            id: member_text(block, "id"),
            name: member_text(block, "name"),
            input: block.get("input")?.to_boxed()?,
        })),
        "tool_result" => Some(ClaudeEvent::ToolResult(ClaudeToolResult {
            id: member_text(block, "tool_use_id"),
            is_error: member_value(block, "is_error").unwrap_or_default(),
            content: member_value(block, "content").unwrap_or_default(),
            details: None,
        })),
        _ => None,
    }
}

fn partial_content(message: &Members<'_>) -> Option<PartialContent> {
    let event = message.get("event")?.members();
    // The service's first event has the whole message, a later one only the tokens so far.
    if let Some(started) = event.get("message") {
        return partial_tokens(&started.members(), true);
    }
    if event.get("usage").is_some() {
        return partial_tokens(&event, false);
    }
    if let Some(block) = event.get("content_block") {
        let block = block.members();
        let is_call = block.string("type").as_deref() == Some("tool_use");
        let call = || PartialContent::ToolCall {
            id: member_text(&block, "id"),
            name: member_text(&block, "name"),
        };
        return is_call.then(call);
    }
    let delta = event.get("delta")?.members();
    match &*delta.string("type")? {
        "text_delta" => Some(PartialContent::Text(member_text(&delta, "text"))),
        "thinking_delta" => Some(PartialContent::Thinking(member_text(&delta, "thinking"))),
        "input_json_delta" => Some(PartialContent::Input(member_text(&delta, "partial_json"))),
        _ => None,
    }
}

fn partial_tokens(holder: &Members<'_>, is_first: bool) -> Option<PartialContent> {
    let usage = holder.get_non_null("usage")?.members();
    let count = |name: &str| member_value(&usage, name).unwrap_or_default();
    let usage = ClaudeUsage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cache_creation_input_tokens: count("cache_creation_input_tokens"),
        cache_read_input_tokens: count("cache_read_input_tokens"),
    };
    Some(PartialContent::Tokens { usage, is_first })
}

#[cfg(test)]
mod tests;
