//! Engines and their models, as they are listed and chosen.

use serde::{Deserialize, Serialize};

/// The data of the `done` of `list_models`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelList {
    /// The engines of the runtime.
    pub engines: Vec<EngineListing>,
    /// The engine that answers in the current conversation.
    pub engine: String,
    /// The model that answers in the current conversation, if it is known.
    pub model: Option<String>,
}

/// An engine of the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineListing {
    /// Its name, such as `anthropic`.
    pub name: String,
    /// Whether it can answer now.
    pub is_available: bool,
    /// Where it was found, or why it cannot answer and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its models, as far as they are known.
    #[serde(default)]
    pub models: Vec<ModelListing>,
}

/// A model of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelListing {
    /// Its name, as the provider has it.
    pub id: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its context window, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// The data of the `done` of `set_engine`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationEngine {
    /// The conversation.
    pub conversation_id: String,
    /// The engine that answers in it from now on.
    pub engine: String,
    /// The model that answers in it from now on.
    pub model: String,
}
