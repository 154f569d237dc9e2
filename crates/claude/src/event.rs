//! What the agent does, as it does it: the CLI's messages in our words.

use callgate_wire::raw::{Json, Members};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Answer;

/// Something that has happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The agent is ready; it comes again with each turn of the conversation.
    Started(Started),
    /// The model said something, in whole.
    Text(String),
    /// The model thought something, in whole.
    Thinking(String),
    /// The model wants a tool to be run.
    ToolUse(ToolUse),
    /// A tool has ended.
    ToolResult(ToolResult),
    /// A piece of something that follows in whole. Only when [`partial`](crate::Settings::partial)
    /// is set.
    Partial(Partial),
    /// The agent asked whether it may use a tool, and this was answered.
    Permission {
        /// The tool.
        tool_name: String,
        /// Whether it may.
        is_allowed: bool,
    },
    /// One of the above, from an agent that the agent has started.
    Subagent {
        /// The tool call that started it.
        parent: String,
        /// What it did.
        event: Box<Event>,
    },
    /// The call is over: the agent has answered, and so have those that it started in the
    /// background.
    Finished(Answer),
    /// Something this version does not know, as the CLI wrote it.
    Other {
        /// What the CLI calls it.
        kind: String,
        /// The message.
        message: Box<RawValue>,
    },
}

/// What the agent works with.
#[derive(Debug, Clone)]
pub struct Started {
    /// The conversation's id, to resume it by.
    pub session_id: String,
    /// The model's name.
    pub model: String,
    /// The names of all tools.
    pub tools: Vec<String>,
    /// The MCP servers.
    pub servers: Vec<Server>,
}

/// An MCP server, as the CLI sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// How it does: `connected`, `failed`, `pending`.
    pub status: String,
}

/// A tool the model wants to be run.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// Names the call; its result repeats it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, as the model gave them.
    pub input: Box<RawValue>,
}

/// A tool call that has ended.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// Whether it failed.
    pub is_error: bool,
    /// What the model is told: a string, or a list of items.
    pub content: Value,
}

impl ToolResult {
    /// What the model is told, the texts of it.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().filter_map(|item| item["text"].as_str()).collect(),
            _ => String::new(),
        }
    }
}

/// A piece of something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Partial {
    /// Of a text.
    Text(String),
    /// Of a thought.
    Thinking(String),
    /// Of a tool's arguments, as JSON text.
    Input(String),
}

/// Whether the CLI has nothing more to do, if that is what it tells.
pub(crate) fn is_idle(kind: &str, message: &Members<'_>) -> Option<bool> {
    let is_state =
        kind == "system" && message.string("subtype").as_deref() == Some("session_state_changed");
    is_state.then(|| message.string("state").as_deref() == Some("idle"))
}

/// The events in a message of the CLI; an unknown one is an event too.
pub(crate) fn events(kind: &str, message: &Members<'_>) -> Vec<Event> {
    let known = match kind {
        "system" if message.string("subtype").as_deref() == Some("init") => {
            Some(vec![Event::Started(started(message))])
        }
        "assistant" | "user" => blocks(kind, message),
        "stream_event" => partial(message).map(|partial| vec![Event::Partial(partial)]),
        "result" => Some(vec![Event::Finished(Answer::read(message))]),
        _ => None,
    };
    let events = known.unwrap_or_else(|| other(kind, message).into_iter().collect());
    match message.string("parent_tool_use_id") {
        Some(parent) => events.into_iter().map(|event| subagent(&parent, event)).collect(),
        None => events,
    }
}

fn subagent(parent: &str, event: Event) -> Event {
    Event::Subagent { parent: parent.to_owned(), event: Box::new(event) }
}

fn other(kind: &str, message: &Members<'_>) -> Option<Event> {
    let pairs: Vec<String> = message
        .0
        .iter()
        .map(|(key, value)| format!("{}:{value}", callgate_wire::raw::quoted(key)))
        .collect();
    let message = RawValue::from_string(format!("{{{}}}", pairs.join(","))).ok()?;
    Some(Event::Other { kind: kind.to_owned(), message })
}

fn started(message: &Members<'_>) -> Started {
    let servers: Vec<Value> = value(message, "mcp_servers").unwrap_or_default();
    Started {
        session_id: text(message, "session_id"),
        model: text(message, "model"),
        tools: value(message, "tools").unwrap_or_default(),
        servers: servers
            .iter()
            .map(|server| Server { name: string(server, "name"), status: string(server, "status") })
            .collect(),
    }
}

/// The blocks of an assistant's or user's message; `None` if there is one that is unknown, so
/// that nothing of it is lost.
fn blocks(kind: &str, message: &Members<'_>) -> Option<Vec<Event>> {
    let content = message.get("message")?.members().get("content")?;
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
    let event = |block: &RawValue| match block_event(&Json::from(block).members())? {
        // The CLI's words in the user's name, as after an interrupt: the model has not said them.
        Event::Text(_) if kind == "user" => {
            Some(Event::Other { kind: kind.to_owned(), message: block.to_owned() })
        }
        event => Some(event),
    };
    blocks.into_iter().map(event).collect()
}

fn block_event(block: &Members<'_>) -> Option<Event> {
    match &*block.string("type")? {
        "text" => Some(Event::Text(text(block, "text"))),
        "thinking" => Some(Event::Thinking(text(block, "thinking"))),
        "tool_use" => Some(Event::ToolUse(ToolUse {
            id: text(block, "id"),
            name: text(block, "name"),
            input: block.get("input")?.to_boxed()?,
        })),
        "tool_result" => Some(Event::ToolResult(ToolResult {
            id: text(block, "tool_use_id"),
            is_error: value(block, "is_error").unwrap_or_default(),
            content: value(block, "content").unwrap_or_default(),
        })),
        _ => None,
    }
}

fn partial(message: &Members<'_>) -> Option<Partial> {
    let delta = message.get("event")?.members().get("delta")?.members();
    match &*delta.string("type")? {
        "text_delta" => Some(Partial::Text(text(&delta, "text"))),
        "thinking_delta" => Some(Partial::Thinking(text(&delta, "thinking"))),
        "input_json_delta" => Some(Partial::Input(text(&delta, "partial_json"))),
        _ => None,
    }
}

pub(crate) fn text(message: &Members<'_>, name: &str) -> String {
    message.string(name).unwrap_or_default().into_owned()
}

pub(crate) fn string(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn value<T: serde::de::DeserializeOwned>(
    message: &Members<'_>,
    name: &str,
) -> Option<T> {
    message.some(name).and_then(|value| serde_json::from_str(value.get()).ok())
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
