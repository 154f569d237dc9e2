//! The CLI as a model: the entry point of this crate.

use callgate_tools::Host;

use crate::ask::LaunchOptions;
use crate::stream::ClaudeStream;
use crate::{
    ClaudeAnswer, ClaudeConversation, ClaudeError, ClaudeSettings, ModelRequest, ToolTransport,
};

/// The Claude Code CLI as a model. Calls may run concurrently: each has its own CLI and its own
/// tool host, independent of all others.
#[derive(Debug, Clone, Default)]
pub struct Model {
    settings: ClaudeSettings,
    tools: Option<(Host, ToolTransport)>,
}

impl Model {
    /// Creates a model with default settings and no tools of yours.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a model with these settings.
    #[must_use]
    pub fn with_settings(settings: ClaudeSettings) -> Self {
        Self { settings, tools: None }
    }

    /// Gives the agent tools of yours.
    pub fn set_tools(&mut self, tools: Host, transport: ToolTransport) {
        self.tools = Some((tools, transport));
    }

    /// Sends a request and waits for the text of the answer.
    pub async fn request(&self, ask: impl Into<ModelRequest>) -> Result<String, ClaudeError> {
        Ok(self.request_with_metadata(ask).await?.text)
    }

    /// Sends a request and waits for the answer with its metadata.
    pub async fn request_with_metadata(
        &self,
        ask: impl Into<ModelRequest>,
    ) -> Result<ClaudeAnswer, ClaudeError> {
        self.stream(ask)?.wait_for_answer().await
    }

    /// Sends a request and returns its events as they happen. Must be called inside a tokio
    /// runtime.
    pub fn stream(&self, ask: impl Into<ModelRequest>) -> Result<ClaudeStream, ClaudeError> {
        ClaudeStream::start(&self.settings, self.tools.as_ref(), ask.into())
    }

    /// Starts a conversation of several turns. Must be called inside a tokio runtime.
    pub fn converse(&self) -> Result<ClaudeConversation, ClaudeError> {
        self.start_conversation(&LaunchOptions::default())
    }

    /// Continues an earlier conversation.
    pub fn resume(&self, session_id: impl Into<String>) -> Result<ClaudeConversation, ClaudeError> {
        self.start_conversation(&LaunchOptions {
            resume: Some(session_id.into()),
            ..LaunchOptions::default()
        })
    }

    /// Continues a copy of an earlier conversation, which itself stays unchanged.
    pub fn fork(&self, session_id: impl Into<String>) -> Result<ClaudeConversation, ClaudeError> {
        let resume = Some(session_id.into());
        self.start_conversation(&LaunchOptions {
            resume,
            is_fork: true,
            ..LaunchOptions::default()
        })
    }

    fn start_conversation(
        &self,
        launch: &LaunchOptions,
    ) -> Result<ClaudeConversation, ClaudeError> {
        ClaudeConversation::start(&self.settings, self.tools.as_ref(), launch)
    }
}

#[cfg(test)]
mod tests;
