//! A prompt: text, images and documents.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_wire::control;
use serde_json::{Value, json};

/// A message to the agent.
///
/// It reaches the model unchanged. In particular `@path` does not read a file and `/clear` is not a
/// command, unless [`expand`](Self::expand) is used.
///
/// ```
/// use callgate_claude::{ImageFormat, Prompt};
///
/// # let picture = Vec::new();
/// let prompt = Prompt::new("What is in this picture?").image(ImageFormat::Png, &picture);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    blocks: Vec<Value>,
    is_expanded: bool,
}

callgate_wire::words! {
    /// The format of an image in a [`Prompt`], named by its media type.
    #[allow(missing_docs, reason = "the media types name them")]
    pub enum ImageFormat {
        Png "image/png",
        Jpeg "image/jpeg",
        Gif "image/gif",
        Webp "image/webp",
    }
}

impl Prompt {
    /// Creates a message of text.
    pub fn new(text: impl Into<String>) -> Self {
        Self::default().text(text)
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.block(json!({"type": "text", "text": text.into()}))
    }

    /// Adds an image.
    #[must_use]
    pub fn image(self, format: ImageFormat, bytes: &[u8]) -> Self {
        self.block(json!({"type": "image", "source": base64_source(format.name(), bytes)}))
    }

    /// Adds a PDF document.
    #[must_use]
    pub fn pdf(self, bytes: &[u8]) -> Self {
        self.block(json!({"type": "document", "source": base64_source("application/pdf", bytes)}))
    }

    /// Adds a content block in the form of the Messages API.
    #[must_use]
    pub fn block(mut self, block: Value) -> Self {
        self.blocks.push(block);
        self
    }

    /// Lets the CLI treat the text as if the user had typed it: `@path` reads that file into the
    /// model's context without asking, `/name` runs a command, and reminders are added. Use it only
    /// for text that you trust.
    #[must_use]
    pub fn expand(mut self) -> Self {
        self.is_expanded = true;
        self
    }

    /// Returns the line for the CLI. A single text is sent as a string, the only form in which
    /// every CLI looks for commands.
    pub(crate) fn to_line(&self, id: &str) -> String {
        let content = match &self.blocks[..] {
            [only] if only["type"] == "text" => only["text"].clone(),
            blocks => json!(blocks),
        };
        control::user_message(&content, id, !self.is_expanded)
    }
}

fn base64_source(media_type: &str, bytes: &[u8]) -> Value {
    json!({"type": "base64", "media_type": media_type, "data": STANDARD.encode(bytes)})
}

impl<T: Into<String>> From<T> for Prompt {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests;
