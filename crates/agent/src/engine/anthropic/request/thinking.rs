//! Whether and how the model is asked to think.

use serde::Serialize;

use crate::engine::EngineCall;
use crate::message::{Block, ChatMessage, Role};

/// The smallest budget that the API accepts.
const LEAST_BUDGET: u32 = 1024;

/// The two ways of asking a model to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ThinkingMode {
    /// Up to a number of tokens.
    Enabled { budget_tokens: u32 },
    /// As much as the model decides. Without `display`, newer models do not send their thoughts.
    Adaptive { display: &'static str },
}

impl ThinkingMode {
    /// Returns how to think for this call, if at all.
    pub(super) fn for_call(call: &EngineCall, model: &str) -> Option<Self> {
        let budget = thinking_budget(call)?;
        if !takes_budget(model) {
            return Some(Self::Adaptive { display: "summarized" });
        }
        let turn = call.messages.iter().map(AsRef::as_ref);
        may_begin(turn).then_some(Self::Enabled { budget_tokens: budget })
    }
}

fn thinking_budget(call: &EngineCall) -> Option<u32> {
    call.thinking.map(|budget| budget.max(LEAST_BUDGET))
}

/// Returns how many tokens the model may write. The API counts thoughts among them, so there has to
/// be room for more than these.
pub(super) fn output_limit(call: &EngineCall) -> u32 {
    let least = call.max_tokens.max(1);
    match thinking_budget(call) {
        // The API refuses a request whose budget is not below `max_tokens`.
        Some(budget) if budget >= least => budget.saturating_add(least),
        _ => least,
    }
}

/// Returns true if a model thinks by a budget: those up to Claude 4.5, and models other than Claude
/// that are served in this way. Later ones refuse a budget.
fn takes_budget(model: &str) -> bool {
    let Some((_, name)) = model.split_once("claude-") else { return true };
    // `claude-3-7-sonnet` and older names have the number before the family.
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return true;
    }
    let mut numbers = name.split(['-', '.', '@', ':']).skip(1).map_while(|part| part.parse().ok());
    // A name without a number is taken for a new one, because new models refuse a budget.
    let major: u32 = numbers.next().unwrap_or(u32::MAX);
    // `claude-opus-4-20250514` has a date where others have a minor number.
    let minor: u32 = numbers.next().filter(|minor| *minor < 1000).unwrap_or(0);
    (major, minor) <= (4, 5)
}

/// Returns true if a model with a budget may think now. In the middle of a turn, after a tool has
/// run, it may only if it thought at the turn's beginning.
fn may_begin<'a>(messages: impl DoubleEndedIterator<Item = &'a ChatMessage>) -> bool {
    let turn = messages.rev().take_while(|message| !message.begins_turn());
    let first = turn.filter(|message| message.role == Role::Assistant).last();
    first.is_none_or(|message| message.content.first().is_some_and(is_kept))
}

/// Returns true if the block is a thought that the API accepts again.
fn is_kept(block: &Block) -> bool {
    match block {
        Block::Thinking { signature, .. } => !signature.is_empty(),
        Block::RedactedThinking { data } => !data.is_empty(),
        _ => false,
    }
}
