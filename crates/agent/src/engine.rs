//! Engines: a model, or something that stands in for one.

pub mod anthropic;
pub mod claude_code;
pub mod engine_registry;
pub mod model_api;
pub mod offline;
pub mod openai;

use std::sync::Arc;
use std::time::Duration;

pub use callgate_claude::Effort;
use callgate_wire::session::{ModelListing, TokenUsage};
use serde_json::value::RawValue;

use crate::BoxFuture;
use crate::gate::ToolPermit;
use crate::message::Block;
use crate::message::message_list::MessageList;
use crate::tool::{CallOutcome, ToolSpec};

/// Something that answers messages, such as a model.
pub trait Engine: Send + Sync {
    /// Returns its name, such as `anthropic`.
    fn name(&self) -> &'static str;

    /// Returns the model for conversations that name none, as the provider names it. A server may
    /// have to be asked.
    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>>;

    /// Returns the models that are known. A server may have to be asked.
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>>;

    /// Returns an error if it surely cannot answer, such as an engine whose program is missing.
    /// Nobody is asked for that.
    fn check_usable(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns where it is, if it was found and not configured.
    fn found_place(&self) -> Option<String> {
        None
    }

    fn is_free(&self) -> bool {
        false
    }

    /// Returns true if its model runs on this machine, so that its answers cost nothing unless the
    /// settings have a price.
    fn is_local(&self) -> bool {
        false
    }

    /// Returns how long its provider keeps what it was asked to cache.
    fn cache_life(&self) -> CacheLife {
        CacheLife::default()
    }

    /// Returns the context window of a model in tokens, if the engine has learnt it.
    fn context_window(&self, _model: &str) -> Option<u64> {
        None
    }

    /// Returns true if it can summarise a conversation that has become too long.
    fn can_summarise(&self) -> bool {
        true
    }

    /// Begins an answer. It is attempted once; the caller retries. Dropping the answer stops it.
    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream>;
}

callgate_wire::words! {
    /// How long a provider keeps what it was asked to cache.
    #[derive(Default)]
    pub enum CacheLife {
        /// Five minutes after its last use.
        #[default]
        FiveMinutes "5m",
        /// An hour after its last use. Writing to the cache costs more.
        OneHour "1h",
    }
}

/// What the runtime does for an engine that runs tools itself.
pub trait ToolRunner: Send + Sync {
    /// Returns whether a tool of the engine's own may run. Dropping the future withdraws the
    /// question.
    fn permit_call(&self, call: EngineToolCall) -> BoxFuture<'static, ToolPermit>;

    /// Runs a tool of the runtime, if the gate permits it.
    fn run_tool(
        &self,
        id: String,
        tool: String,
        input: Box<RawValue>,
    ) -> BoxFuture<'static, CallOutcome>;
}

#[derive(Debug, Clone)]
pub struct EngineToolCall {
    pub id: String,
    pub tool: String,
    pub input: Box<RawValue>,
    pub is_read_only: bool,
}

#[derive(Clone)]
pub struct EngineCall {
    /// The model, as the provider names it.
    pub model: Arc<str>,
    pub system: Arc<str>,
    /// The conversation so far; the last message is the user's.
    pub messages: MessageList,
    pub tools: Arc<[ToolSpec]>,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
    /// How long the model may think, in tokens; it does not think if this is `None`.
    pub thinking: Option<u32>,
    /// Whether to send the input of tools in pieces too, while the model writes it.
    pub streams_tool_input: bool,
    /// What the engine returned as [`AnswerPiece::EngineState`] with the last answer of this
    /// conversation, if nothing else has changed the conversation since.
    pub engine_state: Option<String>,
    /// The runtime, for an engine that runs tools itself.
    pub runner: Option<Arc<dyn ToolRunner>>,
}

/// Whether an answer goes on, once pieces of it have arrived.
pub type NextPieces<'a> = BoxFuture<'a, Result<bool, EngineError>>;

pub trait AnswerStream: Send {
    /// Waits for the next pieces and appends all that have arrived to `into`. Returns false when
    /// nothing will follow; exactly one [`AnswerPiece::End`] was appended before that. Dropping the
    /// future loses nothing.
    fn next<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> NextPieces<'a>;

