//! The parts and settings of a session.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::SessionLog;
use crate::budget::Budget;
use crate::budget::price::ModelPrices;
use crate::engine::engine_registry::EngineRegistry;
use crate::gate::PermissionGate;
use crate::history::History;
use crate::tool::files::{FilePicker, ProjectInstructions, TurnTracker};
use crate::tool::{AgentTool, ToolSource};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResumedConversation {
    /// None: a new one begins.
    #[default]
    None,
    /// The one that was used last, within the scope of the history.
    Last,
    Id(String),
}

pub struct SessionOptions {
    pub engines: EngineRegistry,
    /// The tools that engines may call.
    pub tools: Vec<Arc<dyn AgentTool>>,
    /// Where more tools come from.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// The gate that decides whether a tool may run.
    pub gate: Arc<dyn PermissionGate>,
    pub history: History,
    /// Where tool calls are recorded.
    pub ledger: History,
    pub system: Arc<str>,
    /// Where the project's own instructions are; `None` if they are not read.
    pub instructions: Option<ProjectInstructions>,
    /// The files that the front end may offer to its user.
    pub picker: Option<FilePicker>,
    /// Keeps track of what turns change; `None` if nothing does.
    pub changes: Option<TurnTracker>,
    /// The model that answers if the chosen one is overloaded or unknown.
    pub fallback: Option<Arc<str>>,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
    /// How long the engine may think, in tokens.
    pub thinking: Option<u32>,
    /// The engine's context window, in tokens.
    pub context: u64,
    /// The most times that the engine is asked for one message.
    pub most_rounds: u32,
    /// How long a turn waits for a model that cannot be reached or has too much to do.
    pub patience: Duration,
    pub budget: Budget,
    /// The prices of tokens, in place of the built-in list.
    pub prices: ModelPrices,
    pub resume: ResumedConversation,
    /// The folder of relative attachment paths.
    pub folder: PathBuf,
    /// Returns when the day began, in milliseconds since 1970, for budgets per day.
    pub day_began: fn() -> i64,
    pub log: SessionLog,
}
