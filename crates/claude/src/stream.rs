//! The events of one call.

use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_tools::Host;

use crate::driver::{CliDriver, CliLifetime};
use crate::event::ClaudeEvent;
use crate::{ClaudeAnswer, ClaudeError, ClaudeSettings, ModelRequest, Prompt, ToolTransport};

/// The events of a call, as they happen. Dropping it ends the call with everything that it started.
///
/// The CLI's requests are served only while somebody waits for the next event.
#[derive(Debug)]
pub struct ClaudeStream {
    driver: CliDriver,
}

impl ClaudeStream {
    pub(crate) fn start(
        settings: &ClaudeSettings,
        tools: Option<&(Host, ToolTransport)>,
        ask: ModelRequest,
    ) -> Result<Self, ClaudeError> {
        let mut driver = CliDriver::start(settings, tools, &ask.launch, CliLifetime::OneTurn)?;
        driver.send_prompt(ask.prompt);
        Ok(Self { driver })
    }

    /// Returns the next event, or `None` when the call is over. After an error the call is over.
    /// Dropping this future loses nothing.
    pub async fn next(&mut self) -> Option<Result<ClaudeEvent, ClaudeError>> {
        self.driver.next().await
    }

    /// Adds a message of the user's while the agent works. The model reads it with the results of
    /// the tools that are running, or else after its answer, and the call ends when it has answered
    /// that too.
    pub fn add_prompt(&mut self, prompt: impl Into<Prompt>) {
        self.driver.add_prompt(&prompt.into());
    }

    /// Asks the agent to stop. The call ends with
    /// [`ClaudeOutcome::Interrupted`](crate::ClaudeOutcome::Interrupted). If the agent has answered
    /// already, and only agents in the background are running, it ends with that answer.
    pub fn interrupt(&mut self) {
        self.driver.interrupt();
    }

    pub(crate) async fn wait_for_answer(mut self) -> Result<ClaudeAnswer, ClaudeError> {
        self.driver.wait_for_answer().await
    }
}

impl futures_core::Stream for ClaudeStream {
    type Item = Result<ClaudeEvent, ClaudeError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.driver.poll_event(context)
    }
}
