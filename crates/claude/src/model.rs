//! The agent as something that answers.

use callgate_tools::Host;

use crate::event::Event;
use crate::stream::Stream;
use crate::{Answer, Ask, ClaudeError, Settings};

/// How the agent reaches your tools. They give the same results either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Whatever is best: today [`Sdk`](Self::Sdk), which every CLI that will do knows.
    #[default]
    Auto,
    /// Through a bridge that the CLI starts, and a socket, as any other MCP client has them. The
    /// program serves as the bridge itself if its `main` calls
    /// [`run_bridge_if_asked`](callgate_tools::run_bridge_if_asked).
    Stdio,
    /// Through the CLI's control channel: no bridge, no socket and no file.
    Sdk,
}

/// The Claude Code CLI as a model. Calls may run at once: each has a CLI and a tool host of its
/// own, and they never touch each other.
#[derive(Debug, Clone, Default)]
pub struct Model {
    settings: Settings,
    tools: Option<(Host, Transport)>,
}

impl Model {
    /// A model with default settings and no tools of yours.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A model with these settings.
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        Self { settings, tools: None }
    }

    /// Gives the agent tools of yours.
    pub fn set_tools(&mut self, tools: Host, transport: Transport) {
        self.tools = Some((tools, transport));
    }

    /// Asks, and waits for the answer's text.
    pub async fn request(&self, ask: impl Into<Ask>) -> Result<String, ClaudeError> {
        Ok(self.request_with_metadata(ask).await?.text)
    }

    /// Asks, and waits for the answer with all that is known about it.
    pub async fn request_with_metadata(&self, ask: impl Into<Ask>) -> Result<Answer, ClaudeError> {
        let mut stream = self.stream(ask)?;
        let mut answer = None;
        while let Some(event) = stream.next().await {
            if let Event::Finished(finished) = event? {
                answer = Some(finished);
            }
        }
        match answer {
            Some(answer) if answer.is_error => Err(ClaudeError::Unfinished(Box::new(answer))),
            Some(answer) => Ok(answer),
            None => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// Asks, and gives what happens as it happens. Has to be called inside a tokio runtime.
    pub fn stream(&self, ask: impl Into<Ask>) -> Result<Stream, ClaudeError> {
        Stream::start(&self.settings, self.tools.as_ref(), &ask.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runtime_the_way_out_is_told() {
        let error = Model::new().stream("hello").expect_err("no runtime");
        assert!(matches!(error, ClaudeError::NoRuntime));
        assert!(error.to_string().ends_with("or use callgate_claude::blocking"));
    }
}
