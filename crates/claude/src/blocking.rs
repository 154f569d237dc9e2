//! The model for programs without tokio.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::{Answer, Ask, ClaudeError, Event, Model, Stream};

/// Asks, and waits for the answer's text.
pub fn request(model: &Model, ask: impl Into<Ask>) -> Result<String, ClaudeError> {
    Ok(request_with_metadata(model, ask)?.text)
}

/// Asks, and waits for the answer with all that is known about it.
pub fn request_with_metadata(model: &Model, ask: impl Into<Ask>) -> Result<Answer, ClaudeError> {
    runtime()?.block_on(model.request_with_metadata(ask))
}

/// Asks, and gives what happens as it happens.
pub fn stream(model: &Model, ask: impl Into<Ask>) -> Result<Events, ClaudeError> {
    let runtime = runtime()?;
    let stream = {
        let _inside = runtime.enter();
        model.stream(ask)?
    };
    Ok(Events { stream, runtime })
}

/// What happens during a call, as it happens.
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

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).enable_all().build()
}
