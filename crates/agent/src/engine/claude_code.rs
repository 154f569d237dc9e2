//! The engine that is itself an agent: the Claude Code CLI, driven by `callgate-claude`.
//!
//! The CLI runs its own tools. Each call that touches anything passes the runtime's gate first, and
//! nobody else is asked about it: the CLI loads no settings of its user, whose rules and hooks
//! would answer as well. The runtime's tools are offered to it over the control channel. A
//! conversation is one session of the CLI as long as nothing else changes the conversation.

mod answer;
mod cli_failure;
mod cli_files;
mod prompt;
mod tools;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use callgate_claude::{ClaudeError, ClaudeSettings, Effort};
use callgate_wire::session::ModelListing;
use tokio::sync::{mpsc, oneshot};

use crate::BoxFuture;
use crate::engine::{AnswerStream, Engine, EngineCall, EngineError};
use crate::tool::CallOutcome;
use answer::ClaudeCodeAnswer;

/// The name of the model that the CLI chooses itself.
pub const DEFAULT_MODEL: &str = "default";
/// The CLI's own names of models.
const MODELS: [&str; 4] = [DEFAULT_MODEL, "opus", "sonnet", "haiku"];

/// The outcomes of the runtime's tools, by the ids of their calls.
type RanTools = Arc<Mutex<HashMap<String, CallOutcome>>>;

/// Where hooks report that a tool has ended. The CLI goes on when what they send is dropped.
type RoundEnds = mpsc::Sender<oneshot::Sender<()>>;

#[derive(Debug, Clone, Default)]
pub struct ClaudeCodeSettings {
    /// The path of the CLI, in place of `claude` on the `PATH` or in one of its usual places.
    pub cli: Option<PathBuf>,
    pub folder: PathBuf,
    /// Further folders in which it may work.
    pub roots: Vec<PathBuf>,
    /// The socket on which the desk serves viewers. The CLI is registered there, so that a hook of
    /// callgate's does not ask a second time.
    pub desk: PathBuf,
    /// How much effort the model puts into an answer; its default if `None`.
    pub effort: Option<Effort>,
}

#[derive(Debug, Clone)]
pub struct ClaudeCode {
    settings: Arc<ClaudeCodeSettings>,
}

impl ClaudeCode {
    /// Creates the engine. The CLI is started for each answer.
    #[must_use]
    pub fn new(settings: ClaudeCodeSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }
}

impl ClaudeCodeSettings {
    pub fn is_installed(&self) -> bool {
        callgate_claude::find_cli(&self.cli_settings()).is_ok()
    }

    fn cli_settings(&self) -> ClaudeSettings {
        match &self.cli {
            Some(cli) => ClaudeSettings::new().cli(cli),
            None => ClaudeSettings::new(),
        }
    }

    fn for_call(&self, call: &EngineCall) -> ClaudeSettings {
        let mut settings = self.cli_settings().folder(&self.folder).desk(&self.desk).partial();
        if *call.model != *DEFAULT_MODEL {
            settings = settings.model(&*call.model);
        }
        if let Some(effort) = self.effort {
            settings = settings.effort(effort);
        }
        // Its working folder is one of them without being named.
        for root in self.roots.iter().filter(|root| **root != self.folder) {
            settings = settings.add_dir(root);
        }
        settings
    }
}

impl Engine for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async { Ok(DEFAULT_MODEL.into()) })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        let listed = |id: &str| ModelListing { id: id.to_owned(), ..ModelListing::default() };
        let models = self.check_usable().map(|()| MODELS.map(listed).to_vec());
        Box::pin(async { models })
    }

    fn check_usable(&self) -> Result<(), EngineError> {
        let found = callgate_claude::find_cli(&self.settings.cli_settings());
        found.map(drop).map_err(|error| cli_failed(&error))
    }

    /// The CLI summarises its own session.
    fn can_summarise(&self) -> bool {
        false
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        Box::new(ClaudeCodeAnswer::new(Arc::clone(&self.settings), call))
    }
}

/// Returns the error of a call. A user sets the path of the CLI by its key.
fn cli_failed(error: &ClaudeError) -> EngineError {
    EngineError::refused(match error {
        ClaudeError::CliNotFound { looked_in } => format!(
            "the Claude Code CLI was found neither on the PATH nor in {looked_in}: install it, or \
             set agent.claude_cli to its path"
        ),
        ClaudeError::Start { program, source } => format!(
            "cannot start {}: {source}; set agent.claude_cli to the path of the Claude Code CLI",
            program.display()
        ),
        other => other.to_string(),
    })
}
