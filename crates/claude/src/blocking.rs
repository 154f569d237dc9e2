//! The model for programs without tokio.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::{Answer, Ask, ClaudeError, Event, Model, PermissionMode, Prompt, Stream, TurnStream};

/// Sends a request and waits for the text of the answer.
pub fn request(model: &Model, ask: impl Into<Ask>) -> Result<String, ClaudeError> {
    Ok(request_with_metadata(model, ask)?.text)
}

/// Sends a request and waits for the answer with its metadata.
pub fn request_with_metadata(model: &Model, ask: impl Into<Ask>) -> Result<Answer, ClaudeError> {
    runtime()?.block_on(model.request_with_metadata(ask))
}

/// Sends a request and returns its events as they happen.
pub fn stream(model: &Model, ask: impl Into<Ask>) -> Result<Events, ClaudeError> {
    let runtime = runtime()?;
    let stream = {
        let _inside = runtime.enter();
        model.stream(ask)?
    };
    Ok(Events { stream, runtime })
}

/// Starts a conversation of several turns.
pub fn converse(model: &Model) -> Result<Conversation, ClaudeError> {
    start(|| model.converse())
}

/// Continues an earlier conversation.
pub fn resume(model: &Model, session_id: &str) -> Result<Conversation, ClaudeError> {
    start(|| model.resume(session_id))
}

fn start(
    start: impl FnOnce() -> Result<crate::Conversation, ClaudeError>,
) -> Result<Conversation, ClaudeError> {
    let runtime = runtime()?;
    let conversation = {
        let _inside = runtime.enter();
        start()?
    };
    Ok(Conversation { conversation, runtime })
}

/// The events of a call, as they happen.
#[derive(Debug)]
pub struct Events {
    // Dropped before the runtime that it needs.
    stream: Stream,
    runtime: Runtime,
}

impl Events {
    /// Asks the agent to stop what it is doing.
    pub fn interrupt(&mut self) {
        self.stream.interrupt();
    }
}

impl Iterator for Events {
    type Item = Result<Event, ClaudeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.runtime.block_on(self.stream.next())
    }
}

/// A conversation with one CLI process, see [`crate::Conversation`].
#[derive(Debug)]
pub struct Conversation {
    // Dropped before the runtime that it needs.
    conversation: crate::Conversation,
    runtime: Runtime,
}

impl Conversation {
    /// Sends a prompt and waits for the answer.
    pub fn ask(&mut self, prompt: impl Into<Prompt>) -> Result<Answer, ClaudeError> {
        self.runtime.block_on(self.conversation.ask(prompt))
    }

    /// Sends a prompt and returns the events until the answer.
    pub fn turn(&mut self, prompt: impl Into<Prompt>) -> TurnEvents<'_> {
        let _inside = self.runtime.enter();
        TurnEvents { turn: self.conversation.turn(prompt), runtime: &self.runtime }
    }

    /// Changes the model, from the next request to it.
    pub fn set_model(&mut self, name: &str) -> Result<(), ClaudeError> {
        self.runtime.block_on(self.conversation.set_model(name))
    }

    /// Changes how tool calls that no rule decides are handled.
    pub fn set_permission_mode(&mut self, mode: PermissionMode) -> Result<(), ClaudeError> {
        self.runtime.block_on(self.conversation.set_permission_mode(mode))
    }

    /// Ends the conversation after the CLI has saved its state.
    pub fn close(self) {
        self.runtime.block_on(self.conversation.close());
    }
}

/// One turn of a [`Conversation`], as it happens.
#[derive(Debug)]
pub struct TurnEvents<'a> {
    turn: TurnStream<'a>,
    runtime: &'a Runtime,
}

impl TurnEvents<'_> {
    /// Asks the agent to stop what it is doing.
    pub fn interrupt(&mut self) {
        self.turn.interrupt();
    }
}

impl Iterator for TurnEvents<'_> {
    type Item = Result<Event, ClaudeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.runtime.block_on(self.turn.next())
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build()
}
