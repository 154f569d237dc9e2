//! The model for programs without tokio.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::{
    ClaudeAnswer, ClaudeError, ClaudeEvent, ClaudeStream, Model, ModelRequest, PermissionMode,
    Prompt, TurnStream,
};

/// Sends a request and waits for the text of the answer.
pub fn request(model: &Model, ask: impl Into<ModelRequest>) -> Result<String, ClaudeError> {
    Ok(request_with_metadata(model, ask)?.text)
}

/// Sends a request and waits for the answer with its metadata.
pub fn request_with_metadata(
    model: &Model,
    ask: impl Into<ModelRequest>,
) -> Result<ClaudeAnswer, ClaudeError> {
    build_runtime()?.block_on(model.request_with_metadata(ask))
}

/// Sends a request and returns its events as they happen.
pub fn stream(model: &Model, ask: impl Into<ModelRequest>) -> Result<BlockingStream, ClaudeError> {
    let (stream, runtime) = start_in_runtime(|| model.stream(ask))?;
    Ok(BlockingStream { stream, runtime })
}

/// Starts a conversation of several turns.
pub fn converse(model: &Model) -> Result<BlockingConversation, ClaudeError> {
    let (conversation, runtime) = start_in_runtime(|| model.converse())?;
    Ok(BlockingConversation { conversation, runtime })
}

/// Continues an earlier conversation.
pub fn resume(model: &Model, session_id: &str) -> Result<BlockingConversation, ClaudeError> {
    let (conversation, runtime) = start_in_runtime(|| model.resume(session_id))?;
    Ok(BlockingConversation { conversation, runtime })
}

fn start_in_runtime<T>(
    start: impl FnOnce() -> Result<T, ClaudeError>,
) -> Result<(T, Runtime), ClaudeError> {
    let runtime = build_runtime()?;
    let started = {
        let _inside = runtime.enter();
        start()?
    };
    Ok((started, runtime))
}

/// The events of a call, as they happen.
#[derive(Debug)]
pub struct BlockingStream {
    // Dropped before the runtime that it needs.
    stream: ClaudeStream,
    runtime: Runtime,
}

impl BlockingStream {
    /// Asks the agent to stop what it is doing.
    pub fn interrupt(&mut self) {
        self.stream.interrupt();
    }
}

impl Iterator for BlockingStream {
    type Item = Result<ClaudeEvent, ClaudeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.runtime.block_on(self.stream.next())
    }
}

/// A conversation with one CLI process, see [`crate::ClaudeConversation`].
#[derive(Debug)]
pub struct BlockingConversation {
    // Dropped before the runtime that it needs.
    conversation: crate::ClaudeConversation,
    runtime: Runtime,
}

impl BlockingConversation {
    /// Sends a prompt and waits for the answer.
    pub fn ask(&mut self, prompt: impl Into<Prompt>) -> Result<ClaudeAnswer, ClaudeError> {
        self.runtime.block_on(self.conversation.ask(prompt))
    }

    /// Sends a prompt and returns the events until the answer.
    pub fn turn(&mut self, prompt: impl Into<Prompt>) -> BlockingTurn<'_> {
        let _inside = self.runtime.enter();
        BlockingTurn { turn: self.conversation.turn(prompt), runtime: &self.runtime }
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

/// One turn of a [`BlockingConversation`], as it happens.
#[derive(Debug)]
pub struct BlockingTurn<'a> {
    turn: TurnStream<'a>,
    runtime: &'a Runtime,
}

impl BlockingTurn<'_> {
    /// Asks the agent to stop what it is doing.
    pub fn interrupt(&mut self) {
        self.turn.interrupt();
    }
}

impl Iterator for BlockingTurn<'_> {
    type Item = Result<ClaudeEvent, ClaudeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.runtime.block_on(self.turn.next())
    }
}

/// Builds a runtime with a thread of its own, so that tools and callbacks go on while the program
/// does not wait for an event.
fn build_runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build()
}
