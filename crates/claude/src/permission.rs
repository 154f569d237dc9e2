//! May the agent use this tool?

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use callgate_wire::raw::{Json, Members};
use serde_json::{Value, json};

/// The agent asks whether it may use a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionAsked {
    /// The tool.
    pub tool_name: String,
    /// What it would be given.
    pub input: Value,
    /// The call, if the CLI names it.
    pub tool_use_id: Option<String>,
    /// Why it asks, in the CLI's words.
    pub reason: Option<String>,
    /// What could be allowed for longer than this once, as the CLI offers it.
    pub suggestions: Vec<Value>,
}

/// What is answered to a [`PermissionAsked`].
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It may.
    Allow {
        /// With these arguments instead of its own.
        input: Option<Value>,
        /// And these suggestions are to hold from now on; pass them on as they came.
        updates: Vec<Value>,
    },
    /// It may not.
    Deny {
        /// Why not; the model reads it.
        message: String,
        /// Whether the whole call ends here.
        interrupt: bool,
    },
}

impl Decision {
    /// It may, this once.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow { input: None, updates: Vec::new() }
    }

    /// It may not, for this reason.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: false }
    }

    /// The answer in the CLI's words, for a question about `input`.
    pub(crate) fn response(&self, input: &Value) -> Value {
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

impl PermissionAsked {
    pub(crate) fn read(request: &Members<'_>) -> Self {
        let value = |name: &str| {
            request.some(name).and_then(|value: Json<'_>| serde_json::from_str(value.get()).ok())
        };
        let text = |name: &str| request.string(name).map(Into::into);
        Self {
            tool_name: text("tool_name").unwrap_or_default(),
            input: value("input").unwrap_or_default(),
            tool_use_id: text("tool_use_id"),
            reason: text("decision_reason"),
            suggestions: match value("permission_suggestions") {
                Some(Value::Array(suggestions)) => suggestions,
                _ => Vec::new(),
            },
        }
    }
}

type Asking = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Whoever decides.
#[derive(Clone)]
pub(crate) struct Decider(Arc<dyn Fn(PermissionAsked) -> Asking + Send + Sync>);

impl Decider {
    pub(crate) fn new<F, R>(decide: F) -> Self
    where
        F: Fn(PermissionAsked) -> R + Send + Sync + 'static,
        R: Future<Output = Decision> + Send + 'static,
    {
        Self(Arc::new(move |asked| Box::pin(decide(asked))))
    }

    pub(crate) async fn decide(&self, asked: PermissionAsked) -> Decision {
        (self.0)(asked).await
    }
}

impl fmt::Debug for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decider")
    }
}
