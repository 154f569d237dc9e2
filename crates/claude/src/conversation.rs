//! Several turns in one CLI process.

use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_tools::Host;
use serde_json::json;

use crate::ask::Launch;
use crate::driver::{Driver, Lifetime};
use crate::event::Event;
use crate::{Answer, ClaudeError, PermissionMode, Prompt, Settings, Transport};

/// A conversation with one CLI process, which is started once and keeps what was said.
///
/// Dropping it ends the CLI with all that it started. The agent is served only while a turn is
/// read.
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
pub struct Conversation {
    driver: Driver,
}

impl Conversation {
    pub(crate) fn start(
        settings: &Settings,
        tools: Option<&(Host, Transport)>,
        launch: &Launch,
    ) -> Result<Self, ClaudeError> {
        let driver = Driver::start(settings, tools, launch, Lifetime::Conversation)?;
        Ok(Self { driver })
    }

    /// Asks, and waits for the answer. An agent that ended its turn without one is an error, after
    /// which the conversation can go on.
    pub async fn ask(&mut self, prompt: impl Into<Prompt>) -> Result<Answer, ClaudeError> {
        self.turn(prompt).driver.answer().await
    }

    /// Asks, and returns what happens until the answer. The limits of time hold for each turn.
    pub fn turn(&mut self, prompt: impl Into<Prompt>) -> TurnStream<'_> {
        self.driver.send(prompt.into());
        TurnStream { driver: &mut self.driver }
    }

    /// Changes the model, from the next request to it.
    pub async fn set_model(&mut self, name: &str) -> Result<(), ClaudeError> {
        set_model(&mut self.driver, name).await
    }

    /// Changes what happens with tool calls that no rule decides.
    pub async fn set_permission_mode(&mut self, mode: PermissionMode) -> Result<(), ClaudeError> {
        set_permission_mode(&mut self.driver, mode).await
    }

    /// Ends the conversation, once the CLI has put away what it wants to keep. A conversation that
    /// is to be resumed should be ended so.
    pub async fn close(self) {
        self.driver.leave().await;
    }
}

/// One turn of a [`Conversation`], as it happens. A turn that is dropped before its end is
/// interrupted, and the next begins when it has stopped.
#[derive(Debug)]
pub struct TurnStream<'a> {
    driver: &'a mut Driver,
}

impl TurnStream<'_> {
    /// Returns what happens next; `None` at the end of the turn. After an error the conversation
    /// has ended. A call of this that is dropped half-way loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event, ClaudeError>> {
        self.driver.next().await
    }

    /// Asks the agent to stop what it is doing. The turn ends with
    /// [`Outcome::Interrupted`](crate::Outcome::Interrupted), and the conversation can go on.
    pub fn interrupt(&mut self) {
        self.driver.interrupt();
    }

    /// Changes the model while the turn goes on. What happens meanwhile is not lost.
    pub async fn set_model(&mut self, name: &str) -> Result<(), ClaudeError> {
        set_model(self.driver, name).await
    }

    /// Changes what happens with tool calls that no rule decides, while the turn goes on.
    pub async fn set_permission_mode(&mut self, mode: PermissionMode) -> Result<(), ClaudeError> {
        set_permission_mode(self.driver, mode).await
    }
}

impl futures_core::Stream for TurnStream<'_> {
    type Item = Result<Event, ClaudeError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.driver.poll_event(context)
    }
}

impl Drop for TurnStream<'_> {
    fn drop(&mut self) {
        self.driver.abandon();
    }
}

async fn set_model(driver: &mut Driver, name: &str) -> Result<(), ClaudeError> {
    driver.change(json!({"subtype": "set_model", "model": name})).await
}

async fn set_permission_mode(driver: &mut Driver, mode: PermissionMode) -> Result<(), ClaudeError> {
    driver.change(json!({"subtype": "set_permission_mode", "mode": mode.as_str()})).await
}