    /// Asks an engine that keeps its own record of the conversation to stop, waits until it has,
    /// and appends the pieces that still arrive. Other engines stop when the answer is dropped,
    /// which follows.
    fn interrupt<'a>(&'a mut self, _into: &'a mut Vec<AnswerPiece>) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Answers [`AnswerPiece::RoundEnd`] with what the user has said meanwhile, which may be
    /// nothing.
    fn steer(&mut self, _said: &[Block]) {}
}

#[derive(Debug, Clone)]
pub enum AnswerPiece {
    Text(String),
    /// A thought, to be appended.
    Thinking(String),
    /// The signature of the thought before it.
    Signature(String),
    /// A thought that only the model can read.
    Redacted(String),
    /// A piece of a tool's input, to be appended. The complete input follows in
    /// [`ToolUse`](Self::ToolUse), unless the answer is cut off.
    ToolInput {
        id: String,
        name: String,
        /// A piece of its arguments.
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        /// Its arguments: always a JSON object.
        input: Box<RawValue>,
        /// What is wrong with the arguments, if `input` replaces them.
        fault: Option<String>,
    },
    /// A tool call that the engine runs itself. Its result follows before the end of the answer.
    OwnCall {
        id: String,
        name: String,
        /// Its arguments: always a JSON object.
        input: Box<RawValue>,
    },
    OwnResult {
        id: String,
        outcome: CallOutcome,
    },
    /// A tool that the provider refuses, so that the model is asked without it.
    ToolRejected {
        tool: String,
        reason: String,
    },
    /// A call that the engine has run itself has ended, and its result is about to be read by the
    /// model. The engine waits for [`AnswerStream::steer`].
    RoundEnd,
    /// What the engine wants to receive with the next call in this conversation.
    EngineState(String),
    /// What the answer has cost so far in dollars, as the engine reports it; the last one counts.
    Cost(f64),
    /// The tokens that the answer has taken so far; the last one counts.
    Usage(TokenUsage),
    /// The tokens of the latest response of an engine that makes several in one answer. They show
    /// how full the context is.
    LatestResponse(TokenUsage),
    End(ModelStop),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelStop {
    EndTurn,
    ToolUse,
    /// The answer reached the longest permitted length.
    MaxTokens,
    Refusal,
    /// The conversation fills the model's context window.
    ContextWindow,
    /// A reason that only the provider knows.
    Other(String),
}

/// The limit of a provider's own word for a stop, in characters. It reaches front ends as it is,
/// and a provider may send anything.
const LONGEST_REASON: usize = 64;

impl ModelStop {
    /// Returns the stop for a word that only the provider knows.
    pub(crate) fn provider(reason: &str) -> Self {
        Self::Other(reason.chars().take(LONGEST_REASON).collect())
    }
}

/// Why an answer is missing or incomplete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct EngineError {
    pub kind: EngineErrorKind,
    /// The status of the HTTP response, if there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait before another attempt.
    pub retry_after: Option<Duration>,
    /// What could not be done and what to do next, for a person. It holds no secret.
    pub text: String,
}

impl EngineError {
    pub(crate) fn new(kind: EngineErrorKind, text: impl Into<String>) -> Self {
        Self { kind, status: None, retry_after: None, text: text.into() }
    }

    /// Creates the error for a request that would fail again.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Refused, text)
    }
}

callgate_wire::words! {
    /// The kinds of errors of an engine, with their names in `error.data.kind`.
    pub enum EngineErrorKind {
        /// The key is missing or wrong (401, 403).
        Auth "auth",
        /// The provider refused the request (400, 404 and the like).
        Refused "refused",
        /// The conversation is larger than the model can read or a request may be (400, 413).
        TooLong "too_long",
        /// Too many requests (429).
        RateLimit "rate_limit",
        /// The provider is overloaded (529).
        Overloaded "overloaded",
        /// The provider failed (other 5xx).
        Server "server",
        /// The provider could not be reached.
        Network "network",
        /// The connection ended before the answer was complete.
        Cut "cut",
        /// Nothing arrived for too long.
        Stalled "stalled",
        /// The response could not be understood.
        Nonsense "nonsense",
    }
}

impl EngineErrorKind {
    /// Returns true if the same request may succeed later. Front ends read this as `retryable`;
    /// whether a turn tries again by itself is decided in `turn::attempts`.
    pub fn is_passing(self) -> bool {
        !matches!(self, Self::Auth | Self::Refused | Self::TooLong | Self::Nonsense)
    }
}
