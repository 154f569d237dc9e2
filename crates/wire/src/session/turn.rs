//! The data of `done` and `error`.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::fields::is_default;

/// The data of the `done` of an answered message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    /// Why the answer ended here: `end_turn`, `max_tokens`, `max_turn_requests`, `refusal`,
    /// `cancelled` or `steered`. A reader accepts other words.
    pub stop_reason: String,
    #[serde(default)]
    pub usage: TokenUsage,
    /// Its price in US dollars, if known.
    pub cost: Option<f64>,
    /// How many tool calls were denied: by a rule, a person or the mode, or because they led out
    /// of the folders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub denied_calls: u64,
}

/// How many tokens an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Input tokens that were not in the provider's cache.
    #[serde(rename = "inputTokens")]
    pub input: u64,
    #[serde(rename = "outputTokens")]
    pub output: u64,
    /// Input tokens read from the provider's cache.
    #[serde(rename = "cacheReadTokens")]
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    #[serde(rename = "cacheWriteTokens")]
    pub cache_write: u64,
}

impl TokenUsage {
    /// Returns the input tokens, cached or not.
    pub fn all_input(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Returns the share of the input tokens that were read from the cache, from 0 to 1; `None` if
    /// there are none.
    #[allow(clippy::cast_precision_loss, reason = "a share needs no more than three digits")]
    pub fn cached_share(self) -> Option<f64> {
        let all = self.all_input();
        let share = || (self.cache_read as f64 / all as f64 * 1000.0).round() / 1000.0;
        (all > 0).then(share)
    }
}

impl Add for TokenUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
        }
    }
}

/// The tokens that a turn has taken so far, and how full the model's context is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    #[serde(flatten)]
    pub usage: TokenUsage,
    /// Their price in US dollars, if known.
    pub cost: Option<f64>,
    /// The share of the input tokens that were read from the provider's cache, from 0 to 1; absent
    /// if none was read.
    pub cached_share: Option<f64>,
    /// How many tokens the conversation has, as far as the model has reported it.
    #[serde(default)]
    pub context_tokens: u64,
    /// How many tokens the model can read, if known.
    pub context_window: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorData {
    /// The kind of error, in one word.
    pub kind: String,
    /// The status of the provider's HTTP response, if there was one.
    pub status: Option<u16>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
}

/// The data of the `done` of `replay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedRange {
    /// The number of the first response that was sent again.
    pub from_seq: u64,
    /// The number of the last one, or one less than the first if there was none.
    pub to_seq: u64,
}
