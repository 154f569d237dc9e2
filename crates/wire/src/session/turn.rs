//! How requests end: what `done` and `error` say besides.

use serde::{Deserialize, Serialize};

/// Why a turn ended, as [`TurnEnd::stop_reason`] says it; a reader takes other words as they come.
pub mod stop {
    /// The model had said everything.
    pub const END_TURN: &str = "end_turn";
    /// The answer was as long as an answer may be.
    pub const MAX_TOKENS: &str = "max_tokens";
    /// The model was asked as often as it may be for one message.
    pub const MAX_TURN_REQUESTS: &str = "max_turn_requests";
    /// The model would not answer.
    pub const REFUSAL: &str = "refusal";
    /// The front end did not want the rest.
    pub const CANCELLED: &str = "cancelled";
}

/// What the `done` of an answered message says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// Why the answer ended here, see [`stop`].
    pub stop_reason: String,
    /// What it took.
    #[serde(default)]
    pub usage: Usage,
    /// What it cost in US dollars, if that is known.
    #[serde(default)]
    pub cost: Option<f64>,
}

/// How many tokens an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Read anew.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Put into the provider's cache.
    pub cache_write_tokens: u64,
}

/// What an `error` says for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorData {
    /// What kind of error it is, in one word.
    pub kind: String,
    /// The status of the provider's HTTP answer, if there was one.
    #[serde(default)]
    pub status: Option<u16>,
    /// Whether the same request may work later.
    pub retryable: bool,
}

/// What the `done` of `replay` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// The number of the first response that came again, as it was asked for.
    pub from_seq: u64,
    /// The number of the last; one less than the first when there was none.
    pub to_seq: u64,
}
