//! Why a turn ended that did not fail.

use callgate_wire::session::{SessionEvent, TokenUsage, TurnEnd};

use crate::engine::ModelStop;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    /// The answer reached the longest permitted length.
    MaxTokens,
    /// The model was asked as often as one turn permits.
    MaxTurnRequests,
    Refusal,
    Cancelled,
    /// The message went into the turn that was running.
    Steered,
    /// The message answered a question that the running turn had asked.
    Answered,
    /// A reason that only the provider knows.
    Other(String),
}

impl StopReason {
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::MaxTurnRequests => "max_turn_requests",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
            Self::Steered => "steered",
            Self::Answered => "answered",
            Self::Other(reason) => reason,
        }
    }

    /// Returns the `done` of a turn that ended for this reason.
    pub fn done(&self, usage: TokenUsage, cost: Option<f64>, denied_calls: u64) -> SessionEvent {
        let stop_reason = self.name().to_owned();
        SessionEvent::done(&TurnEnd { stop_reason, usage, cost, denied_calls })
    }

    /// Returns the `done` of a request that took nothing.
    pub(crate) fn done_for_free(&self) -> SessionEvent {
        self.done(TokenUsage::default(), Some(0.0), 0)
    }

    /// Returns a note that the answer is incomplete and why, for a front end that does not read
    /// the data of `done`.
    pub fn incomplete_note(&self) -> Option<String> {
        let reason = match self {
            Self::EndTurn | Self::Cancelled | Self::Steered | Self::Answered => return None,
            Self::MaxTokens => {
                "it is as long as an answer may be: ask to go on, or raise `agent.max_tokens`"
            }
            Self::MaxTurnRequests => {
                "it reached the limit of rounds for one message: ask to go on, or raise \
                 `agent.max_rounds`"
            }
            Self::Refusal => "the model declined to say more",
            Self::Other(reason) => {
                return Some(format!(
                    "\n\n[This answer is not whole: the provider says {reason:?}.]"
                ));
            }
        };
        Some(format!("\n\n[This answer is not whole: {reason}.]"))
    }
}

impl From<ModelStop> for StopReason {
    fn from(stop: ModelStop) -> Self {
        match stop {
            // A model that stops for a tool and calls none has ended its turn.
            ModelStop::EndTurn | ModelStop::ToolUse => Self::EndTurn,
            ModelStop::MaxTokens => Self::MaxTokens,
            ModelStop::Refusal => Self::Refusal,
            ModelStop::ContextWindow => Self::Other("model_context_window_exceeded".to_owned()),
            ModelStop::Other(reason) => Self::Other(reason),
        }
    }
}
