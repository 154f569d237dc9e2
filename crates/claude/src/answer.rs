//! The result of a call: the answer, what it used, and how it ended.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use callgate_wire::raw::Members;
use serde::Deserialize;
use serde_json::Value;

use crate::fields::{member_text, member_value, value_text};

/// The result of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClaudeAnswer {
    /// The model's final text; without one, the errors that the CLI reports.
    pub text: String,
    /// The value, when [`output_schema`](crate::ModelRequest::output_schema) asked for one.
    pub structured: Option<Value>,
    /// The cost in dollars, as the CLI estimates it, from the beginning of the session.
    pub cost_usd: Option<f64>,
    /// The cost of this call alone in dollars. Older versions of the CLI do not report it.
    pub call_cost_usd: Option<f64>,
    /// The tokens of the main conversation.
    pub usage: ClaudeUsage,
    /// The tokens and cost of each model, including subagents and side requests. In a conversation
    /// they are counted from its beginning.
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// How many turns the model took.
    pub turns: u64,
    /// How long it took.
    pub duration: Duration,
    /// How much of that the model's service took.
    pub api_duration: Duration,
    /// The conversation's id, to resume it by.
    pub session_id: String,
    /// Why the model stopped, in the service's words.
    pub stop_reason: Option<String>,
    /// The status of the service's HTTP response, if the service failed with one.
    pub service_status: Option<u16>,
    /// The tool calls that were denied.
    pub denials: Vec<ToolDenial>,
    /// How it ended.
    pub outcome: ClaudeOutcome,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaudeOutcome {
    /// The agent has answered.
    Success,
    /// It was interrupted, by you or by a denial that demands it.
    Interrupted,
    /// [`max_turns`](crate::ClaudeSettings::max_turns) was reached.
    MaxTurns,
    /// [`budget_usd`](crate::ClaudeSettings::budget_usd) was used up.
    MaxBudget,
    /// No value that the model returned fits the
    /// [`output_schema`](crate::ModelRequest::output_schema).
    NoStructuredOutput,
    /// The model's service failed.
    ServiceError,
    /// The CLI failed.
    ExecutionError,
    /// Any other outcome, under the CLI's name.
    Other(String),
}

impl fmt::Display for ClaudeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Success => "success",
            Self::Interrupted => "interrupted",
            Self::MaxTurns => "the limit of turns was reached",
            Self::MaxBudget => "the budget was used up",
            Self::NoStructuredOutput => "no value fits the schema",
            Self::ServiceError => "the model's service failed",
            Self::ExecutionError => "the CLI failed",
            Self::Other(name) => name,
        })
    }
}

/// The tokens of a conversation, as the model's service counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say what is counted")]
pub struct ClaudeUsage {
    /// Those that were not cached.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
}

impl AddAssign for ClaudeUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_creation_input_tokens += other.cache_creation_input_tokens;
        self.cache_read_input_tokens += other.cache_read_input_tokens;
    }
}

/// What one model used.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say what is counted")]
pub struct ModelUsage {
    /// Those that were not cached.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub web_search_requests: u64,
    /// The cost in dollars, as the CLI estimates it.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// The size of the model's context window, in tokens.
    pub context_window: u64,
}

/// A tool call that was denied.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDenial {
    /// The tool's full name: `Bash`, or `mcp__callgate__moon` for a tool of yours.
    pub tool_name: String,
    /// The id of the call that did not run.
    pub tool_use_id: String,
    /// The arguments with which it would have run.
    pub input: Value,
}

impl ClaudeAnswer {
    /// Returns true if the call ended without an answer.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome != ClaudeOutcome::Success
    }

    /// Reads a `result` message of the CLI.
    pub(crate) fn from_message(message: &Members<'_>) -> Self {
        let denials: Vec<Value> = member_value(message, "permission_denials").unwrap_or_default();
        let errors: Vec<String> = member_value(message, "errors").unwrap_or_default();
        let result = message.string("result").map(Into::into);
        let duration =
            |name| Duration::from_millis(member_value(message, name).unwrap_or_default());
        Self {
            text: result.unwrap_or_else(|| errors.join("; ")),
            structured: member_value(message, "structured_output"),
            cost_usd: member_value(message, "total_cost_usd"),
            call_cost_usd: since_last(message),
            usage: member_value(message, "usage").unwrap_or_default(),
            model_usage: member_value(message, "modelUsage").unwrap_or_default(),
            turns: member_value(message, "num_turns").unwrap_or_default(),
            duration: duration("duration_ms"),
            api_duration: duration("duration_api_ms"),
            session_id: member_text(message, "session_id"),
            stop_reason: member_value(message, "stop_reason"),
            service_status: member_value(message, "api_error_status"),
            denials: denials.into_iter().map(ToolDenial::from_value).collect(),
            outcome: ClaudeOutcome::from_message(message),
        }
    }

    /// Combines this answer with an earlier one of the same call.
    pub(crate) fn merge_earlier(mut self, earlier: Self) -> Self {
        self.turns += earlier.turns;
        self.duration += earlier.duration;
        self.denials.splice(0..0, earlier.denials);
        self.structured = self.structured.or(earlier.structured);
        // `cost_usd` and `model_usage` stay: the CLI counts them from the beginning of the session.
        self.usage += earlier.usage;
        self.call_cost_usd = sum_costs(self.call_cost_usd, earlier.call_cost_usd);
        self
    }

    /// Adds the cost of what the agent has done after this answer.
    pub(crate) fn add_cost(&mut self, later: &Self) {
        self.cost_usd = later.cost_usd.or(self.cost_usd);
        self.call_cost_usd = sum_costs(self.call_cost_usd, later.call_cost_usd);
        self.model_usage.clone_from(&later.model_usage);
    }
}

/// Returns the cost since the CLI's result before this one.
fn since_last(message: &Members<'_>) -> Option<f64> {
    let models: BTreeMap<String, ModelUsage> =
        member_value(message, "model_usage_since_last_result")?;
    Some(models.values().map(|model| model.cost_usd).sum())
}

fn sum_costs(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    // A sum of which one part is unknown would be too low.
    Some(a? + b?)
}

impl ClaudeOutcome {
    fn from_message(message: &Members<'_>) -> Self {
        let reason = member_text(message, "terminal_reason");
        let is_error: bool = member_value(message, "is_error").unwrap_or_default();
        let is_error = is_error || reason == "api_error";
        match &*member_text(message, "subtype") {
            "success" if !is_error => Self::Success,
            // The CLI reports what the service refuses as a success, but it is an error.
            "success" => Self::ServiceError,
            "error_max_turns" => Self::MaxTurns,
            "error_max_budget_usd" => Self::MaxBudget,
            "error_max_structured_output_retries" => Self::NoStructuredOutput,
            "error_during_execution" if reason.starts_with("aborted_") => Self::Interrupted,
            "error_during_execution" => Self::ExecutionError,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl ToolDenial {
    fn from_value(mut denial: Value) -> Self {
        Self {
            tool_name: value_text(&denial, "tool_name"),
            tool_use_id: value_text(&denial, "tool_use_id"),
            input: denial["tool_input"].take(),
        }
    }
}

#[cfg(test)]
mod tests;
