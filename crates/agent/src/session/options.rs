//! What a runtime is made of.

use std::path::PathBuf;
use std::sync::Arc;

use super::SessionLog;
use crate::budget::Budget;
use crate::engine::Engine;
use crate::gate::PermissionGate;
use crate::history::History;
use crate::price::TokenPrices;
use crate::tool::AgentTool;

/// What a runtime is made of.
pub struct SessionOptions {
    /// What answers.
    pub engine: Arc<dyn Engine>,
    /// Why it is this engine.
    pub engine_reason: String,
    /// What the engine may use.
    pub tools: Vec<Arc<dyn AgentTool>>,
    /// Who decides whether it may.
    pub gate: Arc<dyn PermissionGate>,
    /// Where conversations are kept.
    pub history: History,
    /// Where runs of tools are recorded.
    pub ledger: History,
    /// What the engine is told before every conversation.
    pub system: Arc<str>,
    /// How long an answer may be, in tokens.
    pub max_tokens: u32,
    /// How long the engine may think, in tokens.
    pub thinking: Option<u32>,
    /// How much the engine can read, in tokens.
    pub context: u64,
    /// How often the engine may be asked for one message.
    pub most_rounds: u32,
    /// What may be spent.
    pub budget: Budget,
    /// What tokens cost, where the built-in list is not to count.
    pub prices: Option<TokenPrices>,
    /// Whether to go on with the conversation that was used last.
    pub resume: bool,
    /// The folder from which relative paths of attachments count.
    pub folder: PathBuf,
    /// When the day began, in milliseconds since 1970, for what may be spent in a day.
    pub day_began: fn() -> i64,
    /// What is logged.
    pub log: SessionLog,
}
