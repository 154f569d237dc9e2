//! What answers: a model, or something that stands in for one.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::TokenUsage;
use serde_json::value::RawValue;

use crate::BoxFuture;
use crate::message::ChatMessage;
use crate::tool::ToolSpec;

/// Something that answers messages.
pub trait Engine: Send + Sync {
    /// Its name: `anthropic`, `offline`.
    fn name(&self) -> &'static str;

    /// Returns the model, as the provider names it.
    fn model(&self) -> &str;

    /// Returns true if it can write a summary of a conversation that has become too long.
    fn can_summarise(&self) -> bool {
        true
    }

    /// Makes ready what the first answer would have to wait for. It may block.
    fn warm(&self) {}

    /// Begins an answer: one attempt, nothing is tried again here. Dropping the answer stops it.
    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream>;
}

/// What is to be answered.
#[derive(Debug, Clone)]
pub struct EngineCall {
    /// What holds for the whole conversation.
    pub system: Arc<str>,
    /// The conversation so far; the last message is the user's.
    pub messages: Vec<Arc<ChatMessage>>,
    /// The tools that may be used.
    pub tools: Arc<[ToolSpec]>,
    /// How long the answer may be.
    pub max_tokens: u32,
    /// How long the model may think before, in tokens; it does not think where this is none.
    pub thinking: Option<u32>,
}

/// An answer on its way.
pub trait AnswerStream: Send {
    /// Waits for what comes next and puts all that has arrived into `into`. `false` means that
    /// nothing will follow; before that exactly one [`AnswerPiece::End`] was given. When the future is
    /// dropped nothing is lost.
    fn next<'a>(
        &'a mut self,
        into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>>;
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub enum AnswerPiece {
    /// Words to be appended.
    Text(String),
    /// A thought, to be appended.
    Thinking(String),
    /// The signature of the thought that has ended.
    Signature(String),
    /// A thought that only the model can read.
    Redacted(String),
    /// The model wants a tool to run; its input is whole.
    ToolUse {
        /// Names the call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments: always a JSON object.
        input: Box<RawValue>,
        /// What is wrong with the arguments that came, if `input` stands in for them.
        fault: Option<String>,
    },
    /// What the answer has cost so far; the last one counts.
    Usage(TokenUsage),
    /// The answer is whole.
    End(ModelStop),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelStop {
    /// It had said everything.
    EndTurn,
    /// It wants tools to run.
    ToolUse,
    /// It ran into the limit of an answer.
    MaxTokens,
    /// It will not answer.
    Refusal,
    /// The conversation is as long as the model can read.
    ContextWindow,
    /// A reason of the provider's own.
    Other(String),
}

/// Why there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct EngineError {
    /// In which way.
    pub kind: EngineErrorKind,
    /// The status of the HTTP answer, if there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// What could not be done and what to do next, for a person; without any secret.
    pub text: String,
}

/// The kinds of trouble with an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// The key is missing or wrong (401, 403).
    Auth,
    /// The request is wrong in the provider's eyes (400, 404 and the like).
    Refused,
    /// The conversation is more than the model can read or a request may have (400, 413).
    TooLong,
    /// Too many requests (429).
    RateLimit,
    /// The provider has too much to do (529).
    Overloaded,
    /// The provider failed (other 5xx).
    Server,
    /// It could not be reached.
    Network,
    /// The answer ended before its end.
    Cut,
    /// Nothing came for too long.
    Stalled,
    /// What came makes no sense.
    Nonsense,
}

impl EngineErrorKind {
    /// Returns true if the same request may work later.
    #[must_use]
    pub fn is_passing(self) -> bool {
        !matches!(self, Self::Auth | Self::Refused | Self::TooLong | Self::Nonsense)
    }

    /// Returns the word for it in `error.data.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Refused => "refused",
            Self::TooLong => "too_long",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Network => "network",
            Self::Cut => "cut",
            Self::Stalled => "stalled",
            Self::Nonsense => "nonsense",
        }
    }
}
