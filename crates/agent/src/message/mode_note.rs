//! The notes about the mode of a conversation, which the model reads.

use crate::message::{Block, ChatMessage};

/// What the model reads when the mode becomes `plan`. It is a part of the user's message: another
/// system prompt would make the provider read the whole conversation again instead of its cache.
const PLAN: &str = "[You are in plan mode. Nothing may be changed: only tools that read and search \
    will run. Find out what you need to know, then answer with a plan of what you would do, step \
    by step, and let the user decide.]";
/// What the model reads when the mode is no longer `plan`.
const PLAN_IS_OVER: &str = "[Plan mode is over: tools that change something may be used again.]";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModeNote {
    Plan,
    PlanIsOver,
}

impl ModeNote {
    pub(crate) fn from_block(block: &Block) -> Option<Self> {
        let Block::Text { text } = block else { return None };
        match text.as_str() {
            PLAN => Some(Self::Plan),
            PLAN_IS_OVER => Some(Self::PlanIsOver),
            _ => None,
        }
    }

    pub(crate) fn into_block(self) -> Block {
        Block::text(match self {
            Self::Plan => PLAN,
            Self::PlanIsOver => PLAN_IS_OVER,
        })
    }
}

impl ChatMessage {
    pub(crate) fn mode_note(&self) -> Option<ModeNote> {
        self.content.iter().rev().find_map(ModeNote::from_block)
    }
}
