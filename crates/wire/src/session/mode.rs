//! The permission modes of a conversation.

use serde::{Deserialize, Serialize};

words! {
    /// Who decides about the tool calls of a conversation that no rule decides.
    #[derive(Default)]
    pub enum ConversationMode {
        /// A person is asked.
        #[default]
        Ask "ask",
        /// Nothing is changed: only tools that change nothing run, and the model writes a plan.
        Plan "plan",
        /// Nobody is asked: what no rule allows is denied.
        Auto "auto",
    }
}

/// The data of the `done` of `set_mode`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModeSet {
    pub conversation_id: String,
    pub mode: ConversationMode,
}
