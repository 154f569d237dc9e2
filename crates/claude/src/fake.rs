//! A fake of the CLI, for tests of programs that use this crate.

mod session;
mod tool_use;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use serde_json::Value;
use tokio::io::{DuplexStream, duplex};

use session::FakeSession;

/// How many bytes may be in transit between the fake and its driver.
const ROOM: usize = 64 * 1024;

/// A CLI that plays a script inside your process: no program is started and no model is asked.
///
/// It speaks the CLI's protocol, so your tools, hooks and permission callback are really called,
/// and the events are those of the CLI. It runs no command and touches no file: the results of the
/// CLI's own tools are part of the script. Clones share the script and what was recorded.
///
/// ```
/// use callgate_claude::{ClaudeSettings, FakeCli, Model, ToolTransport};
/// use callgate_tools::{Host, NoArguments, Tool};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let moon = Tool::blocking("moon", "The phase of the moon.", |_: NoArguments, _| "waxing");
/// let fake = FakeCli::new().uses("mcp__callgate__moon", json!({})).says("It is waxing.");
/// let mut model = Model::with_settings(ClaudeSettings::new().fake_cli(fake.clone()));
/// model.set_tools(Host::new([moon])?, ToolTransport::Auto);
///
/// assert_eq!(model.request("How is the moon tonight?").await?, "It is waxing.");
/// assert_eq!(fake.prompts(), ["How is the moon tonight?"]);
/// assert_eq!(fake.tool_results()[0].text, "waxing");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct FakeCli {
    state: Arc<Mutex<FakeState>>,
}

#[derive(Debug, Default)]
struct FakeState {
    turns: VecDeque<Vec<FakeStep>>,
    /// Steps of a turn that has no end yet.
    open: Vec<FakeStep>,
    prompts: Vec<String>,
    results: Vec<FakeToolResult>,
}

#[derive(Debug, Clone)]
enum FakeStep {
    Thinks(String),
    Says(String),
    Uses { name: String, input: Value, result: String },
    Waits,
    Fails(String),
}

/// The result that the fake's model received from a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FakeToolResult {
    #[allow(missing_docs, reason = "its name says it")]
    pub tool_name: String,
    /// Its output, or why it did not run.
    pub text: String,
    /// Whether it failed or was denied.
    pub is_error: bool,
}

/// The options that a real CLI gets on its command line.
#[derive(Debug)]
pub(crate) struct FakeSetup {
    /// The name of the server of our tools; empty without tools.
    pub(crate) server: String,
    pub(crate) allowed: Vec<String>,
    pub(crate) denied: Vec<String>,
    pub(crate) model: String,
}

impl FakeCli {
    /// Creates a fake with an empty script. Each prompt plays the next turn of the script; a prompt
    /// beyond its end fails.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the model think.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.add_step(FakeStep::Thinks(text.into()))
    }

    /// Makes the model use a tool: one of yours by its full name, such as `mcp__callgate__moon`, or
    /// one of the CLI's own, which then returns an empty result.
    #[must_use]
    pub fn uses(self, tool: impl Into<String>, input: Value) -> Self {
        self.uses_with_result(tool, input, "")
    }

    /// Makes the model use a tool of the CLI, which returns this result if it is allowed.
    #[must_use]
    pub fn uses_with_result(
        self,
        tool: impl Into<String>,
        input: Value,
        result: impl Into<String>,
    ) -> Self {
        self.add_step(FakeStep::Uses { name: tool.into(), input, result: result.into() })
    }

    /// Makes the model say something and end its turn.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.add_last_step(FakeStep::Says(text.into()))
    }

    /// Makes the agent wait until it is interrupted, which ends its turn.
    #[must_use]
    pub fn waits(self) -> Self {
        self.add_last_step(FakeStep::Waits)
    }

    /// Makes the model's service fail, which ends the turn.
    #[must_use]
    pub fn fails(self, reason: impl Into<String>) -> Self {
        self.add_last_step(FakeStep::Fails(reason.into()))
    }

    /// Returns the texts of the prompts so far.
    #[must_use]
    pub fn prompts(&self) -> Vec<String> {
        lock(&self.state).prompts.clone()
    }

    /// Returns the results of the tools that the model has used so far.
    #[must_use]
    pub fn tool_results(&self) -> Vec<FakeToolResult> {
        lock(&self.state).results.clone()
    }

    fn add_step(self, step: FakeStep) -> Self {
        lock(&self.state).open.push(step);
        self
    }

    fn add_last_step(self, step: FakeStep) -> Self {
        {
            let mut state = lock(&self.state);
            state.open.push(step);
            let turn = std::mem::take(&mut state.open);
            state.turns.push_back(turn);
        }
        self
    }

    /// Starts to play the script; returns the fake's input and output. It ends when they are
    /// dropped.
    pub(crate) fn start_playing(&self, setup: FakeSetup) -> (DuplexStream, DuplexStream) {
        let (input, their_input) = duplex(ROOM);
        let (their_output, output) = duplex(ROOM);
        let session = FakeSession::new(self.clone(), setup, their_input, their_output);
        tokio::spawn(session.play_script());
        (input, output)
    }
}
