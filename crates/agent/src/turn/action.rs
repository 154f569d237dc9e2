//! What a turn wants done, and what it may take.

use std::time::Duration;

use callgate_wire::session::SessionEvent;
use serde_json::value::RawValue;

use super::StopReason;
use crate::failure::RequestFailure;
use crate::message::{ChatMessage, StoredToolResult};
use crate::tool::CallOutcome;

#[derive(Debug, Clone, Copy)]
pub struct TurnLimits {
    pub most_rounds: u32,
    /// Whether the message is stored before the model is asked. One that replaces another is not,
    /// because the other's answer would be lost if none follows.
    pub keeps_unanswered: bool,
    /// How long it may wait, all attempts together, for a model that cannot be reached or has too
    /// much to do.
    pub patience: Duration,
    /// Makes the waits differ from those of other turns.
    pub seed: u64,
}

#[derive(Debug)]
pub enum TurnAction {
    Tell(SessionEvent),
    /// Ask the model after this time. The conversation is what was stored, followed by
    /// [`Turn::unkept`](super::Turn::unkept).
    Ask(Duration),
    /// Summarise what was stored, because it is too much for the model, and ask again. If that is
    /// not possible, [abandon](super::Turn::abandon) the turn with this failure.
    Shorten(RequestFailure),
    Drop,
    Run(ToolCall),
    Stop(Vec<usize>),
    /// Store these messages, all or none. The turn only continues when they are stored.
    Keep {
        messages: Vec<ChatMessage>,
        /// The results that their tools gave the front end.
        results: Vec<StoredToolResult>,
        /// Whether the answer goes on after them.
        is_part: bool,
    },
    End(Result<StopReason, RequestFailure>),
}

#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Its index in this round, which [`Turn::handle_call_end`](super::Turn::handle_call_end)
    /// expects.
    pub index: usize,
    pub id: String,
    pub name: String,
    pub input: Box<RawValue>,
}

#[derive(Debug)]
pub struct FinishedCall {
    pub outcome: CallOutcome,
    /// Whether a person has ended the whole turn.
    pub interrupt: bool,
}
