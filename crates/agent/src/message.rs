//! What a conversation is made of. Its JSON is that of the Messages API, and it is kept as that.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One message of a conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Whose it is.
    pub role: Role,
    /// What is in it, in order.
    pub content: Vec<Block>,
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person's, or what tools gave.
    User,
    /// The model's.
    Assistant,
}

impl Role {
    /// Returns the word for it in the Messages API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text {
        /// Never empty in a request.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes.
        source: MediaSource,
    },
    /// A document such as a PDF.
    Document {
        /// Its bytes.
        source: MediaSource,
        /// Its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// What the model thought; goes back to it unchanged.
    Thinking {
        /// The thought.
        thinking: String,
        /// By which the model knows its own thought again; without one it is not sent back.
        signature: String,
    },
    /// A thought that only the model can read.
    RedactedThinking {
        /// The thought.
        data: String,
    },
    /// The model wants a tool to run.
    ToolUse {
        /// Names this call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments: a JSON object, as it came.
        input: Box<RawValue>,
    },
    /// What a tool gave.
    ToolResult {
        /// The call that it answers.
        tool_use_id: String,
        /// For the model.
        content: String,
        /// Whether the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// The bytes of a picture or a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MediaSource {
    /// In base64.
    Base64 {
        /// What they are, such as `image/png`.
        media_type: String,
        /// The bytes.
        data: String,
    },
}

/// What a tool gave a front end, kept beside what the model was told of it.
#[derive(Debug, Clone)]
pub struct StoredToolResult {
    /// The call.
    pub tool_use_id: String,
    /// What it gave: any JSON.
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
