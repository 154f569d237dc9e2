//! The messages of a conversation. Their JSON is that of the Messages API, in which they are also
//! stored.

pub(crate) mod estimate;
pub mod message_list;
pub(crate) mod mode_note;
pub(crate) mod picture;

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChatMessage {
    pub role: Role,
    pub content: Vec<Block>,
}

callgate_wire::words! {
    /// Who a message is from, as the Messages API names it.
    pub enum Role {
        /// The user, or the results of tools.
        User "user",
        Assistant "assistant",
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        /// The text; never empty in a request.
        text: String,
    },
    Image {
        source: MediaSource,
    },
    Document {
        source: MediaSource,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A thought of the model's, which is sent back to it unchanged.
    Thinking {
        thinking: String,
        /// The signature by which the model recognises its thought. A thought without one is not
        /// sent back.
        signature: String,
    },
    /// A thought that only the model can read.
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        /// Its arguments: a JSON object, unchanged.
        input: Box<RawValue>,
    },
    /// The end of an answer that was cut off. Front ends see it; the model reads a note in its
    /// place.
    Interrupted,
    /// The mark of a message that the provider refused. Front ends see the message; the model does
    /// not read it.
    LeftOut,
    ToolResult {
        tool_use_id: String,
        /// What the model reads.
        content: ResultContent,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MediaSource {
    Base64 {
        /// The media type, such as `image/png`.
        media_type: String,
        data: String,
    },
}

/// What a model reads of a tool's result: a text, and pictures after it. Its JSON is a string, or a
/// list of blocks if there are pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "ResultContentForm")]
pub struct ResultContent {
    pub text: String,
    pub images: Vec<MediaSource>,
}

/// The two forms of [`ResultContent`] in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum ResultContentForm {
    Text(String),
    Parts(Vec<ResultContentPart<'static>>),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResultContentPart<'a> {
    Text { text: Cow<'a, str> },
    Image { source: Cow<'a, MediaSource> },
}

impl From<ResultContentForm> for ResultContent {
    fn from(form: ResultContentForm) -> Self {
        let parts = match form {
            ResultContentForm::Text(text) => return text.into(),
            ResultContentForm::Parts(parts) => parts,
        };
        let mut content = Self::default();
        for part in parts {
            match part {
                ResultContentPart::Text { text } => content.text.push_str(&text),
                ResultContentPart::Image { source } => content.images.push(source.into_owned()),
            }
        }
        content
    }
}

impl Serialize for ResultContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { text, images } = self;
        if images.is_empty() {
            return serializer.serialize_str(text);
        }
        // The API accepts no empty text.
        let text = (!text.is_empty()).then(|| ResultContentPart::Text { text: text.into() });
        let image = |source| ResultContentPart::Image { source: Cow::Borrowed(source) };
        serializer.collect_seq(text.into_iter().chain(images.iter().map(image)))
    }
}

impl From<String> for ResultContent {
    fn from(text: String) -> Self {
        Self { text, images: Vec::new() }
    }
}

impl From<&str> for ResultContent {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl ResultContent {
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.images.is_empty()
    }

    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.images.iter().map(MediaSource::size).sum::<usize>()
    }
}

/// The result that a tool gave the front end, stored beside the text for the model.
#[derive(Debug, Clone)]
pub struct StoredToolResult {
    pub tool_use_id: String,
    pub result: Box<RawValue>,
}

impl ChatMessage {
    pub fn user(content: Vec<Block>) -> Self {
        Self { role: Role::User, content }
    }

    pub fn assistant(content: Vec<Block>) -> Self {
        Self { role: Role::Assistant, content }
    }

    /// Returns true if an answer has to follow, or the rest of one.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.role == Role::User || self.is_cut_off()
    }

    pub(crate) fn is_cut_off(&self) -> bool {
        self.content.iter().any(|block| matches!(block, Block::Interrupted))
    }

    /// Returns true if a turn begins with this message: it is the user's and holds no results.
    pub(crate) fn begins_turn(&self) -> bool {
        self.role == Role::User && !self.content.iter().any(Block::is_result)
    }
}

/// How much of a text is looked at where only its beginning counts, in bytes.
pub(crate) const LOOKED_AT: usize = 16 * 1024;

/// Returns the beginning of a text up to the end of a word, because half a secret is not
/// recognised.
pub(crate) fn whole_word_prefix(text: &str, is_gap: impl Fn(char) -> bool) -> &str {
    if text.len() <= LOOKED_AT {
        return text;
    }
    let head = &text[..text.floor_char_boundary(LOOKED_AT)];
    // Without a gap all of it could be the beginning of one secret.
    head.rfind(is_gap).map_or("", |end| &head[..end])
}

pub(crate) fn append_text(blocks: &mut Vec<Block>, piece: &str) {
    match blocks.last_mut() {
        Some(Block::Text { text }) => text.push_str(piece),
        _ => blocks.push(Block::text(piece)),
    }
}

pub(crate) fn append_thought(blocks: &mut Vec<Block>, piece: &str) {
    match blocks.last_mut() {
        // A thought that is signed has ended.
        Some(Block::Thinking { thinking, signature }) if signature.is_empty() => {
            thinking.push_str(piece);
        }
        _ => blocks.push(Block::Thinking { thinking: piece.to_owned(), signature: String::new() }),
    }
}

impl MediaSource {
    pub(crate) fn size(&self) -> usize {
        let Self::Base64 { data, .. } = self;
        data.trim_end_matches('=').len() * 3 / 4
    }
}

impl Block {
    pub(crate) fn is_thought(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    pub(crate) fn is_result(&self) -> bool {
        matches!(self, Self::ToolResult { .. })
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text { text } = self { Some(text) } else { None }
    }

    /// Returns about how many bytes it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image { source } | Self::Document { source, .. } => source.size(),
            Self::Thinking { thinking, signature } => thinking.len() + signature.len(),
            Self::RedactedThinking { data } => data.len(),
            Self::ToolUse { input, .. } => input.get().len(),
            Self::ToolResult { content, .. } => content.size(),
            Self::Interrupted | Self::LeftOut => 0,
        }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_text_alone_or_text_and_pictures() {
        let source =
            MediaSource::Base64 { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
        let image = json!({
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        });
        let check = |text: &str, images: Vec<MediaSource>, expected: serde_json::Value| {
            let content = ResultContent { text: text.to_owned(), images };
            assert_eq!(serde_json::to_value(&content).unwrap(), expected);
            assert_eq!(serde_json::from_value::<ResultContent>(expected).unwrap(), content);
        };
        check("", Vec::new(), json!(""));
        check("a", Vec::new(), json!("a"));
        check("", vec![source.clone()], json!([image]));
        check("a", vec![source], json!([{"type": "text", "text": "a"}, image]));
    }
}
