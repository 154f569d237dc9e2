//! The events of one call.

use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_tools::Host;

use crate::driver::{Driver, Lifetime};
use crate::event::Event;
use crate::{Answer, Ask, ClaudeError, Settings, Transport};

/// The events of a call, as they happen. Dropping it ends the call with everything that it started.
///
/// The CLI's requests are served only while somebody waits for the next event.
#[derive(Debug)]
pub struct Stream {
    driver: Driver,
}

impl Stream {
    pub(crate) fn start(
        settings: &Settings,
        tools: Option<&(Host, Transport)>,
        ask: Ask,
    ) -> Result<Self, ClaudeError> {
        let mut driver = Driver::start(settings, tools, &ask.launch, Lifetime::OneTurn)?;
        driver.send(ask.prompt);
        Ok(Self { driver })
    }

    /// Returns the next event, or `None` when the call is over. After an error the call is over.
    /// Dropping this future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event, ClaudeError>> {
        self.driver.next().await
    }

    /// Asks the agent to stop. The call ends with
    /// [`Outcome::Interrupted`](crate::Outcome::Interrupted). If the agent has answered already,
    /// and only agents in the background are running, it ends with that answer.
    pub fn interrupt(&mut self) {
        self.driver.interrupt();
    }

    pub(crate) async fn answer(mut self) -> Result<Answer, ClaudeError> {
        self.driver.answer().await
    }
}

impl futures_core::Stream for Stream {
    type Item = Result<Event, ClaudeError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.driver.poll_event(context)
    }
}
