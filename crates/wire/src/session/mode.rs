//! The permission modes of a conversation.

use serde::{Deserialize, Serialize};

/// Who decides about the tool calls of a conversation that no rule decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConversationMode {
    /// A person is asked.
    #[default]
    Ask,
    /// Nothing is changed: only tools that change nothing run, and the model writes a plan.
    Plan,
    /// Nobody is asked: what no rule allows is denied.
    Auto,
}

impl ConversationMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Ask, Self::Plan, Self::Auto];

    /// Returns its name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Plan => "plan",
            Self::Auto => "auto",
        }
    }

    /// Returns the mode with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The data of the `done` of `set_mode`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModeSet {
    /// The conversation.
    pub conversation_id: String,
    /// Its mode from now on.
    pub mode: ConversationMode,
}
