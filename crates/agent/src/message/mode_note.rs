//! The notes about the mode of a conversation, which the model reads.

use crate::message::{Block, ChatMessage};

/// What the model reads when the mode becomes `plan`. It is a part of the user's message: another
/// system prompt would make the provider read the whole conversation again instead of its cache.
const PLAN: &str = "[You are in plan mode. Nothing may be changed: only tools that read and search \
    will run. Find out what you need to know, then answer with a plan of what you would do, step \
    by step, and let the user decide.]";
/// What the model reads when the mode is no longer `plan`.
const PLAN_IS_OVER: &str = "[Plan mode is over: tools that change something may be used again.]";

/// A note about the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModeNote {
    /// The mode is `plan`.
    Plan,
    /// The mode is no longer `plan`.
    PlanIsOver,
}

impl ModeNote {
    /// Returns the note that a part of a message is.
    pub(crate) fn from_block(block: &Block) -> Option<Self> {
        let Block::Text { text } = block else { return None };
        match text.as_str() {
            PLAN => Some(Self::Plan),
            PLAN_IS_OVER => Some(Self::PlanIsOver),
            _ => None,
        }
    }

    /// Returns the note as a part of a message.
    pub(crate) fn into_block(self) -> Block {
        Block::text(match self {
            Self::Plan => PLAN,
            Self::PlanIsOver => PLAN_IS_OVER,
        })
    }
}

impl ChatMessage {
    /// Returns the last note about the mode in it.
    pub(crate) fn mode_note(&self) -> Option<ModeNote> {
        self.content.iter().rev().find_map(ModeNote::from_block)
    }
}
