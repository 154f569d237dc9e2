//! What a client sent, in a form for tests.

use std::collections::BTreeMap;

use serde_json::Value;

use super::check::ApiRefusal;

/// One request that the fake got.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The path without its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null when it was no JSON.
    pub body: Value,
    /// What the request was answered from.
    pub part: Part,
    /// Why it was refused, if it was.
    pub refusal: Option<ApiRefusal>,
}

/// What a request was answered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Main,
    /// The script of [`super::Messages::conversation`] with this marker.
    Marked(String),
    /// None: a request that the Claude Code CLI makes beside the conversation, or of a subagent
    /// without a script.
    Side,
    /// None: the request was refused, or counted tokens.
    None,
}

/// The result of a tool as the client reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// Which use it answers.
    pub tool_use_id: String,
    /// Whether the client says that the tool failed.
    pub is_error: bool,
    pub text: String,
}

impl Recorded {
    /// Returns a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the names of the tools that the model is offered, in order.
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
    }

    /// Returns the definition of a tool.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.body["tools"].as_array()?.iter().find(|tool| tool["name"] == name)
    }

    /// Returns the tool results in the last user message.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let last = self.messages().filter(|message| message["role"] == "user").last();
        last.map(tool_results).unwrap_or_default()
    }

    /// Returns all text of the user, tool results left out.
    pub fn user_text(&self) -> String {
        let user = self.messages().filter(|message| message["role"] == "user");
        user.map(|message| text(&message["content"])).collect::<Vec<_>>().join("\n")
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.body["messages"].as_array().into_iter().flatten()
    }
}

/// Returns the tool results in one message.
pub(crate) fn tool_results(message: &Value) -> Vec<ToolResult> {
    let blocks = message["content"].as_array().into_iter().flatten();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let result = |block: &Value| ToolResult {
        tool_use_id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
        is_error: block["is_error"] == true,
        text: text(&block["content"]),
    };
    results.map(result).collect()
}

/// Returns the text of a content: a string, or the text blocks of a list joined by newlines.
fn text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
