//! The messages of a conversation. Their JSON is that of the Messages API, in which they are also
//! stored.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One message of a conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Its role.
    pub role: Role,
    /// Its blocks, in order.
    pub content: Vec<Block>,
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, or the results of tools.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns its name in the Messages API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A block of a message's content.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text; never empty in a request.
        text: String,
    },
    /// A picture.
    Image {
        /// The content of the file.
        source: MediaSource,
    },
    /// A document such as a PDF.
    Document {
        /// The content of the file.
        source: MediaSource,
        /// Its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A thought of the model's, which is sent back to it unchanged.
    Thinking {
        /// The thought.
        thinking: String,
        /// The signature by which the model recognises its thought. A thought without one is not
        /// sent back.
        signature: String,
    },
    /// A thought that only the model can read.
    RedactedThinking {
        /// The thought.
        data: String,
    },
    /// A tool call of the model's.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments: a JSON object, unchanged.
        input: Box<RawValue>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// The text for the model.
        content: String,
        /// Whether the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// The content of a picture or a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MediaSource {
    /// In base64.
    Base64 {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
}

/// The result that a tool gave the front end, stored beside the text for the model.
#[derive(Debug, Clone)]
pub struct StoredToolResult {
    /// The call.
    pub tool_use_id: String,
    /// The result: any JSON.
    pub result: Box<RawValue>,
}

impl ChatMessage {
    /// Creates a message of the user's.
    #[must_use]
    pub fn user(content: Vec<Block>) -> Self {
        Self { role: Role::User, content }
    }

    /// Creates a message of the model's.
    #[must_use]
    pub fn assistant(content: Vec<Block>) -> Self {
        Self { role: Role::Assistant, content }
    }

    /// Returns true if a turn begins with this message: it is the user's and holds no results.
    pub(crate) fn begins_turn(&self) -> bool {
        let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
        self.role == Role::User && !self.content.iter().any(is_result)
    }
}

impl MediaSource {
    /// Returns how many bytes the file has.
    pub(crate) fn size(&self) -> usize {
        let Self::Base64 { data, .. } = self;
        data.trim_end_matches('=').len() * 3 / 4
    }
}

impl Block {
    /// Returns true if the block is a thought of the model's.
    pub(crate) fn is_thought(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    /// Creates a block of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}
