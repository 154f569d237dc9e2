//! Several turns in one CLI process.

use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_tools::Host;
use serde_json::json;

use crate::ask::LaunchOptions;
use crate::driver::{CliDriver, CliLifetime};
use crate::event::ClaudeEvent;
use crate::{ClaudeAnswer, ClaudeError, ClaudeSettings, PermissionMode, Prompt, ToolTransport};

/// A conversation with one CLI process, which is started once and keeps the context.
///
/// Dropping it ends the CLI with everything that it started. The CLI's requests are served only
/// while a turn is being read.
///
/// ```no_run
/// # async fn talk() -> Result<(), callgate_claude::ClaudeError> {
/// use callgate_claude::Model;
///
/// let mut conversation = Model::new().converse()?;
/// conversation.ask("What does this project do?").await?;
/// conversation.set_model("haiku").await?;
/// let answer = conversation.ask("Now in one sentence.").await?;
/// println!("{}", answer.text);
/// conversation.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClaudeConversation {
    driver: CliDriver,
}

impl ClaudeConversation {
    pub(crate) fn start(
        settings: &ClaudeSettings,
        tools: Option<&(Host, ToolTransport)>,
        launch: &LaunchOptions,
    ) -> Result<Self, ClaudeError> {
        let driver = CliDriver::start(settings, tools, launch, CliLifetime::Conversation)?;
        Ok(Self { driver })
    }

    /// Sends a prompt and waits for the answer. If the agent ends its turn without one, that is an
    /// error, and the conversation can go on.
    pub async fn ask(&mut self, prompt: impl Into<Prompt>) -> Result<ClaudeAnswer, ClaudeError> {
        self.turn(prompt).driver.wait_for_answer().await
    }

    /// Sends a prompt and returns the events until the answer. Time limits apply to each turn.
    pub fn turn(&mut self, prompt: impl Into<Prompt>) -> TurnStream<'_> {
        self.driver.send_prompt(prompt.into());
        TurnStream { driver: &mut self.driver }
    }

    /// Changes the model, from the next request to it.
    pub async fn set_model(&mut self, name: &str) -> Result<(), ClaudeError> {
        set_model(&mut self.driver, name).await
    }

    /// Changes how tool calls that no rule decides are handled.
    pub async fn set_permission_mode(&mut self, mode: PermissionMode) -> Result<(), ClaudeError> {
        set_permission_mode(&mut self.driver, mode).await
    }

    /// Ends the conversation after the CLI has saved its state. End a conversation this way if it
    /// is to be resumed.
    pub async fn close(self) {
        self.driver.shut_down_cli().await;
    }
}

/// One turn of a [`ClaudeConversation`], as it happens. A turn that is dropped before its end is
/// interrupted, and the next begins once it has stopped.
#[derive(Debug)]
pub struct TurnStream<'a> {
    driver: &'a mut CliDriver,
}

impl TurnStream<'_> {
    /// Returns the next event, or `None` at the end of the turn. After an error the conversation
    /// has ended. Dropping this future loses nothing.
    pub async fn next(&mut self) -> Option<Result<ClaudeEvent, ClaudeError>> {
        self.driver.next().await
    }

    /// Asks the agent to stop what it is doing. The turn ends with
    /// [`ClaudeOutcome::Interrupted`](crate::ClaudeOutcome::Interrupted), and the conversation can
    /// go on.
    pub fn interrupt(&mut self) {
        self.driver.interrupt();
    }

    /// Changes the model while the turn goes on. No event is lost.
    pub async fn set_model(&mut self, name: &str) -> Result<(), ClaudeError> {
        set_model(self.driver, name).await
    }

    /// Changes how tool calls that no rule decides are handled, while the turn goes on.
    pub async fn set_permission_mode(&mut self, mode: PermissionMode) -> Result<(), ClaudeError> {
        set_permission_mode(self.driver, mode).await
    }
}

impl futures_core::Stream for TurnStream<'_> {
    type Item = Result<ClaudeEvent, ClaudeError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.driver.poll_event(context)
    }
}

impl Drop for TurnStream<'_> {
    fn drop(&mut self) {
        self.driver.abandon_turn();
    }
}

async fn set_model(driver: &mut CliDriver, name: &str) -> Result<(), ClaudeError> {
    driver.change_setting(json!({"subtype": "set_model", "model": name})).await
}

async fn set_permission_mode(
    driver: &mut CliDriver,
    mode: PermissionMode,
) -> Result<(), ClaudeError> {
    driver.change_setting(json!({"subtype": "set_permission_mode", "mode": mode.name()})).await
}
