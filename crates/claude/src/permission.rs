//! Permissions: whether the agent may use a tool.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use callgate_wire::raw::Members;
use serde_json::{Value, json};

use crate::fields::member_value;

/// A question of the agent whether it may use a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionQuestion {
    /// The tool's full name: `Bash`, or `mcp__callgate__moon` for a tool of yours.
    pub tool_name: String,
    /// The arguments, which [`PermissionDecision::Allow`] may replace.
    pub input: Value,
    /// The id of the call, if the CLI names it.
    pub tool_use_id: Option<String>,
    /// Why it asks, in the CLI's words.
    pub reason: Option<String>,
    /// What could be allowed permanently, as the CLI suggests it.
    pub suggestions: Vec<Value>,
}

/// The answer to a [`PermissionQuestion`].
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionDecision {
    /// The tool runs.
    Allow {
        /// Arguments in place of the model's.
        input: Option<Value>,
        /// Suggestions that are accepted permanently; pass them on unchanged.
        updates: Vec<Value>,
    },
    /// The tool does not run.
    Deny {
        /// The reason; the model reads it.
        message: String,
        /// Whether the whole call ends.
        interrupt: bool,
    },
}

impl PermissionDecision {
    /// Allows it this once.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow { input: None, updates: Vec::new() }
    }

    /// Denies it for this reason.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: false }
    }

    /// Returns the answer in the CLI's form, for a question about `input`.
    pub(crate) fn to_response(&self, input: &Value) -> Value {
        match self {
            Self::Allow { input: edited, updates } => {
                let input = edited.as_ref().unwrap_or(input);
                let mut response = json!({"behavior": "allow", "updatedInput": input});
                if !updates.is_empty() {
                    response["updatedPermissions"] = json!(updates);
                }
                response
            }
            Self::Deny { message, interrupt } => {
                let mut response = json!({"behavior": "deny", "message": message});
                if *interrupt {
                    response["interrupt"] = json!(true);
                }
                response
            }
        }
    }
}

impl PermissionQuestion {
    pub(crate) fn from_request(request: &Members<'_>) -> Self {
        let text = |name: &str| request.string(name).map(Into::into);
        Self {
            tool_name: text("tool_name").unwrap_or_default(),
            input: member_value(request, "input").unwrap_or_default(),
            tool_use_id: text("tool_use_id"),
            reason: text("decision_reason"),
            suggestions: member_value(request, "permission_suggestions").unwrap_or_default(),
        }
    }
}

type DecisionFuture = Pin<Box<dyn Future<Output = PermissionDecision> + Send>>;

/// The callback that decides about permissions.
#[derive(Clone)]
pub(crate) struct Decider(Arc<dyn Fn(PermissionQuestion) -> DecisionFuture + Send + Sync>);

impl Decider {
    pub(crate) fn new<F, R>(decide: F) -> Self
    where
        F: Fn(PermissionQuestion) -> R + Send + Sync + 'static,
        R: Future<Output = PermissionDecision> + Send + 'static,
    {
        Self(Arc::new(move |asked| Box::pin(decide(asked))))
    }

    pub(crate) async fn decide(&self, asked: PermissionQuestion) -> PermissionDecision {
        (self.0)(asked).await
    }
}

impl fmt::Debug for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decider")
    }
}
